/**
 * Rows for what a person has done by hand at the provider: their outcome is `done`, with who said so and how they know.
 * No call was sent for them. There are none for a pivot: there a person only says what the outcome of a sent call was.
 */
import { randomUUID } from 'node:crypto';
import { definedOnly } from '../domain/defined-only';
import type { EffectCall, JournalKnowledge } from '../domain/effects';
import { isDoneByHand } from './by-hand-rows';
import { nowMs } from './dialects';
import { epochOfNew, whatIsLacking } from './lost-time';
import { insertEffect, insertReference, lock, rowsOfStep, theJournal, type SagaKey, type Tx } from './rows';
import { markUndone } from './undone-firewalls';
import { noteAssigned, noteMeant } from './servers';
import type { Journal, Verdict } from './journal';

export interface ByHand {
  calls: readonly EffectCall[];
  run: string;
  verdict: Verdict;
  /** As in `Meaning`. */
  knows: JournalKnowledge | undefined;
}

/**
 * Writes down that a person has done these calls by hand, so they are not sent. A second call of the same run changes
 * nothing.
 *
 * @returns `restored`, and writes nothing, while the journal is an older copy and nobody has run `journal restored`
 * @throws JournalUnavailable
 */
export async function writeByHand(
  journal: Journal,
  key: SagaKey,
  { calls, run, verdict, knows }: ByHand,
): Promise<{ how: 'written'; knows: JournalKnowledge } | { how: 'restored'; why: string }> {
  const decided = await journal.sealing.seal(verdict);
  // There was no call, so the recorded answer is null.
  const answer = await journal.sealing.seal(null);
  return journal.inTransaction(async (tx) => {
    const taken = (await lock(tx, key)) !== undefined;
    const state = await theJournal(tx);
    const why = await whatIsLacking(tx, state, { taken, knows, failover: journal.failover });
    if (why !== undefined) return { how: 'restored', why };
    if (!taken) await insertReference(tx, key, run, knows?.epoch ?? epochOfNew(state));
    const { id, epoch } = state;
    let row: string | undefined;
    for (const call of calls) row = await writeOne(tx, key, { call, run, decided, answer, epoch });
    return { how: 'written', knows: { journal: id, epoch, ...definedOnly({ row }) } };
  });
}

/** @returns the row's id */
async function writeOne(
  tx: Tx,
  key: SagaKey,
  {
    call,
    run,
    decided,
    answer,
    epoch,
  }: { call: EffectCall; run: string; decided: string; answer: string; epoch: number },
): Promise<string> {
  const last = (await rowsOfStep(tx, key, call)).at(-1);
  if (last?.run === run && isDoneByHand(last, call)) return last.id;
  const row = randomUUID();
  await insertEffect(tx, key, { call, run, inFlightMs: 0 }, { id: row, epoch, outcome: 'done' });
  await tx
    .updateTable('effect')
    .set({ answer, decided, decided_ms: nowMs(tx) })
    .where('id', '=', row)
    .execute();
  if (call.kind === 'compensate') await markUndone(tx, key, call, row);
  await noteMeant(tx, key, call);
  await noteAssigned(tx, key, call);
  return row;
}
