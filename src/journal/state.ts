/**
 * A saga's state at the provider, folded from its rows by pure functions. A run that begins
 * or ends, a clean-up, a sweep and the record each select from it.
 */
import type { About, EffectCall, OpenItem } from '../domain/effects';
import { aboutOf, type Effect, isDoubtful, mayHaveHappened, effectsOf, pivotIn, type SagaKey, type Tx } from './rows';

/** None of these is sealed. */
export const stateColumns = [
  'step',
  'kind',
  'activity',
  'outcome',
  'about',
  'cart_item_id',
  'cancelled_ms',
] as const satisfies (keyof Effect)[];
export type StateRow = Pick<Effect, (typeof stateColumns)[number]>;

export interface State<Row> {
  /** The pivot that was placed, or may have been. */
  pivot: Row | undefined;
  /** `cancelled`: it was placed, and the provider has cancelled it, as a person said. */
  placement: 'none' | 'placed' | 'unknown' | 'cancelled';
  /** Added, or perhaps; not deleted, and in no order that was placed or may have been. */
  items: Made[];
  /** The same, and named by an order of unknown outcome. */
  perhapsOrdered: Made[];
  /** Calls to add an item whose outcome and id are unknown, by the item's number in the request. */
  doubtfulAdds: number[];
  /** Changes of firewalls that took effect, or perhaps, without what was undone since. */
  firewalls: Changed[];
}

export interface Made extends OpenItem {
  isSure: boolean;
}

interface Changed {
  activity: string;
  vmObjectId: number;
  firewalls: number[];
  isSure: boolean;
}

/** @param rows of one reference, the oldest first */
export function stateOf<Row extends StateRow>(rows: readonly Row[]): State<Row> {
  const pivot = pivotIn(rows);
  const ordered = new Set(pivot ? aboutOf(pivot).cartItems : []);
  const items = rows.flatMap((row) => {
    const { kind, outcome, step, cart_item_id: cartItemId } = row;
    // Added, or perhaps: its id came with an answer that is no plain success.
    const isThere = kind === 'mutate' && outcome !== 'undone' && outcome !== 'denied';
    return isThere && cartItemId !== null ? [{ cartItemId, step, isSure: outcome === 'done' }] : [];
  });
  const calls = rows.map((row) => ({ ...row, about: aboutOf(row) }));
  return {
    pivot,
    placement: placementStatus(pivot),
    items: items.filter(({ cartItemId }) => !ordered.has(cartItemId)),
    perhapsOrdered: pivot?.outcome === 'done' ? [] : items.filter(({ cartItemId }) => ordered.has(cartItemId)),
    doubtfulAdds: calls.flatMap((call) => {
      const { item } = call.about;
      return isDoubtful(call) && call.cart_item_id === null && item !== undefined ? [item] : [];
    }),
    firewalls: calls.flatMap((call) => {
      const { kind, activity, outcome } = call;
      const { vmObjectId } = call.about;
      if (kind !== 'mutate' || vmObjectId === undefined || !mayHaveHappened(outcome)) return [];
      const firewalls = notUndone(call, calls);
      return firewalls.length === 0 ? [] : [{ activity, vmObjectId, firewalls, isSure: outcome === 'done' }];
    }),
  };
}

function placementStatus(pivot: StateRow | undefined): State<never>['placement'] {
  if (pivot === undefined) return 'none';
  if (pivot.outcome !== 'done') return 'unknown';
  return pivot.cancelled_ms === null ? 'placed' : 'cancelled';
}

type FirewallCall = Pick<Effect, 'step' | 'kind' | 'outcome'> & { about: About };

/**
 * The firewalls of a call that no later call of its step has undone.
 *
 * @param calls of the saga, the oldest first
 */
function notUndone<Call extends FirewallCall>(call: Call, calls: readonly Call[]): number[] {
  const { step, about } = call;
  const back = calls
    .slice(calls.indexOf(call) + 1)
    .filter((later) => later.kind === 'compensate' && later.outcome === 'done' && later.step === step)
    .flatMap((later) => (later.about.vmObjectId === about.vmObjectId ? (later.about.firewalls ?? []) : []));
  return (about.firewalls ?? []).filter((id) => !back.includes(id));
}

/** The rows of a call's step; for a pivot, those of all pivots of the saga. */
export const ofStep = <Row extends Pick<Effect, 'kind' | 'step'>>(
  rows: readonly Row[],
  { kind, step }: Pick<EffectCall, 'kind' | 'step'>,
) => rows.filter((row) => (kind === 'pivot' ? row.kind === 'pivot' : row.step === step));

/**
 * The undo of the item, where it is gone. The provider may give an id again: the last item that had it counts.
 *
 * @param rows of its step, as below
 */
export function goneOf<Row extends Effect>(rows: readonly Row[], item: number | undefined): Row | undefined {
  const last = rows.findLast(({ kind, cart_item_id: id }) => kind === 'mutate' && id === item);
  const gone = last?.outcome === 'undone' ? last : undefined;
  return gone && (rows.find(({ id }) => id === gone.undone_by) ?? gone);
}

/** The call whose answer counts, if what it made has not been undone. One before a correction made something else. */
export function madeBy<Row extends Effect>(rows: readonly Row[], { corrected }: About): Row | undefined {
  const isSame = (row: Row) => aboutOf(row).corrected === corrected;
  const made = rows.filter((row) => row.kind === 'mutate' && row.outcome === 'done' && isSame(row));
  const takesBack = ({ kind, seq, outcome, cart_item_id: item }: Row, row: Row) =>
    kind === 'compensate' && seq > row.seq && mayHaveHappened(outcome) && [null, item].includes(row.cart_item_id);
  return made.findLast((row) => !rows.some((other) => takesBack(other, row)));
}

/**
 * Counts the other calls of a repeatable step that may have made something that is still there. Where a second call
 * makes a second thing, one that is done counts, too: what it made is surely gone only when its row is `undone`.
 *
 * @param row of the call that counts for the run; undefined where it is not written yet
 */
export function doubtsBeside(row: string | undefined, rows: readonly Effect[], makesMore: boolean): number {
  const mayBeThere = (other: Effect) =>
    isDoubtful(other) || (makesMore && other.kind === 'mutate' && other.outcome === 'done');
  return rows.filter((other) => other.id !== row && mayBeThere(other)).length;
}

/**
 * Steps that made these items, and were undone, or are being undone. If the provider gave the same id again, only the
 * last time counts.
 *
 * @param rows of the saga
 */
export function takenBackOf(rows: readonly Effect[], items: readonly number[]): string[] {
  const steps = items.map((item) => {
    let takenBack: string | undefined;
    for (const { kind, step, outcome, cart_item_id: id } of rows) {
      if (id !== item) continue;
      if (kind === 'mutate' && outcome === 'done') takenBack = undefined;
      else if (kind === 'mutate' ? outcome === 'undone' : mayHaveHappened(outcome)) takenBack = step;
    }
    return takenBack;
  });
  return [...new Set(steps.filter((step) => step !== undefined))];
}

/** A change of firewalls is undone only once this call, and those before it, have undone all of them. */
export async function markUndone(tx: Tx, key: SagaKey, { step, about }: EffectCall, by: string): Promise<void> {
  const rows = ofStep(await effectsOf(tx, key), { kind: 'compensate', step });
  // The answer of this call may be late, and then its row does not say `done`.
  const calls = rows.map((row) => ({
    ...row,
    about: aboutOf(row),
    ...(row.id === by ? { outcome: 'done' as const } : {}),
  }));
  const { cartItemId } = about;
  const isUndone = (call: (typeof calls)[number]) =>
    cartItemId === undefined
      ? call.cart_item_id === null && notUndone(call, calls).length === 0
      : call.cart_item_id === cartItemId;
  const before = calls.slice(0, calls.map(({ id }) => id).indexOf(by));
  const mayBeThere = ({ outcome, cart_item_id: id }: (typeof calls)[number]) =>
    outcome === 'done' || outcome === 'unknown' || (id !== null && outcome !== 'undone' && outcome !== 'denied');
  const undone = before.filter((call) => call.kind === 'mutate' && mayBeThere(call) && isUndone(call));
  if (undone.length === 0) return;
  const ids = undone.map(({ id }) => id);
  await tx.updateTable('effect').set({ outcome: 'undone', undone_by: by }).where('id', 'in', ids).execute();
}
