/** What a saga has done at the provider, by the journal: what was placed, what is in the cart, what is unknown. */
import type { About, JournalKnowledge, OpenItem, OpenPivot, PivotNote, Placement } from '../domain/effects';
import {
  aboutOf,
  type Effect,
  effectsOf,
  insertReference,
  iso,
  leftInFlight,
  referenceOf,
  type SagaKey,
  theJournal,
} from './rows';
import { epochOfNew, insertDoubt, lostPivot, whatIsLacking } from './lost-time';
import { openPivot } from './decide';
import type { Journal } from './journal';
import type { PurchaseRules } from './purchases';
import type { Store } from './store';
import { stateOf, type State } from './state';

/** What the journal has of the step that cannot be undone. */
export type PlacementFound =
  | { how: 'none' }
  | {
      how: 'placed';
      at: string;
      run: string;
      placed: Placement<unknown>;
      note?: PivotNote | undefined;
      /** Those that an order named. */
      cartItems?: About['cartItems'];
      /** The provider has cancelled it, as a person said. */
      cancelled?: true;
    }
  | ({ how: 'unknown'; cartItems?: About['cartItems'] } & OpenPivot);

/** What a saga has done, beside its placement. */
export interface Done extends Pick<State<Effect>, 'doubtfulAdds'> {
  /** False: this reference was never taken. */
  known: boolean;
  /** Added, not deleted, and in no order that was placed or may have been; and those that the journal has lost. */
  items: OpenItem[];
  /** The same, and named by an order of unknown outcome. */
  perhapsOrdered: OpenItem[];
  /** Firewalls that were assigned and not unassigned again. */
  assigned: { vmObjectId: number; firewalls: readonly number[] }[];
}

export interface Standing extends Done {
  /** The journal that says so. */
  from: Pick<JournalKnowledge, 'journal' | 'epoch'>;
  placement:
    | PlacementFound
    /** The call may still be in flight for so long: ask again then. */
    | { how: 'under-way'; leftMs: number }
    /** The journal is an older copy, and nobody has run `journal restored` yet. */
    | { how: 'restored'; why: string };
}

export interface Asking {
  /** As in `Meaning`. */
  knows?: JournalKnowledge | undefined;
  inFlightMs: number;
  /** The run of the saga itself, where it asks; absent where another saga does. */
  run?: string | undefined;
  /** Items that the run has added: the journal may have lost their rows. */
  added?: readonly OpenItem[] | undefined;
  /** By these it is written what a pivot in doubt would have bought. */
  rules?: PurchaseRules | undefined;
}

/**
 * Writes the row of a pivot in doubt, as `mean` does: while the journal may have lost a pivot, nothing may say that
 * none was placed. Where new references are in doubt, so is one that its saga has not come to take.
 *
 * @throws JournalUnreadable
 */
export async function standingOf(
  journal: Journal,
  key: SagaKey,
  { knows, inFlightMs, run, added = [], rules }: Asking,
): Promise<Standing> {
  const { from, taken, rows, state, pivot, leftMs, lacks } = await journal.locked(key, async (tx, locked) => {
    const from = await theJournal(tx);
    const lacks = await whatIsLacking(tx, from, { taken: locked !== undefined, knows, failover: journal.failover });
    const isNewInDoubt = locked === undefined && lacks === undefined && from.doubts_new === 1;
    if (isNewInDoubt && run !== undefined) await insertReference(tx, key, run, epochOfNew(from));
    const taken = isNewInDoubt ? await referenceOf(tx, key) : locked;
    const rows = await effectsOf(tx, key);
    const doubt = async () => {
      const row = await insertDoubt(tx, key, from, { call: lostPivot, run: taken?.first_run ?? '', inFlightMs });
      if (row) await journal.notePurchase(tx, key, row.id, rules);
      return row;
    };
    const state = stateOf(rows);
    const pivot = state.pivot ?? (lacks === undefined ? await doubt() : undefined);
    return { from, taken, rows, state, pivot, leftMs: pivot ? await leftInFlight(tx, pivot, from) : 0, lacks };
  });
  const { items, perhapsOrdered, doubtfulAdds, firewalls } = state;
  const open = ({ cartItemId, step }: OpenItem) => ({ cartItemId, step });
  return {
    known: taken !== undefined,
    from: { journal: from.id, epoch: from.epoch },
    placement: lacks === undefined ? await placementOf(journal, pivot, leftMs) : { how: 'restored', why: lacks },
    items: [...items.map(open), ...added.filter((item) => !rows.some((row) => isOf(row, item)))],
    perhapsOrdered: perhapsOrdered.map(open),
    doubtfulAdds,
    assigned: firewalls.flatMap(({ activity, isSure, vmObjectId, firewalls: ids }) =>
      activity === 'assignFirewalls' && isSure ? [{ vmObjectId, firewalls: ids }] : [],
    ),
  };
}

const isOf = (row: Effect, { cartItemId }: OpenItem) =>
  row.cart_item_id === cartItemId || aboutOf(row).cartItems?.includes(cartItemId) === true;

async function placementOf(journal: Store, pivot: Effect | undefined, leftMs: number): Promise<Standing['placement']> {
  if (pivot === undefined) return { how: 'none' };
  const { step, run, answer, outcome, answered_ms, decided_ms, meant_ms } = pivot;
  const { cartItems } = aboutOf(pivot);
  if (outcome === 'done') {
    const at = iso(answered_ms ?? decided_ms ?? meant_ms);
    const placed = (await journal.unseal(answer ?? 'null', `the answer of ${step}`)) as Placement<unknown>;
    const cancelled = pivot.cancelled_ms === null ? {} : { cancelled: true as const };
    return { how: 'placed', at, run, placed, cartItems, note: await journal.noteOf(pivot.note), ...cancelled };
  }
  if (outcome === null && leftMs > 0) return { how: 'under-way', leftMs };
  return { how: 'unknown', ...openPivot(pivot), cartItems, note: await journal.noteOf(pivot.note) };
}
