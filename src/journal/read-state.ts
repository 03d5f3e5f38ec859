/**
 * Selections of the state of sagas: for a run, what was placed, what is in the cart, and what is unknown; for a sweep,
 * what sagas have left that nobody takes care of any more.
 */
import { sql } from 'kysely';
import type { About, JournalCursor, OpenItem, OpenPivot, PivotNote, Placement } from '../domain/effects';
import { underWay, type UnderWay } from './decide';
import { statementBegunMs } from './database/dialects';
import type { Journal } from './journal';
import { epochOfNew, inDoubt, insertDoubt, lostPivot, whatIsLacking, whyRestored } from './restore/recovery-gap';
import type { PurchaseRules } from './purchases';
import {
  aboutOf,
  doneAt,
  type Effect,
  effectsOf,
  look,
  insertReference,
  type SagaKey,
  theJournal,
  ofSaga,
  type Tx,
} from './rows';
import { type State, stateColumns, stateOf } from './state';
import { openPivot } from './namesakes';
import type { Store } from './store';

/** The step that cannot be undone, as the journal has it. */
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

/** What a saga has done. */
export interface StateRead extends Pick<State<Effect>, 'doubtfulAdds'> {
  /** False: this reference was never taken. */
  known: boolean;
  /** Added, not deleted, and in no order that was placed or may have been; and those that the journal has lost. */
  items: OpenItem[];
  /** The same, and named by an order of unknown outcome. */
  perhapsOrdered: OpenItem[];
  /** Firewalls that were assigned and not unassigned again. */
  assigned: { vmObjectId: number; firewalls: readonly number[] }[];
  /** For a change of firewalls: those that runs have (perhaps) assigned or unassigned, and not undone. */
  changed?: { assigned: number[]; unassigned: number[] } | undefined;
  /** The journal that says so. */
  from: Pick<JournalCursor, 'journal' | 'epoch'>;
  placement:
    | PlacementFound
    | UnderWay
    /** The journal is an older copy, and nobody has run `journal restored` yet. */
    | { how: 'restored'; why: string };
}

export interface Asking {
  /** As in `Intent`. */
  cursor?: JournalCursor | undefined;
  inFlightMs: number;
  /** The run of the saga itself, where it asks; absent where another saga does. */
  run?: string | undefined;
  /** Items that the run has added: the journal may have lost their rows. */
  added?: readonly OpenItem[] | undefined;
  /** By these it is written what a pivot in doubt would have bought. */
  rules?: PurchaseRules | undefined;
}

/**
 * Writes the row of a pivot in doubt, as `intend` does: while the journal may have lost a pivot, nothing may say that
 * none was placed. Where new references are in doubt, so is one that its saga has not come to take.
 *
 * @throws JournalUnreadable
 */
export async function readState(
  journal: Journal,
  key: SagaKey,
  { cursor, inFlightMs, run, added = [], rules }: Asking,
): Promise<StateRead> {
  const { from, taken, rows, state, pivot, lacks } = await journal.locked(key, async (tx, locked) => {
    const { journal: from, rows: found } = await look(tx, key);
    const lacks = await whatIsLacking(tx, from, journal.failover, { taken: locked !== undefined, cursor, rows: found });
    const isNewInDoubt = locked === undefined && lacks === undefined && from.doubts_new === 1;
    const isNew = isNewInDoubt && run !== undefined;
    const taken = isNew ? await insertReference(tx, key, run, epochOfNew(from)) : locked;
    // One that was not there was not locked: another call may have taken it meanwhile, which is waited for by now.
    const rows = isNew ? await effectsOf(tx, key) : found;
    const doubt = async () => {
      if (!inDoubt({ taken, rows }, from)) return undefined;
      const row = await insertDoubt(tx, key, from, { call: lostPivot, run: taken?.first_run ?? '', inFlightMs });
      await journal.notePurchase(tx, key, row.id, rules);
      return row;
    };
    const state = stateOf(rows);
    const pivot = state.pivot ?? (lacks === undefined ? await doubt() : undefined);
    return { from, taken, rows, state, pivot, lacks };
  });
  const { items, perhapsOrdered, doubtfulAdds, firewalls } = state;
  const open = ({ cartItemId, step }: OpenItem) => ({ cartItemId, step });
  const by = (activity: string) => [
    ...new Set(firewalls.flatMap((one) => (one.activity === activity ? one.firewalls : []))),
  ];
  const changed = { assigned: by('assignFirewalls'), unassigned: by('unassignFirewalls') };
  return {
    known: taken !== undefined,
    from: { journal: from.id, epoch: from.epoch },
    placement:
      lacks === undefined
        ? (underWay(pivot, from) ?? (await placementFound(journal, pivot)))
        : { how: 'restored', why: lacks },
    items: [...items.map(open), ...added.filter((item) => !rows.some((row) => isOf(row, item)))],
    perhapsOrdered: perhapsOrdered.map(open),
    doubtfulAdds,
    changed: key.workflow === 'setFirewalls' ? changed : undefined,
    assigned: firewalls.flatMap(({ activity, isSure, vmObjectId, firewalls: ids }) =>
      activity === 'assignFirewalls' && isSure ? [{ vmObjectId, firewalls: ids }] : [],
    ),
  };
}

const isOf = (row: Effect, { cartItemId }: OpenItem) =>
  row.cart_item_id === cartItemId || aboutOf(row).cartItems?.includes(cartItemId) === true;

async function placementFound(journal: Store, pivot: Effect | undefined): Promise<PlacementFound> {
  if (pivot === undefined) return { how: 'none' };
  const { cartItems } = aboutOf(pivot);
  if (pivot.outcome === 'done') {
    const placed = (await journal.answerOf(pivot)) as Placement<unknown>;
    const cancelled = pivot.cancelled_ms === null ? {} : { cancelled: true as const };
    const at = doneAt(pivot);
    return {
      how: 'placed',
      at,
      run: pivot.run,
      placed,
      cartItems,
      note: await journal.noteOf(pivot.note),
      ...cancelled,
    };
  }
  return { how: 'unknown', ...(await openPivot(journal, pivot)), cartItems };
}

export interface LeftBehind extends SagaKey {
  placement: 'none' | 'placed' | 'unknown' | 'cancelled';
  /** Added, not deleted, and in no order that was placed or may have been. */
  cartItems: number[];
  /**
   * A clean-up has ended since the saga last added or ordered anything, and reported all that is left: a person has left
   * it there.
   */
  isCleaned: boolean;
}

/** The place of a reference among all of them, the youngest first. */
export interface ByAge extends SagaKey {
  firstSeenMs: number;
}

const dayMs = 24 * 60 * 60_000;

/**
 * A slice of the sagas that have ended, the youngest first.
 *
 * @param days they were first seen within so many days
 * @param after the last one of the slice before
 * @returns as {@link leftByLost}; whether there are more behind the last one
 */
export async function endedSagas(
  journal: Store,
  { days, after, limit }: { days: number; after: ByAge | undefined; limit: number },
) {
  const rows = await journal.rows(sql<ByAge>`
    select workflow, reference, first_seen_ms as ${sql.ref('firstSeenMs')} from reference
      where first_seen_ms >= ${statementBegunMs(journal.db)} - ${days * dayMs} and is_open is null
      ${after === undefined ? sql`` : sql`and (first_seen_ms, workflow, reference) < (${after.firstSeenMs}, ${after.workflow}, ${after.reference})`}
      order by first_seen_ms desc, workflow desc, reference desc limit ${limit}`);
  return { ...(await leftByLost(journal, rows)), hasMore: rows.length === limit };
}

/**
 * @returns what sagas have left; with a sentence, where the journal is or may be an older copy, and nobody has run
 * `journal restored` since: what it lacks is not known
 */
export function leftByLost<Key extends SagaKey>(
  journal: Store,
  keys: readonly Key[],
): Promise<{ restored: string | undefined; sagas: (LeftBehind & Key)[] }> {
  return journal.inTransaction(async (tx) => {
    const from = await theJournal(tx);
    const sagas = [];
    for (const key of keys) sagas.push({ ...key, ...(await leftBehindBy(tx, key)) });
    return { restored: whyRestored(from, journal.failover.how), sagas };
  });
}

async function leftBehindBy(tx: Tx, key: SagaKey): Promise<Omit<LeftBehind, keyof SagaKey>> {
  const columns = [...stateColumns, 'intended_ms'] as const;
  const rows = await tx.selectFrom('effect').select(columns).where(ofSaga(key)).orderBy('seq').execute();
  const { placement, items } = stateOf(rows);
  const lastMs = Math.max(0, ...rows.filter(({ kind }) => kind !== 'compensate').map(({ intended_ms }) => intended_ms));
  const since = tx.selectFrom('ending').select('items_left').where(ofSaga(key)).where('ended_ms', '>=', lastMs);
  const cleaned = (await since.execute()).flatMap(({ items_left: left }) => left ?? []);
  const cartItems = items.map(({ cartItemId }) => cartItemId);
  // One that saw the saga begin again leaves the items of that run to it.
  const told = cleaned.flatMap((left) => JSON.parse(left) as number[]);
  return { placement, cartItems, isCleaned: cleaned.length > 0 && cartItems.every((id) => told.includes(id)) };
}
