/** Orders that look the same in the provider's control panel as one of unknown outcome: a person is told which they are. */
import { sql } from 'kysely';
import type { Namesake, PivotNote, Placement } from '../domain/effects';
import { unlessUnreadable } from './database/errors';
import { type Effect, iso, mayHaveTakenEffect, type SagaKey } from './rows';
import type { Store } from './store';

/** Notes are sealed: so many are read, the newest first. */
const readMax = 100;
const namedMax = 5;

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
    namesakes.push({
      reference: other,
      at: iso(intended_ms),
      orderId: orderIdOf(placed as Placement<unknown> | undefined),
    });
    if (namesakes.length === namedMax) break;
  }
  return namesakes.length > 0 ? namesakes : undefined;
}

export function orderIdOf(placed: Placement<unknown> | undefined): string | undefined {
  const { orderId } = (placed?.how === 'answered' ? placed.value : (placed ?? {})) as { orderId?: string };
  return orderId;
}
