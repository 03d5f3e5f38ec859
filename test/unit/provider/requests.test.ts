import { closeAll, createClient, added, quote, serve, failureOf } from '../../support/stand-in';
import type { ProviderClient, ProviderClientOptions } from '../../../src/provider/client';

afterEach(closeAll);

const order = { account: 'ab-12', label: 'web', cartItems: [1, 2], payment_type: 'ccard' } as const;
const item = {
  billing_cycle: 12,
  plan_id: 3,
  plan_type: 'cloud_servers_standard',
  quantity: 2,
  addons: [{ id: 9, additional_value: 1 }],
  password: 'pässwörd"1',
  os_template_id: 5,
  custom_ssh_key: undefined,
} as const;
const change = { subscription_id: 8, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] };
const changeQuote = { ...quote, inapplicable_resources: [] };

interface Row {
  row: string;
  act: (client: ProviderClient) => Promise<unknown>;
  sends: [method: string, path: string, body: unknown];
  answer: unknown;
  returns: unknown;
  options?: Partial<ProviderClientOptions>;
}

const rows: Row[] = [
  {
    row: '1 placeOrder',
    act: (client) => client.placeOrder(order),
    sends: ['POST', '/order', order],
    answer: { id: 77, anything: [1] },
    returns: { id: 77, anything: [1] },
  },
  {
    row: '2 addCartItem',
    act: (client) => client.addCartItem(item),
    sends: ['POST', '/order/add-to-cart', JSON.parse(JSON.stringify(item))],
    answer: added,
    returns: { cartItemId: 4711 },
  },
  {
    row: '3 deleteCartItem',
    act: (client) => client.deleteCartItem(4711),
    sends: ['DELETE', '/order/cartItems/delete/4711', undefined],
    answer: { whatever: true },
    returns: undefined,
  },
  {
    row: '4 placeChangeOrder',
    act: (client) => client.placeChangeOrder(change),
    sends: ['POST', '/order/changeorder', change],
    answer: 'fine',
    returns: 'fine',
  },
  {
    row: '5 quoteChangeOrder',
    act: (client) => client.quoteChangeOrder(change),
    sends: ['PUT', '/order/changeorder/total', change],
    answer: changeQuote,
    returns: changeQuote,
  },
  {
    row: '5 quoteChangeOrder by GET',
    act: (client) => client.quoteChangeOrder(change),
    sends: ['GET', '/order/changeorder/total', change],
    answer: changeQuote,
    returns: changeQuote,
    options: { quoteMethod: 'GET' },
  },
  {
    row: '6 switchPlan',
    act: (client) => client.switchPlan(8, 31),
    sends: ['PUT', '/order/switch/8', { plan_id: 31 }],
    answer: { ...quote, extra: 1 },
    returns: { ...quote, extra: 1 },
  },
  {
    row: '7 quotePlanSwitch',
    act: (client) => client.quotePlanSwitch({ subscription_id: 8, plan_id: 31 }),
    sends: ['PUT', '/order/switch/total', { subscription_id: 8, plan_id: 31 }],
    answer: quote,
    returns: quote,
  },
  {
    row: '8 assignFirewalls',
    act: (client) => client.assignFirewalls(55, [1, 2]),
    sends: ['POST', '/firewalls/assign/object/55', { firewalls: [{ id: 1 }, { id: 2 }] }],
    answer: null,
    returns: null,
  },
  {
    row: '9 unassignFirewalls',
    act: (client) => client.unassignFirewalls(55, [1]),
    sends: ['POST', '/firewalls/unassign/object/55', { firewalls: [{ id: 1 }] }],
    answer: {},
    returns: {},
  },
  {
    row: '10 listFirewalls',
    act: (client) => client.listFirewalls(55),
    sends: ['GET', '/firewalls/object/55', undefined],
    answer: [{ id: 1 }],
    returns: [{ id: 1 }],
  },
  {
    row: 'extension findServers',
    act: (client) =>
      client.findServers({ path: '/servers?account={account}&label={label}', account: 'ab-12', label: 'a b/&ü' }),
    sends: ['GET', '/servers?account=ab-12&label=a%20b%2F%26%C3%BC', undefined],
    answer: [1],
    returns: [1],
  },
];

test.each(rows)('row $row goes out and comes back as documented', async ({ act, sends, answer, returns, options }) => {
  const server = await serve({ body: JSON.stringify(answer) });
  const credentials = { read: async () => 't0ken', reread: async () => 't0ken' };

  const returned = await act(createClient(`${server.url}/api/v1/`, { credentials, ...options }));

  const [method, path, body] = sends;
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
  expect(returned).toEqual(returns);
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
  for (const id of [
    0,
    -1,
    1.5,
    NaN,
    Infinity,
    2 ** 53,
    '7/../8' as unknown as number,
    undefined as unknown as number,
  ]) {
    const failure = await failureOf(act(client, id));
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
