/** How a saga stands at the provider, by the journal: what was placed, what is in the cart, what nobody knows. */
import type { Kysely, Selectable } from 'kysely';
import type { OpenItem } from '../domain/effects';
import { aboutOf, iso, leftInAir, referenceOf, theJournal, type Journal, type SagaKey } from './journal';
import type { JournalTables } from './schema';

export interface Standing {
  /** False: this reference was never taken. */
  known: boolean;
  placement:
    | { how: 'none' }
    | { how: 'placed'; row: string; step: string; at: string; run: string; answer: unknown }
    | { how: 'unknown'; row: string; step: string; at: string; run: string; inAirMs: number }
    /** The call may still be in the air for so long: look again then. */
    | { how: 'under-way'; row: string; leftMs: number };
  /** Added, not taken back, and in no order that was placed or may have been. */
  items: OpenItem[];
  /** Added, not taken back, and named by an order of unknown fate. */
  perhapsOrdered: OpenItem[];
  /** Calls to add an item of which nobody knows whether they did, by the item's number in the request. */
  doubtfulAdds: number[];
}

type Effect = Selectable<JournalTables['effect']>;

/** @throws JournalUnavailable, JournalUnreadable */
export async function standingOf(journal: Journal, key: SagaKey): Promise<Standing> {
  const { taken, rows, leftMs } = await journal.inTransaction(async (tx) => {
    const taken = await referenceOf(tx, key);
    const rows = await effectsOf(tx, key);
    const pivot = rows.find(isLivePivot);
    return { taken, rows, leftMs: pivot ? await leftInAir(tx, pivot, await theJournal(tx)) : 0 };
  });
  const pivot = rows.find(isLivePivot);
  const named = pivot ? (aboutOf(pivot).cartItems ?? []) : [];
  const added = rows.filter(
    ({ kind, outcome, cart_item_id }) => kind === 'mutate' && outcome === 'done' && cart_item_id !== null,
  );
  const items = added.map(({ cart_item_id, step }) => ({ cartItemId: Number(cart_item_id), step }));
  return {
    known: taken !== undefined,
    placement: await placementOf(journal, pivot, leftMs),
    items: items.filter(({ cartItemId }) => !named.includes(cartItemId)),
    perhapsOrdered: pivot?.outcome === 'done' ? [] : items.filter(({ cartItemId }) => named.includes(cartItemId)),
    doubtfulAdds: rows.flatMap((row) => {
      const { item } = aboutOf(row);
      const open = row.kind === 'mutate' && (row.outcome === null || row.outcome === 'unknown');
      return open && item !== undefined ? [item] : [];
    }),
  };
}

async function placementOf(
  journal: Journal,
  pivot: Effect | undefined,
  leftMs: number,
): Promise<Standing['placement']> {
  if (pivot === undefined) return { how: 'none' };
  const { id: row, step, run, answer, outcome, answered_ms, decided_ms, meant_ms, in_air_ms } = pivot;
  if (outcome === 'done') {
    const at = iso(answered_ms ?? decided_ms ?? meant_ms);
    return {
      how: 'placed',
      row,
      step,
      at,
      run,
      answer: await journal.unseal(answer ?? 'null', `the answer of ${step}`),
    };
  }
  if (outcome === null && leftMs > 0) return { how: 'under-way', row, leftMs };
  return { how: 'unknown', row, step, at: iso(meant_ms), run, inAirMs: in_air_ms };
}

function isLivePivot({ kind, outcome }: Effect): boolean {
  return kind === 'pivot' && (outcome === null || outcome === 'unknown' || outcome === 'done');
}

export function effectsOf(db: Kysely<JournalTables>, key: SagaKey): Promise<Effect[]> {
  return db
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .orderBy('seq')
    .execute();
}
