/**
 * A pivot of unknown outcome, as a person is asked about it: with orders that look the same in the provider's control
 * panel.
 */
import { sql } from 'kysely';
import type { Namesake, OpenPivot, PivotNote } from '../domain/effects';
import { unlessUnreadable } from './database/errors';
import { restoredFailure } from './restore/recovery-gap';
import { type Effect, iso, mayHaveTakenEffect, type SagaKey } from './rows';
import type { Store } from './store';

/** Notes are sealed: so many are read, the newest first. */
const readMax = 100;
const namedMax = 5;

/** @throws JournalUnreadable */
export async function openPivot(journal: Store, pivot: Effect): Promise<OpenPivot> {
  const { id, intended_ms, run, in_flight_ms, failure } = pivot;
  const note = await journal.noteOf(pivot.note);
  const doubt = { row: id, at: iso(intended_ms), run, inFlightMs: in_flight_ms, restored: failure === restoredFailure };
  return { ...doubt, note, namesakes: await namesakesOf(journal, pivot, note?.foundBy) };
}

/** @returns none where they cannot be read: nothing rests on them */
export async function namesakesOf(
  journal: Store,
  { workflow, reference }: SagaKey,
  foundBy: string | undefined,
): Promise<Namesake[] | undefined> {
  if (foundBy === undefined) return undefined;
  const own = sql`select purchase.account from purchase join effect on effect.id = purchase.effect
    where effect.workflow = ${workflow} and effect.reference = ${reference} limit 1`;
  const found = journal.rows(sql<Pick<Effect, 'reference' | 'note' | 'answer' | 'intended_ms'>>`
    select effect.reference, note, answer, effect.intended_ms from purchase join effect on effect.id = purchase.effect
      where purchase.account = (${own}) and effect.workflow = ${workflow} and effect.reference <> ${reference}
        and cancelled_ms is null and ${mayHaveTakenEffect}
      order by purchase.intended_ms desc limit ${readMax}`);
  const namesakes: Namesake[] = [];
  for (const { reference: other, note, answer, intended_ms } of await found.catch(() => [])) {
    const sent = note === null ? undefined : await unlessUnreadable(journal.unseal(note, 'what was sent'));
    if ((sent as PivotNote | undefined)?.foundBy !== foundBy) continue;
    const placed = answer === null ? undefined : await unlessUnreadable(journal.unseal(answer, 'an order'));
    namesakes.push({ reference: other, at: iso(intended_ms), orderId: orderIdOf(placed) });
    if (namesakes.length === namedMax) break;
  }
  return namesakes.length > 0 ? namesakes : undefined;
}

/** @param placed a pivot's answer, or what a person or the directory has said of it */
export function orderIdOf(placed: unknown): string | undefined {
  const { value, orderId } = (placed ?? {}) as { value?: { orderId?: string }; orderId?: string };
  return value?.orderId ?? orderId;
}
