/** The judge of all other tests: each of its sentences has a ledger that it finds good, and two that it does not. */
import type { LedgerEntry, LedgerSnapshot, SeededServer } from '../../../sandbox/ledger';
import {
  neverLessProtected,
  openCartItems,
  orderedItemsDeleted,
  orderedTwice,
  placedTwice,
  silentLeftovers,
} from '../../../sandbox/sentences';

type Unnumbered<T> = T extends { seq: number } ? Omit<T, 'seq'> : never;

const ledgerOf = (entries: Unnumbered<LedgerEntry>[], seededServers: SeededServer[] = []): LedgerSnapshot => ({
  entries: entries.map((entry, index) => ({ seq: index + 1, ...entry })),
  calls: [],
  faultsStruck: [],
  seededServers,
});

const item = { billing_cycle: 1 };
const added = (cartItemId: number) => ({ type: 'cartItemAdded', cartItemId, item }) as const;
const deleted = (cartItemId: number) => ({ type: 'cartItemDeleted', cartItemId }) as const;
const ordered = (label: string | null, cartItems: number[], quantity = 1, account = 'AB-1') =>
  ({
    type: 'orderPlaced',
    orderId: 700,
    account,
    currency: 'usd',
    label,
    cartItems,
    items: cartItems.map(() => ({ ...item, quantity })),
    vmObjectIds: cartItems.map((id) => 9000 + id),
  }) as const;
const quoted = { total: 5, currency: 'usd' };
const changed = (subscriptionId: number, delta_value = '1') => {
  const resources = [{ resource_name: 'vm_backup', delta_value }];
  return { type: 'changeOrderPlaced', changeOrderId: 1, subscriptionId, resources, ...quoted } as const;
};
const switched = (planId: number) => ({ type: 'planSwitched', subscriptionId: 5, planId, ...quoted }) as const;

test.each<[string, Unnumbered<LedgerEntry>[], { deletedLater?: number[]; twice?: number[]; open: number[] }]>([
  ['nothing at all', [], { open: [1, 2, 3] }],
  ['one ordered, one deleted', [ordered('web', [1]), deleted(2)], { open: [3] }],
  ['one ordered, then deleted', [ordered('web', [1, 2]), deleted(1)], { deletedLater: [1], open: [3] }],
  ['one deleted, then ordered', [deleted(1), ordered('web', [1, 2])], { open: [3] }],
  ['two orders that share an item', [ordered('web', [1, 2]), ordered('db', [2, 3])], { twice: [2], open: [] }],
  ['one order, which names an item twice', [ordered('web', [1, 1])], { open: [2, 3] }],
])('cart items of which something became: %s', (_, entries, { deletedLater = [], twice = [], open }) => {
  const ledger = ledgerOf([added(1), added(2), added(3), ...entries]);
  const ids = (items: { cartItemId: number }[]) => items.map((one) => one.cartItemId);
  expect([ids(orderedItemsDeleted(ledger)), ids(orderedTwice(ledger))]).toEqual([deletedLater, twice]);
  expect([ids(openCartItems(ledger)), ids(silentLeftovers(ledger))]).toEqual([open, open]);
});

test('leftovers are silent unless listed, or reported as adds of unknown outcome', () => {
  const ledger = ledgerOf([added(1), added(2)]);
  const ids = (listed: number[], unknownAdds?: number) =>
    silentLeftovers(ledger, listed, unknownAdds).map((open) => open.cartItemId);
  expect([ids([1]), ids([1, 2]), ids([1], 1), ids([], 1)]).toEqual([[2], [], [], [1, 2]]);
});

test.each<[string, Unnumbered<LedgerEntry>[], number]>([
  ['the same label twice', [ordered('web', [1]), ordered('web', [2])], 1],
  ['no label, the same contents', [ordered(null, [1]), ordered(null, [2])], 1],
  ['no label, other contents', [ordered(null, [1]), ordered(null, [2], 3)], 0],
  ['another label, another account', [ordered('web', [1]), ordered('db', [2]), ordered('web', [3], 1, 'CD-1')], 0],
  ['a change twice', [changed(5), changed(5), changed(5)], 2],
  ['another change, and of another subscription', [changed(5), changed(5, '2'), changed(6)], 0],
  ['a switch twice', [switched(1), switched(2), switched(1)], 1],
])('placed twice: %s', (_, entries, times) => {
  expect(placedTwice(ledgerOf(entries))).toEqual(entries.slice(entries.length - times).map(expect.objectContaining));
});

test.each<[string, number[][], number[] | undefined, boolean]>([
  ['assigned, then unassigned', [[1], [1, 2], [2]], undefined, true],
  ['unassigned, then assigned', [[1], [], [2]], undefined, false],
  ['there and back again', [[1], [1, 2], [2], [1, 2], [1]], [2], true],
  ['and back the wrong way', [[1], [1, 2], [2], [], [1]], [2], false],
  ['left with nothing, which was not wanted', [[1], []], [2], false],
  ['left half-way on the safe side', [[1], [1, 2]], [2], true],
])('less protected: %s', (_, sets, wanted, good) => {
  const changes = sets.slice(1).map((after, index) => {
    const before = sets[index] ?? [];
    return { type: 'firewallsAssigned' as const, vmObjectId: 77, firewalls: [], before, after };
  });
  const seeded = [{ seq: 0, vmObjectId: 77, account: null, label: null, firewalls: sets[0] ?? [] }];
  expect(neverLessProtected(ledgerOf(changes, seeded), 77, wanted)).toBe(good);
});
