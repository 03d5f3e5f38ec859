/** What an answer means: by the call, by the status, by what the body says, by the age of the server. */
import type { ProviderClient, ProviderClientOptions } from '../../../src/provider/client';
import type { ProviderFailureName } from '../../../src/provider/errors';
import { signIn } from '../../../src/provider/verdicts';
import { added, closeAll, createClient, failureOf, serve, type Answer } from '../../support/stand-in';
import { fc } from '../../support/properties';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };
const calls = {
  pivot: (client: ProviderClient) => client.placeOrder(order),
  add: (client: ProviderClient) => client.addCartItem({ billing_cycle: 1 }),
  delete: (client: ProviderClient) => client.deleteCartItem(1),
  quote: (client: ProviderClient) => client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
  assign: (client: ProviderClient) => client.assignFirewalls(1, [2]),
  'assign to a new server': (client: ProviderClient) => client.assignFirewalls(1, [2], { serverIsNew: true }),
  list: (client: ProviderClient) => client.listFirewalls(1),
  'list of a new server': (client: ProviderClient) => client.listFirewalls(1, { serverIsNew: true }),
  directory: (client: ProviderClient) => client.findServers({ path: '/servers' }),
};
type Name = keyof typeof calls;

/** @returns `done`, or the failure's name */
async function verdict(name: Name, answer: Answer, options: Partial<ProviderClientOptions> = {}): Promise<string> {
  const { url } = await serve(answer);
  return calls[name](createClient(url, options)).then(
    () => 'done',
    (error: unknown) => (error as Error).name,
  );
}

const error = '{"message":"why"}';
const isUnsafe = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);

test.each<[number, Partial<Record<Name, ProviderFailureName | 'done'>>]>([
  [
    400,
    { pivot: 'Rejected', assign: 'Rejected', 'assign to a new server': 'NotYet', 'list of a new server': 'NotYet' },
  ],
  [401, { pivot: 'Unauthorized', add: 'Unauthorized', 'list of a new server': 'Unauthorized' }],
  [403, { pivot: 'Unauthorized', delete: 'Unauthorized' }],
  [404, { pivot: 'Rejected', delete: 'done', list: 'Rejected', 'list of a new server': 'NotYet', directory: 'NotYet' }],
  [408, { pivot: 'UnknownOutcome', add: 'UnknownOutcome', list: 'UnknownOutcome' }],
  [
    409,
    {
      pivot: 'UnknownOutcome',
      add: 'NotYet',
      delete: 'NotYet',
      assign: 'Rejected',
      'assign to a new server': 'NotYet',
    },
  ],
  [410, { pivot: 'UnknownOutcome', delete: 'done', quote: 'Rejected' }],
  [418, { pivot: 'UnknownOutcome', add: 'Rejected' }],
  [422, { pivot: 'Rejected', add: 'Rejected', assign: 'Rejected', 'assign to a new server': 'NotYet' }],
  [423, { pivot: 'UnknownOutcome', add: 'NotYet', quote: 'NotYet', assign: 'NotYet', list: 'NotYet' }],
  [425, { pivot: 'UnknownOutcome', assign: 'NotYet', 'list of a new server': 'NotYet' }],
  [429, { pivot: 'RateLimited', add: 'RateLimited' }],
  [451, { pivot: 'UnknownOutcome', quote: 'Rejected' }],
  [499, { pivot: 'UnknownOutcome', add: 'UnknownOutcome' }],
  [503, { pivot: 'UnknownOutcome', assign: 'UnknownOutcome', directory: 'UnknownOutcome' }],
  [520, { pivot: 'UnknownOutcome' }],
])('%i', async (status, expected) => {
  for (const [name, means] of Object.entries(expected)) {
    expect([name, await verdict(name as Name, { status, body: error })]).toEqual([name, means]);
  }
});

test('a status after which this provider may have placed it is no refusal of a pivot, and the only one', async () => {
  const pivotUnsureStatuses = [401, 403, 422];
  for (const status of pivotUnsureStatuses) {
    expect(await verdict('pivot', { status, body: error }, { pivotUnsureStatuses })).toBe('UnknownOutcome');
    expect(await verdict('add', { status, body: error }, { pivotUnsureStatuses })).not.toBe('UnknownOutcome');
  }
  expect(await verdict('pivot', { status: 400, body: error }, { pivotUnsureStatuses })).toBe('Rejected');
});

describe('a success that says no', () => {
  /** What PHP hosting software, gateways and GraphQL answer with status 200. */
  const refusals: unknown[] = [
    { success: false, error: 'Insufficient account balance' },
    { success: 'false' },
    { success: 0 },
    { ok: false },
    { result: 'error', message: 'Payment method declined' },
    { status: 'error', data: null },
    { status: false },
    { Status: 'FAILED' },
    { status: 402, message: 'no' },
    { statusCode: 500 },
    { data: { message: 'Order could not be created', code: '400' } },
    { data: { code: 500 } },
    { code: 422 },
    { code: '409' },
    { error: 'declined' },
    { errors: [{ message: 'no' }] },
    { errors: { plan_id: ['is unknown'] } },
    { data: { success: false } },
    { data: [{ success: false }] },
    { result: { status: 'failed' } },
    { meta: { code: 400 } },
    { has_error: true },
    { failed: 1 },
    { error_code: 17 },
    { exception: 'RuntimeException' },
    false,
    'error',
    { data: false },
    { success: true, error: 'Insufficient funds' },
    { code: 'INSUFFICIENT_FUNDS' },
    { metadata: { result: 0 } },
    { order: { status: 'rejected' } },
    { data: { order: { status: 'cancelled' } } },
    { result: { error: { message: 'no' } } },
    { order_id: 5, status: 'fraud' },
  ];
  test.each(refusals.map((body) => [JSON.stringify(body)]))('%s', async (body) => {
    const server = await serve({ body });
    const client = createClient(server.url);
    const placed = await failureOf(client.placeOrder(order));
    expect(placed.name).toBe('UnknownOutcome');
    expect(placed.message).toMatch(/^POST \/order was answered 200, and says /);
    for (const name of ['delete', 'assign', 'list', 'directory'] as const) {
      const failure = await failureOf(calls[name](client));
      expect(['Rejected', 'NotYet', 'UnknownOutcome', 'Unauthorized', 'RateLimited']).toContain(failure.name);
    }
  });

  test.each([
    [{ message: 'Insufficient credit' }],
    [{ data: { msg: 'The order could not be placed.' } }],
    [{ detail: 'Payment declined' }],
    [{ ack: false }],
  ])('%j is not known to be one, where the document shows none', async (body) => {
    for (const name of ['pivot', 'delete', 'assign'] as const) {
      expect(['UnknownOutcome', 'Rejected']).toContain(await verdict(name, { body: JSON.stringify(body) }));
    }
    expect(await verdict('pivot', { body: JSON.stringify(body) })).toBe('UnknownOutcome');
  });

  test.each([
    [null],
    [[]],
    [{}],
    ['created'],
    [{ order_id: 5, status: 'active' }],
    [{ status: 'pending_payment' }],
    [{ success: true, error: null, errors: [] }],
    [{ result: 'success', code: 'OK', error: '' }],
    [{ data: { code: 200, message: 'error-free' } }],
    [{ message: 'Placed without errors' }],
    [{ code: '201', failed: 0, failure: null }],
    [{ status: 1, error: false, error_code: 0 }],
    [{ customer: { code: 500, success: false } }],
  ])('%j is a success', async (body) => {
    expect(signIn(body, 'pivot')).toBeUndefined();
    expect(await verdict('pivot', { body: JSON.stringify(body) })).toBe('done');
  });
});

describe('PLACED_IF', () => {
  const placedIf = [{ pointer: '/order_id' }, { pointer: '/status', is: 'ok' }];
  test.each([
    [{ order_id: 5, status: 'ok' }, 'done'],
    [{ order_id: 5 }, 'UnknownOutcome'],
    [{ order_id: null, status: 'ok' }, 'UnknownOutcome'],
    [{ order_id: 5, status: 'queued' }, 'UnknownOutcome'],
    [null, 'UnknownOutcome'],
  ])('an order answered with %j: %s', async (body, expected) => {
    expect(await verdict('pivot', { body: JSON.stringify(body) }, { placedIf })).toBe(expected);
  });
});

describe('numbers', () => {
  test('and all other JSON, survive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (object) => {
        // The name keeps any sign from being one.
        const body = JSON.stringify({ order: object });
        const { url } = await serve({ body });
        const kept = (_: string, value: unknown) => (isUnsafe(value) ? String(value) : value);
        const expected = JSON.stringify(JSON.parse(body), kept);
        expect(JSON.stringify(await createClient(url).placeOrder(order))).toBe(expected);
      }),
      { numRuns: 30 },
    );
  });
});

test.each([
  ['a code that is missing', { ...added, data: {} }, 200],
  ['another code', { ...added, data: { code: 201 } }, 200],
  ['a refusal', { ...added, success: false }, 200],
  ['a server error', { '0': '4711' }, 500],
])('the id of an item that came with %s is known', async (_, body, status) => {
  const { url } = await serve({ status, body: JSON.stringify(body) });
  expect(await failureOf(createClient(url).addCartItem({ billing_cycle: 1 }))).toMatchObject({ cartItemId: 4711 });
});
