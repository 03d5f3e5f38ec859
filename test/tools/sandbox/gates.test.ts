import { openCartItems, orderedTwice, orders, ordersOf } from '../../../sandbox/sentences';
import { addCartItem, call, closeAll, cloudServer, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

const add = (sandbox: { url: string }) => call(sandbox, 'POST', '/order/add-to-cart', cloudServer);

describe('a gate', () => {
  test('before the effect: nothing has happened until it opens', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate' });
    const answered = add(sandbox);
    await sandbox.whenStruck(gate);
    await add(sandbox); // Only the first call is held.
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
    sandbox.faults.release(gate);
    expect((await answered).body).toMatchObject({ '0': 502 });
    expect(openCartItems(sandbox.ledger)).toHaveLength(2);
  });

  test('after the effect: it is in the ledger, and the answer waits', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', hold: 'after' });
    const answered = add(sandbox);
    await sandbox.whenStruck(gate);
    expect(openCartItems(sandbox.ledger)).toHaveLength(1);
    expect(sandbox.ledger.calls[0]?.status).toBeNull();
    sandbox.faults.release(gate);
    expect((await answered).body).toMatchObject({ '0': 501 });
  });

  test('holds as many as it is told, lets all go at once, and stays open', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: '*', kind: 'gate', times: 'all' });
    const held = [add(sandbox), add(sandbox)];
    await sandbox.whenStruck(gate, 2);
    expect(sandbox.ledger.entries).toEqual([]);
    sandbox.faults.release(gate);
    expect((await Promise.all(held)).map((reply) => reply.status)).toEqual([200, 200]);
    expect((await add(sandbox)).status).toBe(200);
  });

  test('two hold a call each, and open each for itself; what is in the air shows in the ledger', async () => {
    const sandbox = await startSandbox();
    const [first, second] = [1, 2].map((nth) => sandbox.faults.add({ endpoint: '*', kind: 'gate', nth }));
    const inTheAir = () =>
      sandbox.ledger.calls.filter((one) => one.status === null).map(({ names, effects }) => ({ names, effects }));
    const earlier = call(sandbox, 'POST', '/order/add-to-cart', cloudServer);
    await sandbox.whenStruck(first!);
    const later = call(sandbox, 'POST', '/order/add-to-cart', { ...cloudServer, plan_id: 18 });
    await sandbox.whenStruck(second!);
    expect(inTheAir()).toEqual([
      { names: { planId: [17] }, effects: [] },
      { names: { planId: [18] }, effects: [] },
    ]);
    sandbox.faults.release(second!);
    expect((await later).body).toMatchObject({ '0': 501 });
    expect(inTheAir()).toEqual([{ names: { planId: [17] }, effects: [] }]);
    sandbox.faults.release(first!);
    expect((await earlier).body).toMatchObject({ '0': 502 });
    expect(inTheAir()).toEqual([]);
  });

  test('lets an order take effect late, when the same items have been ordered again meanwhile', async () => {
    const sandbox = await startSandbox({ closedCartItems: 'take' });
    const cartItems = [await addCartItem(sandbox)];
    const gate = sandbox.faults.add({ endpoint: 'place-order', kind: 'gate' });
    const held = placeOrder(sandbox, { cartItems, label: 'held' });
    await sandbox.whenStruck(gate);
    await placeOrder(sandbox, { cartItems, label: 'meanwhile' });
    expect(orderedTwice(sandbox.ledger)).toEqual([]);
    sandbox.faults.release(gate);
    expect((await held).status).toBe(200);
    expect(orders(sandbox.ledger).map((order) => order.label)).toEqual(['meanwhile', 'held']);
    expect(orderedTwice(sandbox.ledger).map((item) => item.cartItemId)).toEqual(cartItems);
  });

  test('a client that went away is served all the same: late effects are effects', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: 'place-order', kind: 'gate' });
    const gone = new AbortController();
    const cartItems = [await addCartItem(sandbox)];
    const ordering = fetch(`${sandbox.url}/order`, {
      method: 'POST',
      body: JSON.stringify({ account: 'AB-1', cartItems }),
      signal: gone.signal,
    });
    await sandbox.whenStruck(gate);
    gone.abort();
    await expect(ordering).rejects.toThrow();
    expect(ordersOf(sandbox.ledger, 'AB-1')).toEqual([]);
    sandbox.faults.release(gate);
    await add(sandbox);
    expect(ordersOf(sandbox.ledger, 'AB-1')).toHaveLength(1);
  });

  test('and another fault can strike the same call', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'after' });
    const reset = sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after' });
    const broken = expect(placeOrder(sandbox, { account: 'AB-1' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    await sandbox.whenStruck(gate);
    expect(ordersOf(sandbox.ledger, 'AB-1')).toHaveLength(1);
    expect(sandbox.ledger.faultsStruck.map((strike) => strike.faultId)).toEqual([gate]);
    sandbox.faults.release(gate);
    await broken;
    expect(sandbox.ledger.faultsStruck.map((strike) => strike.faultId)).toEqual([gate, reset]);
  });

  test('clearing the faults opens it', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: '*', kind: 'gate' });
    const answered = add(sandbox);
    await sandbox.whenStruck(gate);
    sandbox.faults.clear();
    expect((await answered).status).toBe(200);
  });

  test('what is held when the sandbox closes comes to nothing', async () => {
    const sandbox = await startSandbox();
    const gate = sandbox.faults.add({ endpoint: '*', kind: 'gate' });
    const broken = expect(add(sandbox)).rejects.toThrow();
    await sandbox.whenStruck(gate);
    await sandbox.close();
    await broken;
    expect(sandbox.ledger.entries).toEqual([]);
  });

  test('only a gate can be released', async () => {
    const sandbox = await startSandbox();
    const fault = sandbox.faults.add({ endpoint: '*', kind: 'garbage' });
    expect(() => sandbox.faults.release(fault)).toThrow(`There is no gate ${fault}`);
    expect(() => sandbox.faults.release('fault-99')).toThrow('There is no gate fault-99');
  });
});

describe('waiting for calls', () => {
  test('counts those that came before, and tells which they were', async () => {
    const sandbox = await startSandbox();
    await add(sandbox);
    const waiting = sandbox.whenCalled({ endpoint: 'add-cart-item', times: 2 });
    let done = false;
    void waiting.then(() => (done = true));
    await call(sandbox, 'GET', '/firewalls/object/1');
    expect(done).toBe(false);
    await add(sandbox);
    expect((await waiting).map((one) => one.endpoint)).toEqual(['add-cart-item', 'add-cart-item']);
    expect(await sandbox.whenCalled()).toHaveLength(1);
  });

  test('looks at what a call names', async () => {
    const sandbox = await startSandbox();
    const waiting = sandbox.whenCalled({ match: { vmObjectId: 2 } });
    await call(sandbox, 'GET', '/firewalls/object/1');
    await call(sandbox, 'GET', '/firewalls/object/2');
    expect((await waiting).map((one) => one.path)).toEqual(['/firewalls/object/2']);
  });

  test('ends with the sandbox', async () => {
    const sandbox = await startSandbox();
    const waits = [sandbox.whenCalled({ times: 9 }), sandbox.whenStruck('fault-1')];
    await sandbox.close();
    for (const wait of waits) await expect(wait).rejects.toThrow('The sandbox was closed');
  });
});
