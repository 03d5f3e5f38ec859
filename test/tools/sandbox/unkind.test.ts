/** What the document does not rule out, and a kind provider does not do. */
import { request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import { cancelledOrders, firewallsOf, openCartItems, orders } from '../../../sandbox/sentences';
import type { Oddity } from '../../../sandbox/fault-kinds';
import type { SandboxOptions } from '../../../sandbox/server';
import { addCartItem, call, closeAll, cloudServer, placeOrder, startSandbox } from './calling';

afterEach(closeAll);

const ids = (...firewalls: number[]) => ({ firewalls: firewalls.map((id) => ({ id })) });
const assign = '/firewalls/assign/object/77';
const list = '/firewalls/object/77';
const server = { vmObjectId: 77, firewalls: [1, 2] };

async function listsAfterAssigning(options: SandboxOptions, times: number) {
  const sandbox = await startSandbox({ firewallListResponse: 'ids', servers: [server], ...options });
  await call(sandbox, 'POST', assign, ids(3));
  const bodies: unknown[] = [];
  for (let nth = 0; nth < times; nth++) bodies.push((await call(sandbox, 'GET', list)).body);
  return bodies;
}

test('a list that lags shows the firewalls of so many looks ago', async () => {
  expect(await listsAfterAssigning({ firewallLag: 2 }, 3)).toEqual([
    [1, 2],
    [1, 2],
    [1, 2, 3],
  ]);
});

test('what a list does not show yet may stand in it as pending', async () => {
  const states = (await listsAfterAssigning({ firewallLag: 1, pendingWhileLagging: true }, 2)) as object[][];
  expect(states[0]).toEqual([
    { id: 1, status: 'active' },
    { id: 2, status: 'active' },
    { id: 3, status: 'pending' },
  ]);
  expect(states[1]).toEqual([1, 2, 3]);
});

test('a page, a pending list and a stale one, on demand', async () => {
  const sandbox = await startSandbox({ servers: [server] });
  await call(sandbox, 'POST', assign, ids(3, 4));
  const listed = async (oddity: Oddity) => {
    sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'odd', oddity });
    return (await call(sandbox, 'GET', list)).body;
  };
  expect(await listed('page')).toMatchObject({ firewalls: [1, 2], total: 4, per_page: 2 });
  expect(await listed('pending')).toMatchObject([1, 2, 3, 4].map((id) => ({ id, status: 'pending' })));
  expect(await listed('stale')).toMatchObject([{ id: 1 }, { id: 2 }]);
});

test('a new server is not ready for so many calls, each server for itself; a maintained one for some later ones', async () => {
  const sandbox = await startSandbox({
    servers: [server],
    unready: [
      { after: 0, calls: 2, statuses: [409], new: true },
      { after: 3, calls: 1, statuses: [423], new: false },
    ],
  });
  await placeOrder(sandbox);
  const statuses = async (id: number) => {
    const seen: number[] = [];
    for (let nth = 0; nth < 5; nth++) seen.push((await call(sandbox, 'GET', `/firewalls/object/${id}`)).status);
    return seen;
  };
  expect(await statuses(9001)).toEqual([409, 409, 200, 423, 200]);
  expect(await statuses(77)).toEqual([200, 200, 200, 423, 200]);
  // The panel is for people.
  sandbox.configure({ unready: [{ after: 0, calls: 100, statuses: [423], new: false }] });
  sandbox.byHand('POST', assign, ids(3));
  expect(firewallsOf(sandbox.ledger, 77)).toEqual([1, 2, 3]);
});

test('an add that arrives during another one of its plan finds the cart locked', async () => {
  const sandbox = await startSandbox({ cartLock: 423 });
  const gate = sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', nth: 1 });
  const first = call(sandbox, 'POST', '/order/add-to-cart', cloudServer);
  await sandbox.whenStruck(gate);
  expect((await call(sandbox, 'POST', '/order/add-to-cart', cloudServer)).status).toBe(423);
  expect((await call(sandbox, 'POST', '/order/add-to-cart', { ...cloudServer, plan_id: 18 })).status).toBe(200);
  sandbox.faults.release(gate);
  expect((await first).status).toBe(200);
  expect((await call(sandbox, 'POST', '/order/add-to-cart', cloudServer)).status).toBe(200);
  expect(openCartItems(sandbox.ledger)).toHaveLength(3);
});

test('the id of a deleted item is given again, and the ledger knows which one is open', async () => {
  const sandbox = await startSandbox({ idsGivenAgain: true });
  const id = await addCartItem(sandbox);
  await call(sandbox, 'DELETE', `/order/cartItems/delete/${id}`);
  expect(openCartItems(sandbox.ledger)).toEqual([]);
  expect(await addCartItem(sandbox, { ...cloudServer, plan_id: 18 })).toBe(id);
  expect(openCartItems(sandbox.ledger)).toMatchObject([{ cartItemId: id, item: { plan_id: 18 } }]);
});

test('an order waits for its payment, and is cancelled by the provider', async () => {
  const sandbox = await startSandbox({ orderResponse: 'pending' });
  const reply = await placeOrder(sandbox);
  expect(reply).toMatchObject({ status: 202, body: { order_id: 701, status: 'pending_payment' } });
  expect((await call(sandbox, 'POST', '/_sandbox/orders/702/cancel')).status).toBe(400);
  expect(cancelledOrders(sandbox.ledger)).toEqual([]);
  await call(sandbox, 'POST', '/_sandbox/orders/701/cancel');
  expect(cancelledOrders(sandbox.ledger)).toEqual(orders(sandbox.ledger));
});

test.each<[Oddity, (text: Buffer) => string]>([
  ['mark', (bytes) => bytes.toString().replace(/^\uFEFF/, '')],
  ['gzip', (bytes) => gunzipSync(bytes).toString()],
  ['deflate', (bytes) => inflateSync(bytes).toString()],
  ['continue', String],
])('answers in the form %s', async (oddity, plain) => {
  const sandbox = await startSandbox({ oddities: [oddity] });
  const statuses: number[] = [];
  const response = await new Promise<{ bytes: Buffer; encoding: string | undefined }>((resolve) => {
    const outgoing = request(`${sandbox.url}/firewalls/object/1`, { agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({ bytes: Buffer.concat(chunks), encoding: incoming.headers['content-encoding'] }),
      );
    });
    outgoing.on('continue', () => statuses.push(100)).end();
  });
  expect(JSON.parse(plain(response.bytes))).toMatchObject({ code: 404 });
  expect(response.bytes.toString()).not.toBe(oddity === 'continue' ? '' : plain(response.bytes));
  expect(statuses).toEqual(oddity === 'continue' ? [100] : []);
  expect(response.encoding).toBe(/gzip|deflate/.exec(oddity)?.[0]);
});

test.each([
  ['text', (text: string) => (JSON.parse(text) as { request: string }).request],
  ['page', (text: string) => /<pre>(.*)<\/pre>/.exec(text)?.[1]?.replaceAll('&quot;', '"').replaceAll('&#039;', "'")],
  ['form', (text: string) => JSON.stringify(Object.fromEntries(new URLSearchParams(text)))],
] as const)('an error quotes the request as %s', async (echoRequests, quoted) => {
  const sandbox = await startSandbox({ echoRequests });
  const item = { billing_cycle: '5', password: `it's "so"` };
  const { text } = await call(sandbox, 'POST', '/order/add-to-cart', item);
  expect(text).not.toContain(JSON.stringify(item));
  expect(JSON.parse(quoted(text) ?? '')).toEqual(item);
});
