/**
 * Rows for what a person has done by hand at the provider: their outcome is `done`, with who said so and how they know.
 * No call was sent for them. There are none for a pivot: there a person only says what the outcome of a sent call was.
 */
import { randomUUID } from 'node:crypto';
import { definedOnly } from '../domain/defined-only';
import type { EffectCall, JournalKnowledge } from '../domain/effects';
import { nowMs } from './dialects';
import { epochOfNew, whatIsLacking } from './lost-time';
import {
  type Effect,
  insertEffect,
  insertReference,
  rowsOfStep,
  theJournal,
  type SagaKey,
  type Tx,
  updateEffect,
} from './rows';
import { noteAssigned, noteMeant } from './servers';
import { markUndone } from './state';
import type { Store, Verdict } from './store';
import { turnOf } from './turns';

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
 */
export async function writeByHand(
  journal: Store,
  key: SagaKey,
  { calls, run, verdict, knows }: ByHand,
): Promise<{ how: 'written'; knows: JournalKnowledge } | { how: 'restored'; why: string }> {
  const decided = await journal.sealing.seal(verdict);
  // There was no call, so the recorded answer is null.
  const answer = await journal.sealing.seal(null);
  return journal.locked(key, async (tx, locked) => {
    const taken = locked !== undefined;
    const state = await theJournal(tx);
    const why = await whatIsLacking(tx, state, { taken, knows, failover: journal.failover });
    if (why !== undefined) return { how: 'restored', why };
    if (!taken) await insertReference(tx, key, run, knows?.epoch ?? epochOfNew(state));
    const { id, epoch } = state;
    // It stood still, and the run has gone on without it: what was said stands already, whatever became of it since.
    const isOld = knows?.begun !== undefined && knows.epoch === epoch && knows.begun < (locked?.begun ?? 0);
    let row: string | undefined;
    for (const call of calls) row = await writeOne(tx, key, { call, run, decided, answer, epoch }, isOld);
    return { how: 'written', knows: { journal: id, epoch, ...definedOnly({ row }) } };
  });
}

/** @returns the row's id */
async function writeOne(
  tx: Tx,
  key: SagaKey,
  { call, run, decided, answer, epoch }: Pick<Effect, 'run' | 'epoch' | 'decided' | 'answer'> & { call: EffectCall },
  isOld: boolean,
): Promise<string> {
  const rows = await rowsOfStep(tx, key, call);
  const said = rows.findLast((row) => row.run === run && isByHand(row, call));
  if (said && (isOld || (said === rows.at(-1) && said.outcome === 'done'))) return said.id;
  const row = randomUUID();
  await insertEffect(tx, key, { call, run, inFlightMs: 0 }, { id: row, epoch, outcome: 'done' });
  await updateEffect(tx, row, { answer, decided, decided_ms: nowMs(tx) });
  if (call.kind === 'compensate') await markUndone(tx, key, call, row);
  await noteMeant(tx, key, call);
  await noteAssigned(tx, key, call);
  return row;
}

/**
 * What a person has done by hand also counts for a later run, until the step makes another call, or another saga has a
 * turn.
 *
 * @param rows all rows of the step, the oldest first
 */
export async function stillDoneByHand(
  tx: Tx,
  key: SagaKey,
  rows: readonly Effect[],
  { call, turn }: { call: EffectCall; turn?: string | undefined },
): Promise<Effect | undefined> {
  const last = rows.at(-1);
  if (last?.outcome !== 'done' || !isByHand(last, call)) return undefined;
  if (turn === undefined) return last;
  const mine = await turnOf(tx, key);
  const begunMs = mine?.id === turn ? mine.begun_ms : null;
  return begunMs !== null && begunMs <= Number(last.decided_ms) ? last : undefined;
}

/** Whether the row says that a person has done exactly this call. It may be undone since. */
function isByHand({ decided_ms, kind, about }: Effect, call: EffectCall): boolean {
  return decided_ms !== null && kind === call.kind && about === JSON.stringify(call.about);
}
