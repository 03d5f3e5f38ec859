/** Rows, and what they come to: the only fold of a saga's rows. */
import { stateOf, type StateRow } from '../../../src/journal/state';

const row = (changes: Partial<Omit<StateRow, 'about'>> & { about?: object }): StateRow => ({
  step: 'a-step',
  kind: 'mutate',
  activity: 'addCartItem',
  outcome: 'done',
  cart_item_id: null,
  cancelled_ms: null,
  ...changes,
  about: JSON.stringify(changes.about ?? {}),
});
const added = (id: number, changes: Partial<StateRow> = {}) =>
  row({ step: `add-${id}`, cart_item_id: id, about: { item: id }, ...(changes as object) });
const order = (cartItems: number[], changes: Partial<StateRow> = {}) =>
  row({ step: 'place-order', kind: 'pivot', activity: 'placeOrder', about: { cartItems }, ...(changes as object) });
const firewalls =
  (activity: string) =>
  (ids: number[], changes: Partial<StateRow> = {}) =>
    row({ step: 'fw', activity, about: { vmObjectId: 7, firewalls: ids }, ...(changes as object) });
const [assigned, unassigned] = [firewalls('assignFirewalls'), firewalls('unassignFirewalls')];

const nothing = { placement: 'none', items: [], perhapsOrdered: [], doubtfulAdds: [], firewalls: [] };
const item = (cartItemId: number, isSure = true) => ({ cartItemId, step: `add-${cartItemId}`, isSure });
const stands = (activity: string, ids: number[], isSure = true) => ({
  firewalls: [{ activity, vmObjectId: 7, firewalls: ids, isSure }],
});

const undo = { kind: 'compensate' } as const;

const table: [string, StateRow[], object][] = [
  ['nothing', [], {}],
  ['an item in the cart', [added(1)], { items: [item(1)] }],
  ['an item that was deleted', [added(1, { outcome: 'undone' })], {}],
  ['an item of an answer that is no success', [added(1, { outcome: 'unknown' })], { items: [item(1, false)] }],
  ['an add of unknown outcome', [added(1, { outcome: null, cart_item_id: null })], { doubtfulAdds: [1] }],
  ['an add that was refused', [added(1, { outcome: 'not-done', cart_item_id: null })], {}],
  ['an order placed, a stray item', [added(1), added(2), order([1])], { placement: 'placed', items: [item(2)] }],
  [
    'an order of unknown outcome',
    [added(1), added(2), order([1], { outcome: 'unknown' })],
    { placement: 'unknown', items: [item(2)], perhapsOrdered: [item(1)] },
  ],
  ['one in flight', [added(1), order([1], { outcome: null })], { placement: 'unknown', perhapsOrdered: [item(1)] }],
  ['an order that was refused', [added(1), order([1], { outcome: 'not-done' })], { items: [item(1)] }],
  ['an order that a person has denied', [added(1), order([1], { outcome: 'denied' })], { items: [item(1)] }],
  ['an order refused, then placed', [order([], { outcome: 'not-done' }), order([])], { placement: 'placed' }],
  ['an order that the provider has cancelled', [added(1), order([1], { cancelled_ms: 5 })], { placement: 'cancelled' }],
  ['firewalls assigned', [assigned([1, 2])], stands('assignFirewalls', [1, 2])],
  ['some of them undone', [assigned([1, 2]), unassigned([2], undo)], stands('assignFirewalls', [1])],
  [
    'their undo not known',
    [assigned([1]), unassigned([1], { ...undo, outcome: null })],
    stands('assignFirewalls', [1]),
  ],
  ['firewalls perhaps unassigned', [unassigned([1], { outcome: null })], stands('unassignFirewalls', [1], false)],
  ['firewalls refused', [assigned([1], { outcome: 'not-done' })], {}],
];

it.each(table)('%s', (_, rows, expected) => {
  const { pivot, ...state } = stateOf(rows);
  expect(state).toEqual({ ...nothing, ...expected });
  expect(pivot === undefined).toBe(state.placement === 'none');
});
