/**
 * How many sagas are lost: the journal has begun them and knows no ending, and Temporal no run that goes on. What they did stands as it
 * is, and nobody is told by them.
 *
 * The open references are gone through in slices of a hundred, each with one question of the journal and one of visibility: a thousand
 * at each look. Where more are open, a pass takes several looks.
 */
import type { Client } from '@temporalio/client';
import { standingOf, waysLost, type WayLost } from '../client/lost';
import { workflowIdOf } from '../domain/identity';
import type { Journal, SagaKey } from '../journal/journal';
import { close, openReferences } from '../journal/open-references';

const sliceSize = 100;
const slicesMax = 10;

export type LostCounts = Record<WayLost, number>;

const none = () => Object.fromEntries(waysLost.map((way) => [way, 0])) as LostCounts;

export class LostSagas {
  private after: SagaKey | undefined;
  private counting = none();
  /** Of the last pass that went through all. */
  private counted: LostCounts | undefined;

  constructor(
    private readonly temporal: Client,
    private readonly journal: Journal,
  ) {}

  /** @returns what the last whole pass has found; while there was none, what the first one has so far. @throws JournalUnavailable, NoConnectionError */
  async look(): Promise<LostCounts> {
    for (let slices = 0; slices < slicesMax; slices += 1) {
      if (await this.lookAtSlice()) break;
    }
    return this.counted ?? this.counting;
  }

  /** @returns whether it was the last one */
  private async lookAtSlice(): Promise<boolean> {
    const { namespace } = this.temporal.options;
    const open = await openReferences(this.journal, namespace, this.after, sliceSize);
    const idOf = ({ workflow, reference }: SagaKey) => workflowIdOf(workflow, reference);
    const standing = await standingOf(this.temporal, open.map(idOf));
    // First what can fail: a slice that is looked at again is counted once.
    for (const reference of open) {
      if (standing.get(idOf(reference)) === 'ended') await close(this.journal, reference);
    }
    for (const how of standing.values()) if (how !== 'open' && how !== 'ended') this.counting[how] += 1;
    this.after = open.at(-1);
    if (open.length === sliceSize) return false;
    [this.counted, this.counting, this.after] = [this.counting, none(), undefined];
    return true;
  }
}
