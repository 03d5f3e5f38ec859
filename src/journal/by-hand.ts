/** Calls that a person has done by hand, at the provider: they count as done, and are not sent. */
import { randomUUID } from 'node:crypto';
import type { EffectCall, JournalCursor } from '../domain/effects';
import { isByHand } from './decide';
import { nowMs } from './database/dialects';
import { epochOfNew, whatIsLacking } from './restore/recovery-gap';
import {
  type Effect,
  insertEffect,
  insertReference,
  effectsOf,
  type SagaKey,
  theJournal,
  type Tx,
  updateEffect,
} from './rows';
import { noteAssigned, noteIntended } from './servers';
import { markUndone, ofStep } from './state';
import type { Store, Verdict } from './store';

/**
 * A person has done calls by hand at the provider: each row is `done`, and says who has said so and how they know. There
 * is none for a pivot: there a person only says what the outcome of a sent call was.
 */
export interface ByHand {
  calls: readonly EffectCall[];
  run: string;
  verdict: Verdict;
  /** As in `Intent`. */
  cursor: JournalCursor | undefined;
}

/**
 * Writes down that a person has done these calls by hand, so they are not sent. A second call of the same run changes
 * nothing.
 *
 * @returns `restored`, and writes nothing, while the journal is an older copy and nobody has run `journal restored`
 */
export async function writeByHand(
  journal: Store,
  key: SagaKey,
  { calls, run, verdict, cursor }: ByHand,
): Promise<{ how: 'written'; cursor: JournalCursor } | { how: 'restored'; why: string }> {
  const decided = await journal.sealing.seal(verdict);
  // There was no call, so the recorded answer is null.
  const answer = await journal.sealing.seal(null);
  return journal.locked(key, async (tx, locked) => {
    const taken = locked !== undefined;
    const state = await theJournal(tx);
    const why = await whatIsLacking(tx, state, journal.failover, { taken, cursor });
    if (why !== undefined) return { how: 'restored', why };
    if (!taken) await insertReference(tx, key, run, cursor?.epoch ?? epochOfNew(state));
    const { id, epoch } = state;
    // This call stood still, and the run has gone on without it: the rows are there, whatever became of them since.
    const isOld = cursor?.fence !== undefined && cursor.epoch === epoch && cursor.fence < (locked?.fence ?? 0);
    let row: string | undefined;
    for (const call of calls) row = await writeOne(tx, key, { call, run, decided, answer, epoch }, isOld);
    return { how: 'written', cursor: { journal: id, epoch, row } };
  });
}

/** @returns the row's id */
async function writeOne(
  tx: Tx,
  key: SagaKey,
  { call, run, decided, answer, epoch }: Pick<Effect, 'run' | 'epoch' | 'decided' | 'answer'> & { call: EffectCall },
  isOld: boolean,
): Promise<string> {
  const rows = ofStep(await effectsOf(tx, key), call);
  const said = rows.findLast((row) => row.run === run && isByHand(row, call));
  if (said && (isOld || (said === rows.at(-1) && said.outcome === 'done'))) return said.id;
  const row = randomUUID();
  await insertEffect(tx, key, { call, run, inFlightMs: 0 }, { id: row, epoch, outcome: 'done' });
  await updateEffect(tx, row, { answer, decided, decided_ms: nowMs(tx) });
  if (call.kind === 'compensate') await markUndone(tx, key, call, row);
  await noteIntended(tx, key, call);
  await noteAssigned(tx, key, call);
  return row;
}
