/** Queries for the rows of what a person has done by hand; see by-hand.ts. */
import type { Selectable, Transaction } from 'kysely';
import type { EffectCall } from '../domain/effects';
import type { JournalTables } from './schema';
import { turnOf, type Turn } from './turn-rows';

type Effect = Selectable<JournalTables['effect']>;

/**
 * What a person has done by hand also counts for a later run, until the step makes another call, or another saga has a
 * turn.
 *
 * @param rows all rows of the step, the oldest first
 */
export async function stillDoneByHand(
  tx: Transaction<JournalTables>,
  key: Pick<Turn, 'workflow' | 'reference'>,
  rows: readonly Effect[],
  { call, turn }: { call: EffectCall; turn?: string | undefined },
): Promise<Effect | undefined> {
  const last = rows.at(-1);
  if (last === undefined || !isDoneByHand(last, call)) return undefined;
  if (turn === undefined) return last;
  const mine = await turnOf(tx, key);
  const begunMs = mine?.id === turn ? mine.begun_ms : null;
  return begunMs !== null && begunMs <= Number(last.decided_ms) ? last : undefined;
}

/** Whether the row says that a person has done exactly this call. */
export function isDoneByHand({ outcome, decided_ms, kind, about }: Effect, call: EffectCall): boolean {
  return outcome === 'done' && decided_ms !== null && kind === call.kind && about === JSON.stringify(call.about);
}
