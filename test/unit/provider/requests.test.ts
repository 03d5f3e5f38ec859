import { closeAll, createClient, added, quote, serve, failureOf } from '../../support/stand-in';
import type { ProviderClient } from '../../../src/provider/client';
import type { CartItemBody, ChangeOrderBody } from '../../../src/provider/schemas';

afterEach(closeAll);

const order = { account: 'ab-12', label: 'web', cartItems: [1, 2], payment_type: 'ccard' } as const;
const item: CartItemBody = {
  billing_cycle: 12,
  plan_id: 3,
  plan_type: 'cloud_servers_standard',
  quantity: 2,
  addons: [{ id: 9, additional_value: 1 }],
  password: 'pässwörd"1',
  os_template_id: 5,
  custom_ssh_key: undefined,
};
const change: ChangeOrderBody = { subscription_id: 8, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] };
const changeQuote = { ...quote, inapplicable_resources: [] };

type Act = (client: ProviderClient) => Promise<unknown>;

const itemAsJson = JSON.parse(JSON.stringify(item)) as object;
const [one, two] = [{ firewalls: [{ id: 1 }] }, { firewalls: [{ id: 1 }, { id: 2 }] }];
const toSwitch = { subscription_id: 8, plan_id: 31 };
const directory = { path: '/servers?account={account}&label={label}', account: 'ab-12', label: 'a b/&ü' };
const found = '/servers?account=ab-12&label=a%20b%2F%26%C3%BC';

const listed: Act = async (client) => (await client.listFirewalls(55)).body;
/** If nothing else is said, the answer is returned as it came. */
const rows: [row: string, act: Act, sends: string, body: unknown, answer: unknown, returns?: unknown][] = [
  ['1 placeOrder', (to) => to.placeOrder(order), 'POST /order', order, { id: 77, anything: [1] }],
  ['2 addCartItem', (to) => to.addCartItem(item), 'POST /order/add-to-cart', itemAsJson, added, { cartItemId: 4711 }],
  ['3 deleteCartItem', (to) => to.deleteCartItem(4711), 'DELETE /order/cartItems/delete/4711', undefined, {}, null],
  ['4 placeChangeOrder', (to) => to.placeChangeOrder(change), 'POST /order/changeorder', change, 'fine'],
  ['5 quoteChangeOrder', (to) => to.quoteChangeOrder(change), 'PUT /order/changeorder/total', change, changeQuote],
  ['6 switchPlan', (to) => to.switchPlan(8, 31), 'PUT /order/switch/8', { plan_id: 31 }, { ...quote, extra: 1 }],
  ['7 quotePlanSwitch', (to) => to.quotePlanSwitch(toSwitch), 'PUT /order/switch/total', toSwitch, quote],
  ['8 assignFirewalls', (to) => to.assignFirewalls(55, [1, 2]), 'POST /firewalls/assign/object/55', two, true],
  ['9 unassignFirewalls', (to) => to.unassignFirewalls(55, [1]), 'POST /firewalls/unassign/object/55', one, true],
  ['10 listFirewalls', listed, 'GET /firewalls/object/55', undefined, [1]],
  ['extension findServers', (to) => to.findServers(directory), `GET ${found}`, undefined, [1]],
];

test.each(rows)('row %s goes out and comes back as documented', async (...row) => {
  const [, act, sends, body, answer, returns = answer] = row;
  const server = await serve({ body: JSON.stringify(answer) });
  const readToken = () => 't0ken';

  const returned = await act(createClient(`${server.url}/api/v1/`, { readToken }));

  const [method, path] = sends.split(' ');
  expect(server.seen).toHaveLength(1);
  const [request] = server.seen;
  expect(request).toMatchObject({ method, path: `/api/v1${path}` });
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer t0ken',
    accept: 'application/json',
    host: new URL(server.url).host,
  });
  if (body === undefined) {
    expect(request?.body).toBe('');
    expect(request?.headers).not.toHaveProperty('content-type');
    expect(Number(request?.headers['content-length'] ?? 0)).toBe(0);
  } else {
    expect(JSON.parse(request?.body ?? '')).toEqual(body);
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(request?.body ?? '')),
    });
  }
  expect(returned ?? null).toEqual(returns);
});

test('a quote of a change may be asked for by GET', async () => {
  const server = await serve({ body: JSON.stringify(changeQuote) });
  expect(await createClient(server.url, { quoteMethod: 'GET' }).quoteChangeOrder(change)).toEqual(changeQuote);
  expect(server.seen).toMatchObject([
    { method: 'GET', path: '/order/changeorder/total', body: JSON.stringify(change) },
  ]);
});

test.each([
  ['Token', 'Token t0ken'],
  ['', 't0ken'],
])('the token goes in the header that is wanted, behind the word %j', async (authScheme, sent) => {
  const server = await serve({ body: '[]' });
  const readToken = () => 't0ken';
  await createClient(server.url, { readToken, authHeader: 'X-Api-Key', authScheme }).listFirewalls(55);
  expect(server.seen[0]?.headers).toMatchObject({ 'x-api-key': sent });
  expect(server.seen[0]?.headers).not.toHaveProperty('authorization');
});

const idTakers: [string, (client: ProviderClient, id: number) => Promise<unknown>][] = [
  ['deleteCartItem', (client, id) => client.deleteCartItem(id)],
  ['switchPlan', (client, id) => client.switchPlan(id, 1)],
  ['assignFirewalls', (client, id) => client.assignFirewalls(id, [])],
  ['unassignFirewalls', (client, id) => client.unassignFirewalls(id, [])],
  ['listFirewalls', (client, id) => client.listFirewalls(id)],
];
test.each(idTakers)('%s sends nothing for an id that is none', async (_, act) => {
  const server = await serve({});
  const client = createClient(server.url);
  for (const id of [0, -1, 1.5, NaN, Infinity, 2 ** 53, '7/../8', undefined]) {
    const failure = await failureOf(act(client, id as number));
    expect(failure.name).toBe('Rejected');
    expect(failure.status).toBeUndefined();
    expect(failure.message).toContain('was not sent');
  }
  expect(server.seen).toEqual([]);
});

test.each([
  ['/servers/{label}', { label: '..' }],
  ['/servers/{label}', {}],
  ['/servers/{nobody}', { label: 'a' }],
  ['//elsewhere.example/servers', {}],
  ['servers', {}],
  ['/servers#all', {}],
  ['/ser vers', {}],
  ['/servers/{label}', { label: '\ud800' }],
])('the server directory %s with %j is not asked', async (path, values) => {
  const server = await serve({});
  const failure = await failureOf(createClient(server.url).findServers({ path, ...values }));
  expect(failure.name).toBe('Rejected');
  expect(server.seen).toEqual([]);
});
