/**
 * Sagas that have no ending in the journal and no open run: they report nothing. Each look reads up to a thousand
 * references in slices, with one query of the journal and one of visibility for each; where more are open, a pass takes
 * several looks.
 */
import type { Client } from '@temporalio/client';
import { runStatusOf } from '../client/saga-list';
import { isLost, waysLost } from '../domain/lost';
import { withTemporalErrors } from '../client/temporal-errors';
import type { Journal } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import { close, openSagas } from '../journal/views/open-references';
import { latestEvents } from '../temporal/service';

const sliceSize = 100;
const slicesMax = 10;

/** One of a run's limits was reached: nobody has terminated it. */
const byServer = 'terminated-by-server';
const waysCounted = [...waysLost, byServer] as const;
export type LostCounts = Record<(typeof waysCounted)[number], number>;

export const noneLost = () => Object.fromEntries(waysCounted.map((way) => [way, 0])) as LostCounts;

export class LostSagas {
  private after: SagaKey | undefined;
  private counting = noneLost();
  /** The result of the last complete pass. */
  private counted: LostCounts | undefined;

  constructor(
    private readonly temporal: Client,
    private readonly journal: Journal,
  ) {}

  /** @returns of the last complete pass, or so far of the first. @throws JournalUnavailable, NoConnectionError */
  async look(): Promise<LostCounts> {
    for (let slices = 0; slices < slicesMax; slices += 1) {
      if (await this.lookAtSlice()) break;
    }
    return this.counted ?? this.counting;
  }

  /** @returns whether it was the last slice of the pass */
  private async lookAtSlice(): Promise<boolean> {
    const slice = { after: this.after, limit: sliceSize };
    const { sagas, last } = await openSagas(this.journal, (ids) => runStatusOf(this.temporal, ids), slice);
    // Counting comes after all that can fail: a slice that is read again is counted once.
    const found: (typeof waysCounted)[number][] = [];
    for (const { how, ...saga } of sagas) {
      if (isLost(how)) found.push(how === 'terminated' && (await this.isByServer(saga.workflowId)) ? byServer : how);
      else if (how === 'ended') await close(this.journal, saga);
    }
    for (const how of found) this.counting[how] += 1;
    this.after = last;
    if (last !== undefined) return false;
    [this.counted, this.counting] = [this.counting, noneLost()];
    return true;
  }

  private async isByServer(workflowId: string): Promise<boolean> {
    const [end] = await withTemporalErrors(this.temporal, () => latestEvents(this.temporal, { workflowId }, 1));
    // A person's client names itself.
    return end?.workflowExecutionTerminatedEventAttributes?.identity === 'history-service';
  }
}
