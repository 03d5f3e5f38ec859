import type { LedgerEntry, LedgerSnapshot, SeededServer } from '../../../sandbox/ledger';
import {
  callsTo,
  firewallsOf,
  lessProtectedMoments,
  neverLessProtected,
  noOrderPlacedTwice,
  openCartItems,
  orderedItemsDeleted,
  orderedTwice,
  ordersOf,
  ordersWithLabel,
  placedTwice,
  servers,
  serversOf,
  silentLeftovers,
} from '../../../sandbox/sentences';
import { addCartItem, call, closeAll, cloudServer, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

type Unnumbered<T> = T extends { seq: number } ? Omit<T, 'seq'> : never;

function ledgerOf(entries: Unnumbered<LedgerEntry>[], seeded: SeededServer[] = []): LedgerSnapshot {
  return {
    entries: entries.map((entry, index) => ({ seq: index + 1, ...entry })),
    calls: [],
    faultsStruck: [],
    seededServers: seeded,
  };
}

const item = { billing_cycle: 1 };
const added = (cartItemId: number) => ({ type: 'cartItemAdded', cartItemId, item }) as const;
const deleted = (cartItemId: number) => ({ type: 'cartItemDeleted', cartItemId }) as const;
const ordered = (account: string, label: string | null, cartItems: number[] = [1], quantity = 1) =>
  ({
    type: 'orderPlaced',
    orderId: 700 + (cartItems[0] ?? 0),
    account,
    currency: 'usd',
    label,
    cartItems,
    items: cartItems.map(() => ({ ...item, quantity })),
    vmObjectIds: cartItems.map((id) => 9000 + id),
  }) as const;
const resources = (delta_value: string) => [{ resource_name: 'vm_backup', delta_value }];
const changeOrdered = (subscriptionId: number, delta = '1') =>
  ({
    type: 'changeOrderPlaced',
    changeOrderId: 1,
    subscriptionId,
    resources: resources(delta),
    total: 5,
    currency: 'usd',
  }) as const;
const switched = (subscriptionId: number, planId: number) =>
  ({ type: 'planSwitched', subscriptionId, fromPlanId: null, planId, total: 5, currency: 'usd' }) as const;

test('open cart items are those neither deleted nor ordered', () => {
  const ledger = ledgerOf([added(1), added(2), added(3), added(4), deleted(2), ordered('AB-1', null, [1, 4])]);
  expect(openCartItems(ledger).map((open) => open.cartItemId)).toEqual([3]);
});

test('leftovers are silent unless listed, or owned up to as adds of unknown fate', () => {
  const ledger = ledgerOf([added(1), added(2), added(3), deleted(3)]);
  const ids = (listed?: number[], unknownAdds?: number) =>
    silentLeftovers(ledger, listed, unknownAdds).map((open) => open.cartItemId);
  expect(ids()).toEqual([1, 2]);
  expect(ids([1])).toEqual([2]);
  expect(ids([1, 2])).toEqual([]);
  expect(ids([1], 1)).toEqual([]);
  expect(ids([], 1)).toEqual([1, 2]);
});

describe('cart items that are not open any more, and something becomes of them again', () => {
  const web = (...cartItems: number[]) => ordered('AB-1', 'web', cartItems);
  const db = (...cartItems: number[]) => ordered('AB-1', 'db', cartItems);
  const cart = [added(1), added(2), added(3)];

  test.each<[string, Unnumbered<LedgerEntry>[], { deletedLater: number[]; twice: number[]; open: number[] }]>([
    ['nothing at all', [], { deletedLater: [], twice: [], open: [1, 2, 3] }],
    ['one ordered, one deleted', [web(1), deleted(2)], { deletedLater: [], twice: [], open: [3] }],
    ['one ordered, then deleted', [web(1, 2), deleted(1)], { deletedLater: [1], twice: [], open: [3] }],
    ['one deleted, then ordered', [deleted(1), web(1, 2)], { deletedLater: [], twice: [], open: [3] }],
    ['deleted, ordered, deleted', [deleted(1), web(1), deleted(1)], { deletedLater: [1], twice: [], open: [2, 3] }],
    [
      'deleted after each of two orders',
      [web(1), deleted(1), web(1), deleted(1)],
      { deletedLater: [1], twice: [1], open: [2, 3] },
    ],
    ['two orders of the same items', [web(1, 2), web(1, 2)], { deletedLater: [], twice: [1, 2], open: [3] }],
    ['two orders that share an item', [web(1, 2), db(2, 3)], { deletedLater: [], twice: [2], open: [] }],
    [
      'in the order of another account',
      [web(1), ordered('CD-1', 'web', [1])],
      { deletedLater: [], twice: [1], open: [2, 3] },
    ],
    ['three orders of one item', [web(1), db(1), web(1)], { deletedLater: [], twice: [1], open: [2, 3] }],
    ['two orders of different items', [web(1), web(2)], { deletedLater: [], twice: [], open: [3] }],
    ['one order, which names an item twice', [web(1, 1)], { deletedLater: [], twice: [], open: [2, 3] }],
  ])('%s', (_, entries, expected) => {
    const ledger = ledgerOf([...cart, ...entries]);
    const ids = (items: { cartItemId: number }[]) => items.map((one) => one.cartItemId);
    expect({
      deletedLater: ids(orderedItemsDeleted(ledger)),
      twice: ids(orderedTwice(ledger)),
      open: ids(openCartItems(ledger)),
    }).toEqual(expected);
    // What an order took or a deletion closed is nobody's leftover, whatever became of it later.
    expect(ids(silentLeftovers(ledger))).toEqual(expected.open);
  });
});

test('orders are found by account and by label', () => {
  const ledger = ledgerOf([ordered('AB-1', 'web', [1]), ordered('AB-1', null, [2]), ordered('CD-2', 'web', [3])]);
  expect(ordersOf(ledger, 'AB-1').map((order) => order.orderId)).toEqual([701, 702]);
  expect(ordersWithLabel(ledger, 'web').map((order) => order.orderId)).toEqual([701, 703]);
});

describe('no order placed twice', () => {
  test.each<[string, Unnumbered<LedgerEntry>[], boolean]>([
    ['nothing', [], true],
    ['one order', [ordered('AB-1', 'web')], true],
    ['the same label twice', [ordered('AB-1', 'web', [1]), ordered('AB-1', 'web', [2])], false],
    ['the same label and items twice', [ordered('AB-1', 'web', [1]), ordered('AB-1', 'web', [1])], false],
    ['no label, the same items', [ordered('AB-1', null, [1]), ordered('AB-1', null, [1])], false],
    ['another label', [ordered('AB-1', 'web', [1]), ordered('AB-1', 'db', [2])], true],
    ['another account', [ordered('AB-1', 'web', [1]), ordered('CD-1', 'web', [2])], true],
    ['no label, the same contents', [ordered('AB-1', null, [1]), ordered('AB-1', null, [2])], false],
    ['no label, other contents', [ordered('AB-1', null, [1]), ordered('AB-1', null, [2], 3)], true],
    ['a change twice', [changeOrdered(5), changeOrdered(5)], false],
    ['a change of another subscription', [changeOrdered(5), changeOrdered(6)], true],
    ['another change', [changeOrdered(5), changeOrdered(5, '2')], true],
    ['a switch twice', [switched(5, 1), switched(5, 1)], false],
    ['another switch', [switched(5, 1), switched(5, 2)], true],
    ['cart items alone', [added(1), added(2)], true],
  ])('%s', (_, entries, good) => {
    expect(noOrderPlacedTwice(ledgerOf(entries))).toBe(good);
  });

  test('names the second, and takes another idea of the same thing', () => {
    const ledger = ledgerOf([ordered('AB-1', 'web', [1]), switched(5, 1), ordered('AB-1', 'db', [2])]);
    expect(placedTwice(ledger)).toEqual([]);
    const byAccount = placedTwice(ledger, (placed) => ('account' in placed ? placed.account : undefined));
    expect(byAccount).toEqual([expect.objectContaining({ orderId: 702 })]);
    expect(noOrderPlacedTwice(ledger, () => 'all the same')).toBe(false);
    expect(noOrderPlacedTwice(ledger, () => undefined)).toBe(true);
  });
});

test('servers are the seeded ones and those of orders', () => {
  const seeded = [{ seq: 1, vmObjectId: 77, account: 'AB-1', label: null, firewalls: [] }];
  const ledger = ledgerOf([ordered('AB-1', 'web', [1, 2]), ordered('CD-1', 'db', [3])], seeded);
  expect(serversOf(ledger, 'AB-1')).toEqual([
    { vmObjectId: 77, account: 'AB-1', label: null, orderId: null },
    { vmObjectId: 9001, account: 'AB-1', label: 'web', orderId: 701 },
    { vmObjectId: 9002, account: 'AB-1', label: 'web', orderId: 701 },
  ]);
  expect(servers(ledger)).toHaveLength(4);
});

describe('never less protected', () => {
  /** A server that starts with `sets[0]` and then has the others, one after the other. */
  function went(...sets: number[][]): LedgerSnapshot {
    const changes = sets.slice(1).map((after, index) => ({
      type: 'firewallsAssigned' as const,
      vmObjectId: 77,
      firewalls: [],
      before: sets[index] ?? [],
      after,
    }));
    return ledgerOf(changes, [{ seq: 0, vmObjectId: 77, account: null, label: null, firewalls: sets[0] ?? [] }]);
  }

  test.each<[string, number[][], number[] | undefined, boolean]>([
    ['untouched', [[1]], undefined, true],
    ['assigned, then unassigned', [[1], [1, 2], [2]], undefined, true],
    ['unassigned, then assigned', [[1], [], [2]], undefined, false],
    ['there and back again', [[1], [1, 2], [2], [1, 2], [1]], [2], true],
    ['and back the wrong way', [[1], [1, 2], [2], [], [1]], [2], false],
    ['left with nothing, as if wanted', [[1], []], undefined, true],
    ['left with nothing, which was not wanted', [[1], []], [2], false],
    ['left half-way on the safe side', [[1], [1, 2]], [2], true],
    [
      'in two steps, one of them too early',
      [
        [1, 9],
        [1, 9, 2],
        [2, 9],
        [2, 3],
      ],
      [2, 3],
      false,
    ],
    [
      'in two steps, both in time',
      [
        [1, 9],
        [1, 9, 2],
        [1, 9, 2, 3],
        [2, 3],
      ],
      [2, 3],
      true,
    ],
  ])('%s', (_, sets, wanted, good) => {
    expect(neverLessProtected(went(...sets), 77, wanted)).toBe(good);
  });

  test('names the moment', () => {
    expect(lessProtectedMoments(went([1], [], [2]), 77)).toEqual([{ seq: 1, firewalls: [] }]);
  });

  test('another server has a history of its own', () => {
    expect(firewallsOf(went([1], [2]), 77)).toEqual([2]);
    expect(firewallsOf(went([1], [2]), 78)).toEqual([]);
    expect(neverLessProtected(went([1], [], [2]), 78)).toBe(true);
  });
});

describe('the ledger of a running sandbox', () => {
  test('tells calls from effects, in one order, and keeps the secrets', async () => {
    const sandbox = await startSandbox();
    await call(sandbox, 'POST', '/order/add-to-cart', { billing_cycle: 9 }, { 'x-trace': 'abc' });
    await addCartItem(sandbox, { ...cloudServer, password: 'canary' });
    await placeOrder(sandbox, { cartItems: [501], label: 'web' });

    const { calls, entries } = sandbox.ledger;
    expect(calls).toMatchObject([
      { endpoint: 'add-cart-item', row: 2, method: 'POST', path: '/order/add-to-cart', status: 422, effects: [] },
      { endpoint: 'add-cart-item', body: { password: 'canary' }, status: 200, effects: [entries[0]?.seq] },
      {
        row: 1,
        names: { account: ['AB-12345678'], label: ['web'], cartItemId: [501] },
        status: 200,
        effects: [entries[1]?.seq],
      },
    ]);
    expect(calls[0]?.headers['x-trace']).toBe('abc');
    expect(entries).toMatchObject([{ item: { password: 'canary' } }, { items: [{ password: 'canary' }] }]);
    const seqs = [...calls, ...entries].map((one) => one.seq);
    expect([...seqs].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(callsTo(sandbox.ledger, 2)).toEqual(callsTo(sandbox.ledger, 'add-cart-item'));
    expect(callsTo(sandbox.ledger, 1)).toHaveLength(1);
  });

  test('a snapshot is JSON, and stays as it was', async () => {
    const sandbox = await startSandbox({ servers: [{ vmObjectId: 77, firewalls: [1] }] });
    await placeOrder(sandbox);
    const snapshot = sandbox.ledger.snapshot();
    const copy: unknown = JSON.parse(JSON.stringify(snapshot));
    expect(copy).toEqual(snapshot);
    await placeOrder(sandbox);
    expect(snapshot).toEqual(copy);
    expect(ordersOf(snapshot, 'AB-12345678')).toHaveLength(1);
    expect(ordersOf(sandbox.ledger, 'AB-12345678')).toHaveLength(2);
  });

  test('names what was bought twice, where the sandbox takes cart items that are no longer open', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    const cartItems = [await addCartItem(sandbox), await addCartItem(sandbox)];
    await placeOrder(sandbox, { cartItems, label: 'web' });
    expect([orderedTwice(sandbox.ledger), placedTwice(sandbox.ledger)]).toEqual([[], []]);
    await placeOrder(sandbox, { cartItems, label: 'web' });
    await call(sandbox, 'DELETE', `/order/cartItems/delete/${cartItems[0]}`);
    const ledger = sandbox.ledger.snapshot();
    expect(orderedTwice(ledger).map((one) => one.cartItemId)).toEqual(cartItems);
    expect(placedTwice(ledger)).toEqual([expect.objectContaining({ orderId: 702 })]);
    expect(orderedItemsDeleted(ledger)).toEqual([expect.objectContaining({ cartItemId: cartItems[0] })]);
    expect(silentLeftovers(ledger)).toEqual([]);
  });

  test('calls at once take effect one after the other, each once', async () => {
    const sandbox = await startSandbox();
    const cartItems = [await addCartItem(sandbox)];
    const replies = await Promise.all(Array.from({ length: 8 }, () => placeOrder(sandbox, { cartItems })));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 422)).toHaveLength(7);
    expect(ordersOf(sandbox.ledger, 'AB-12345678')).toHaveLength(1);
  });
});
