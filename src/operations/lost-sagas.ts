/**
 * How many sagas are lost: the journal has no ending of them, and Temporal has no open run. What they did stays as it is, and they
 * report nothing.
 *
 * Each look reads up to a thousand open references, in slices of a hundred, with one query of the journal and one of visibility for each
 * slice. Where more are open, a pass takes several looks.
 */
import type { Client } from '@temporalio/client';
import { standingOf } from '../client/lost';
import { workflowIdOf } from '../domain/identity';
import { isLost, waysLost, type WayLost } from '../domain/lost';
import type { Journal } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import { close, openReferences } from '../journal/open-references';

const sliceSize = 100;
const slicesMax = 10;

export type LostCounts = Record<WayLost, number>;

const none = () => Object.fromEntries(waysLost.map((way) => [way, 0])) as LostCounts;

export class LostSagas {
  private after: SagaKey | undefined;
  private counting = none();
  /** The result of the last complete pass. */
  private counted: LostCounts | undefined;

  constructor(
    private readonly temporal: Client,
    private readonly journal: Journal,
  ) {}

  /** @returns the result of the last complete pass; before there is one, what the first pass has found so far. @throws JournalUnavailable, NoConnectionError */
  async look(): Promise<LostCounts> {
    for (let slices = 0; slices < slicesMax; slices += 1) {
      if (await this.lookAtSlice()) break;
    }
    return this.counted ?? this.counting;
  }

  /** @returns whether it was the last slice of the pass */
  private async lookAtSlice(): Promise<boolean> {
    const { namespace } = this.temporal.options;
    const open = await openReferences(this.journal, namespace, this.after, sliceSize);
    const idOf = ({ workflow, reference }: SagaKey) => workflowIdOf(workflow, reference);
    const standing = await standingOf(this.temporal, open.map(idOf));
    // What can fail comes first, so that a slice that is read again is counted once.
    for (const reference of open) {
      if (standing.get(idOf(reference)) === 'ended') await close(this.journal, reference);
    }
    for (const how of standing.values()) if (isLost(how)) this.counting[how] += 1;
    this.after = open.at(-1);
    if (open.length === sliceSize) return false;
    [this.counted, this.counting, this.after] = [this.counting, none(), undefined];
    return true;
  }
}
