import { callsTo, openCartItems, ordersOf, ordersWithLabel, serversOf } from '../../../sandbox/sentences';
import { addCartItem, call, closeAll, cloudServer, errorsOf, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

describe('placing an order (row 1)', () => {
  test('takes the cart items, and builds a server for every unit', async () => {
    const sandbox = await startSandbox();
    const [one, two] = [await addCartItem(sandbox), await addCartItem(sandbox, { ...cloudServer, quantity: 2 })];
    const reply = await placeOrder(sandbox, { cartItems: [one, two], label: 'web-1', payment_type: 'ccard' });
    expect(reply.status).toBe(200);
    expect(ordersOf(sandbox.ledger, 'AB-12345678')).toEqual([
      expect.objectContaining({
        label: 'web-1',
        currency: 'usd',
        cartItems: [one, two],
        items: [cloudServer, { ...cloudServer, quantity: 2 }],
        vmObjectIds: [9001, 9002, 9003],
      }),
    ]);
    expect(openCartItems(sandbox.ledger)).toEqual([]);
    expect(serversOf(sandbox.ledger, 'AB-12345678').map((server) => server.vmObjectId)).toEqual([9001, 9002, 9003]);
  });

  test('builds servers of items that are servers: by their plan type, their plan’s, else as it is set', async () => {
    const supportedPlanTypes = ['cloud_servers_standard', 'object_storage'];
    const sandbox = await startSandbox({ supportedPlanTypes, plans: { '19': 'object_storage' } });
    const bare = { billing_cycle: 1 };
    const builtBy = async (item: Record<string, unknown>) => {
      await placeOrder(sandbox, { cartItems: [await addCartItem(sandbox, item)] });
      return ordersOf(sandbox.ledger, 'AB-12345678').at(-1)?.vmObjectIds.length;
    };
    expect(await builtBy(cloudServer)).toBe(1);
    expect(await builtBy({ ...bare, plan_type: 'object_storage' })).toBe(0);
    expect(await builtBy({ ...bare, plan_id: 19 })).toBe(0);
    expect(await builtBy({ ...bare, plan_id: 18 })).toBe(1);
    sandbox.configure({ untypedItemsAreServers: false });
    expect(await builtBy({ ...bare, plan_id: 18 })).toBe(0);
    sandbox.configure({ serverPlanTypes: ['object_storage'] });
    expect(await builtBy({ ...bare, plan_id: 19 })).toBe(1);
    expect(serversOf(sandbox.ledger, 'AB-12345678')).toHaveLength(3);
  });

  test('an order without a label has none', async () => {
    const sandbox = await startSandbox();
    await placeOrder(sandbox);
    expect(ordersOf(sandbox.ledger, 'AB-12345678')).toEqual([expect.objectContaining({ label: null })]);
    expect(ordersWithLabel(sandbox.ledger, 'web-1')).toEqual([]);
  });

  test.each(['AB-1', '12-34', 'a9-000'])('accepts the account %s', async (account) => {
    expect((await placeOrder(await startSandbox(), { account })).status).toBe(200);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ account: undefined }, 'account: must be a string'],
    [{ account: 'A-1' }, 'account: must be a two-character prefix'],
    [{ account: 'ABC-1' }, 'account: must be a two-character prefix'],
    [{ account: 'AB-' }, 'account: must be a two-character prefix'],
    [{ account: 'AB-1x' }, 'account: must be a two-character prefix'],
    [{ account: 'AB12345678' }, 'account: must be a two-character prefix'],
    [{ payment_type: 'invoice' }, 'payment_type: must be ccard'],
    [{ label: 5 }, 'label: must be a string'],
    [{ cartItems: [] }, 'cartItems: must name at least one cart item'],
    [{ cartItems: '501' }, 'cartItems: must be an array of cart item ids'],
    [{ cartItems: ['501'] }, 'cartItems.0: must be a whole number'],
    [{ cartItems: [501, 501] }, 'cartItems: must not name a cart item twice'],
    [{ cartItems: [999] }, 'cartItems: 999 does not exist'],
    [{ reference: 'PO-1' }, 'reference: not a field of this request'],
  ])('refuses %j', async (wrong, error) => {
    const sandbox = await startSandbox();
    await addCartItem(sandbox);
    const reply = await placeOrder(sandbox, { cartItems: [501], ...wrong });
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual([expect.stringContaining(error)]);
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
    expect(sandbox.ledger.entries).toHaveLength(1);
  });

  test('an item is ordered once, and a deleted one never; the others stay open', async () => {
    const sandbox = await startSandbox();
    const [ordered, deleted, open] = [
      await addCartItem(sandbox),
      await addCartItem(sandbox),
      await addCartItem(sandbox),
    ];
    await placeOrder(sandbox, { cartItems: [ordered] });
    await call(sandbox, 'DELETE', `/order/cartItems/delete/${deleted}`);
    const reply = await placeOrder(sandbox, { cartItems: [ordered, deleted, open] });
    expect(errorsOf(reply)).toEqual([
      `cartItems: ${ordered} is already ordered`,
      `cartItems: ${deleted} is already deleted`,
    ]);
    expect(openCartItems(sandbox.ledger).map((item) => item.cartItemId)).toEqual([open]);
    expect(ordersOf(sandbox.ledger, 'AB-12345678')).toHaveLength(1);
  });
});

describe('an order of cart items that are no longer open, where a setting takes them', () => {
  const account = 'AB-12345678';

  test('an item that is ordered is ordered again: a second order, with servers of its own', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take', orderResponse: 'ids' });
    const cartItems = [await addCartItem(sandbox), await addCartItem(sandbox, { ...cloudServer, quantity: 2 })];
    const first = await placeOrder(sandbox, { cartItems });
    const second = await placeOrder(sandbox, { cartItems });
    expect(first.body).toEqual({ order_id: 701, vm_object_ids: [9001, 9002, 9003] });
    expect(second.body).toEqual({ order_id: 702, vm_object_ids: [9004, 9005, 9006] });
    const items = [cloudServer, { ...cloudServer, quantity: 2 }];
    expect(ordersOf(sandbox.ledger, account)).toEqual([
      expect.objectContaining({ orderId: 701, cartItems, items, vmObjectIds: [9001, 9002, 9003] }),
      expect.objectContaining({ orderId: 702, cartItems, items, vmObjectIds: [9004, 9005, 9006] }),
    ]);
    expect(serversOf(sandbox.ledger, account)).toHaveLength(6);
    const calls = callsTo(sandbox.ledger, 'place-order');
    expect(calls.map((one) => one.effects)).toEqual(ordersOf(sandbox.ledger, account).map(({ seq }) => [seq]));
  });

  test('an item that was deleted is ordered', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    const cartItems = [await addCartItem(sandbox)];
    await call(sandbox, 'DELETE', `/order/cartItems/delete/${cartItems[0]}`);
    expect((await placeOrder(sandbox, { cartItems })).status).toBe(200);
    expect(ordersOf(sandbox.ledger, account)).toEqual([expect.objectContaining({ cartItems, items: [cloudServer] })]);
  });

  test('orders at once all take effect', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    const cartItems = [await addCartItem(sandbox)];
    const replies = await Promise.all(Array.from({ length: 8 }, () => placeOrder(sandbox, { cartItems })));
    expect(replies.map((reply) => reply.status)).toEqual(Array(8).fill(200));
    const servers = serversOf(sandbox.ledger, account).map((server) => server.vmObjectId);
    expect(new Set(servers).size).toBe(8);
  });

  test.each([
    [[999], 'cartItems: 999 does not exist'],
    [[501, 501], 'cartItems: must not name a cart item twice'],
  ])('%j is refused all the same', async (cartItems, error) => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    await addCartItem(sandbox);
    const reply = await placeOrder(sandbox, { cartItems });
    expect(reply.status).toBe(422);
    expect(errorsOf(reply)).toEqual([error]);
    expect(ordersOf(sandbox.ledger, account)).toEqual([]);
  });

  test('the setting moves at run time, and forgets nothing', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    const cartItems = [await addCartItem(sandbox)];
    await placeOrder(sandbox, { cartItems });
    await placeOrder(sandbox, { cartItems });
    sandbox.configure({ closedCartItems: 'refuse' });
    expect(errorsOf(await placeOrder(sandbox, { cartItems }))).toEqual(['cartItems: 501 is already ordered']);
    expect((await call(sandbox, 'DELETE', '/order/cartItems/delete/501')).status).toBe(409);
  });
});

describe('the currency of an account', () => {
  const currencies = (sandbox: Awaited<ReturnType<typeof startSandbox>>) =>
    ordersOf(sandbox.ledger, 'AB-12345678').map((order) => order.currency);

  test('is ignored in an order where the account has one', async () => {
    const sandbox = await startSandbox({ accountCurrencies: { 'AB-12345678': 'eur' } });
    await placeOrder(sandbox, { currency: 'gbp' });
    await placeOrder(sandbox, { currency: 12 });
    expect(currencies(sandbox)).toEqual(['eur', 'eur']);
  });

  test('is required of the first order where it has none, then fixed', async () => {
    const sandbox = await startSandbox({ defaultAccountCurrency: null });
    for (const currency of [undefined, 'euros', 5]) {
      const refused = await placeOrder(sandbox, { currency });
      expect(refused.status).toBe(422);
      expect(errorsOf(refused)).toEqual(['currency: required, the account has none yet']);
    }
    expect((await placeOrder(sandbox, { currency: 'EUR' })).status).toBe(200);
    expect((await placeOrder(sandbox)).status).toBe(200);
    expect((await placeOrder(sandbox, { currency: 'gbp' })).status).toBe(200);
    expect(currencies(sandbox)).toEqual(['eur', 'eur', 'eur']);
  });

  test('is not fixed by an order that was refused, nor for another account', async () => {
    const sandbox = await startSandbox({ defaultAccountCurrency: null });
    expect((await placeOrder(sandbox, { currency: 'eur', cartItems: [999] })).status).toBe(422);
    await placeOrder(sandbox, { currency: 'gbp' });
    await placeOrder(sandbox, { currency: 'usd', account: 'CD-1' });
    expect(currencies(sandbox)).toEqual(['gbp']);
    expect(ordersOf(sandbox.ledger, 'CD-1').map((order) => order.currency)).toEqual(['usd']);
  });
});

describe('the answer to an order, which the document does not show', () => {
  test.each([
    ['none', 204, undefined],
    ['empty', 200, {}],
    ['opaque', 200, { status: 'accepted' }],
    ['ids', 200, { order_id: 701, vm_object_ids: [9001] }],
    ['servers', 200, { data: { code: 200, order: { id: 701, servers: [{ id: 9001 }] } } }],
  ] as const)('%s', async (orderResponse, status, body) => {
    const reply = await placeOrder(await startSandbox({ orderResponse }));
    expect({ status: reply.status, body: reply.body }).toEqual({ status, body });
  });

  test('says little unless asked for more', async () => {
    expect((await placeOrder(await startSandbox())).body).toEqual({ status: 'accepted' });
  });

  test('a function of the order', async () => {
    const sandbox = await startSandbox({ orderResponse: (order) => [order.account, order.vmObjectIds] });
    expect((await placeOrder(sandbox)).body).toEqual(['AB-12345678', [9001]]);
  });
});
