/** Which rule of docs/internals/journal.md held: one order in the ledger does not tell, for another rule hides that one is gone. */
import type { SagaHandle } from '../../../src/client/handle';
import { restoredFailure } from '../../../src/journal/restore/recovery-gap';
import { failuresOf, statesOf } from '../../support/events';
import { rowsIn } from '../../support/rows-and-ledger';
import type { Rig } from '../../support/rig';

const rules = ['unique', 'owner', 'clock', 'time-out', 'wait', 'epoch'] as const;
export type Rule = (typeof rules)[number];

/** @param words of a worker to which Temporal does not listen any more: see stop-points.cjs */
export async function rulesThatHeld(rig: Rig, saga: SagaHandle, words: readonly string[] = []): Promise<Rule[]> {
  const run = rig.runOf(saga);
  const states = await statesOf(run);
  const failures = await failuresOf(run, 'placeChangeOrder');
  const rows = await rig.withJournal(({ db }) => rowsIn(db));
  const held: Record<Rule, boolean> = {
    unique: failures.includes('UnderWay'),
    owner: words.includes('not-owned'),
    clock: words.includes('StoodStill'),
    // The time of the call was over before its request was written: the clock was not looked at any more.
    'time-out': words.includes('NotSent'),
    // Who is asked too early is refused by the journal, and settles then.
    wait: states.find((state) => state === 'settling' || state === 'outcome-unknown') === 'settling',
    epoch: rows.some(({ reference, failure }) => reference === saga.reference && failure === restoredFailure),
  };
  return rules.filter((rule) => held[rule]);
}
