/**
 * What a saga has done at the provider, folded from its rows: a pure function, and the only one that folds them. A run
 * that begins or ends, a clean-up, a sweep and the record each take their selection of it.
 */
import type { OpenItem } from '../domain/effects';
import { notUndone } from './undone-firewalls';
import { aboutOf, type Effect, isDoubtful, madeItem, mayHaveHappened } from './rows';

/** What is read of a row: nothing that is sealed. */
export const stateColumns = [
  'step',
  'kind',
  'activity',
  'outcome',
  'about',
  'cart_item_id',
  'vm_object_id',
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
  /** Servers whose firewalls it has changed, or meant to. */
  servers: number[];
}

export interface Made extends OpenItem {
  isSure: boolean;
}

export interface Changed {
  activity: string;
  vmObjectId: number;
  firewalls: number[];
  isSure: boolean;
}

/** @param rows of one reference, the oldest first */
export function stateOf<Row extends StateRow>(rows: readonly Row[]): State<Row> {
  const pivot = rows.find(({ kind, outcome }) => kind === 'pivot' && mayHaveHappened(outcome));
  const ordered = new Set(pivot ? aboutOf(pivot).cartItems : []);
  const items = rows.flatMap((row) => {
    const cartItemId = madeItem(row);
    return cartItemId === undefined ? [] : [{ cartItemId, step: row.step, isSure: row.outcome === 'done' }];
  });
  const calls = rows.map((row) => ({ ...row, about: aboutOf(row) }));
  return {
    pivot,
    placement: placementOf(pivot),
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
    servers: [...new Set(rows.flatMap(({ vm_object_id: id }) => (id === null ? [] : [id])))],
  };
}

function placementOf(pivot: StateRow | undefined): State<never>['placement'] {
  if (pivot === undefined) return 'none';
  if (pivot.outcome !== 'done') return 'unknown';
  return pivot.cancelled_ms === null ? 'placed' : 'cancelled';
}
