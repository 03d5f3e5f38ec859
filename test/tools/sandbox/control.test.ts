import { networkInterfaces } from 'node:os';
import { SandboxClient } from '../../../sandbox/client';
import { isLoopback } from '../../../sandbox/control';
import { openCartItems } from '../../../sandbox/sentences';
import { addCartItem, call, closeAll, cloudServer, placeOrder, startSandbox } from './calling';
import { itUnless } from '../../support/left-out';

afterEach(closeAll);

async function controlled(options?: Parameters<typeof startSandbox>[0]) {
  const sandbox = await startSandbox(options);
  return { sandbox, client: new SandboxClient(sandbox.url) };
}

const add = (sandbox: { url: string }) => call(sandbox, 'POST', '/order/add-to-cart', cloudServer);

describe('the control plane', () => {
  test('hands out the ledger, which answers the same sentences', async () => {
    const { sandbox, client } = await controlled({ basePath: '/v1' });
    await addCartItem(sandbox);
    await placeOrder(sandbox);
    const ledger = await client.ledger();
    expect(ledger).toEqual(sandbox.ledger.snapshot());
    expect(openCartItems(ledger).map((item) => item.cartItemId)).toEqual([501]);
  });

  test('is not itself in the ledger, and no fault or token stands before it', async () => {
    const { sandbox, client } = await controlled({ token: 'secret' });
    await client.addFault({ endpoint: '*', kind: 'error-before', times: 'all' });
    await client.ledger();
    expect(sandbox.ledger.calls).toEqual([]);
  });

  test('sets a fault and clears it', async () => {
    const { sandbox, client } = await controlled();
    const id = await client.addFault({ endpoint: 'add-cart-item', kind: 'error-before', times: 'all' });
    expect((await add(sandbox)).status).toBe(500);
    expect((await client.ledger()).faultsStruck).toMatchObject([{ faultId: id }]);
    const listed = await fetch(`${sandbox.url}/_sandbox/faults`);
    expect(await listed.json()).toMatchObject([{ id, fault: { kind: 'error-before' } }]);
    await client.clearFaults();
    expect((await add(sandbox)).status).toBe(200);
  });

  test('sets a random plan', async () => {
    const { sandbox, client } = await controlled();
    await client.randomFaults({ seed: 'x', rate: 1, kinds: ['forbidden'] });
    expect((await add(sandbox)).status).toBe(403);
  });

  test('waits for a gate, and opens it', async () => {
    const { sandbox, client } = await controlled();
    const struck = client.whenStruck('fault-1');
    const gate = await client.addFault({ endpoint: '*', kind: 'gate', hold: 'after' });
    const answered = add(sandbox);
    expect(await struck).toMatchObject([{ faultId: gate, kind: 'gate' }]);
    expect(openCartItems(await client.ledger())).toHaveLength(1);
    await client.release(gate);
    expect((await answered).status).toBe(200);
    await expect(client.release(gate)).rejects.toThrow(`There is no gate ${gate}`);
  });

  test('waits for calls, by endpoint, number and what they name', async () => {
    const { sandbox, client } = await controlled();
    let done = false;
    const waiting = client.whenCalled({ endpoint: 'add-cart-item', times: 2, match: { planId: 17 } });
    void waiting.then(() => (done = true));
    await add(sandbox);
    await addCartItem(sandbox, { ...cloudServer, plan_id: 18 });
    await client.ledger();
    expect(done).toBe(false);
    await add(sandbox);
    expect(await waiting).toMatchObject([{ names: { planId: [17] } }, { names: { planId: [17] } }]);
    expect(await client.whenCalled()).toHaveLength(1);
  });

  test('a wait can be given up', async () => {
    const { sandbox, client } = await controlled();
    const enough = new AbortController();
    const waits = [client.whenCalled({}, enough.signal), client.whenStruck('fault-1', 1, enough.signal)];
    enough.abort();
    for (const wait of waits) await expect(wait).rejects.toThrow(/abort/);
    await add(sandbox);
  });

  test('changes settings, one price without the others, and shows them all', async () => {
    const { sandbox, client } = await controlled();
    const settings = await client.configure({ resourcePrices: { vm_backup: 7 }, token: 'secret' });
    expect(settings).toMatchObject({ resourcePrices: { vm_backup: 7, china_route: 12 }, token: 'secret' });
    expect(await client.settings()).toEqual(settings);
    expect(sandbox.settings).toEqual(settings);
    expect((await add(sandbox)).status).toBe(401);
  });

  test('adds a server', async () => {
    const { sandbox, client } = await controlled();
    await client.addServer({ vmObjectId: 77, firewalls: [143] });
    expect((await call(sandbox, 'GET', '/firewalls/object/77')).body).toMatchObject([{ id: 143 }]);
    await expect(client.addServer({ vmObjectId: 77 })).rejects.toThrow('There is a server 77 already');
  });

  test.each<[string, string, unknown, number]>([
    ['POST', 'faults', { endpoint: '*', kind: 'explode' }, 400],
    ['POST', 'faults', undefined, 400],
    ['POST', 'faults/random', { seed: 1 }, 400],
    ['POST', 'servers', { vmObjectId: '77' }, 400],
    ['PATCH', 'settings', { latency: 1 }, 400],
    ['PATCH', 'settings', { orderResponse: 'full' }, 400],
    ['PATCH', 'settings', { closedCartItems: 'ignore' }, 400],
    ['GET', 'wait?endpoint=nowhere', undefined, 400],
    ['GET', 'wait?times=0', undefined, 400],
    ['GET', 'wait?plan=17', undefined, 400],
    ['GET', 'nothing', undefined, 404],
    ['PUT', 'settings', {}, 404],
  ])('refuses %s %s %j', async (method, path, body, status) => {
    const { sandbox } = await controlled();
    const before = sandbox.settings;
    const reply = await call(sandbox, method, `/_sandbox/${path}`, body);
    expect(reply.status).toBe(status);
    expect(reply.body).toEqual({ error: expect.any(String) });
    expect(sandbox.settings).toEqual(before);
    expect(sandbox.faults.list()).toEqual([]);
  });
});

describe('who may use it', () => {
  test.each([
    ['127.0.0.1', true],
    ['127.8.0.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['128.0.0.1', false],
    ['2001:db8::1', false],
    ['::127.0.0.1', false],
    [undefined, false],
  ])('%s: %s', (address, may) => {
    expect(isLoopback(address)).toBe(may);
  });

  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

  // Needs an address of this machine that is not loopback; without a network there is none.
  itUnless(outside === undefined ? 'this machine has only loopback addresses' : undefined)(
    'from another address, only the interface itself',
    async () => {
      const sandbox = await startSandbox({ host: '0.0.0.0' });
      const far = { url: `http://${outside}:${new URL(sandbox.url).port}` };
      expect((await call(far, 'GET', '/_sandbox/ledger')).status).toBe(403);
      expect((await add(far)).status).toBe(200);
    },
  );
});
