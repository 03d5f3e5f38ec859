/** The meaning of an answer: by the call, by the status, by what the body says, by the age of the server. */
import type { ProviderClient, ProviderClientOptions } from '../../../src/provider/client';
import type { ProviderFailureName } from '../../../src/provider/errors';
import { signIn } from '../../../src/provider/verdicts';
import { added, closeAll, createClient, failureOf, quote, serve, type Answer, reading } from '../../support/stand-in';
import { fc } from '../../support/properties';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };
/** Early: of a new server. */
const calls = {
  pivot: (client: ProviderClient) => client.placeOrder(order),
  add: (client: ProviderClient) => client.addCartItem({ billing_cycle: 1 }),
  delete: (client: ProviderClient) => client.deleteCartItem(1),
  quote: (client: ProviderClient) => client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
  assign: (client: ProviderClient) => client.assignFirewalls(1, [2]),
  'assign early': (client: ProviderClient) => client.assignFirewalls(1, [2], { serverIsNew: true }),
  list: (client: ProviderClient) => client.listFirewalls(1),
  'list early': (client: ProviderClient) => client.listFirewalls(1, { serverIsNew: true }),
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

// All statuses: docs/failures.md, which is printed from the code.
test.each<[number, Partial<Record<Name, ProviderFailureName | 'done'>>]>([
  [400, { pivot: 'Rejected', assign: 'Rejected', 'assign early': 'NotYet', 'list early': 'NotYet' }],
  [404, { pivot: 'Rejected', delete: 'done', assign: 'Rejected', list: 'Rejected', directory: 'NotYet' }],
  [404, { 'list early': 'NotYet' }],
  [409, { pivot: 'UnknownOutcome', add: 'NotYet', delete: 'NotYet', assign: 'Rejected', 'assign early': 'NotYet' }],
  [422, { pivot: 'Rejected', add: 'Rejected', assign: 'Rejected', 'assign early': 'NotYet' }],
  [423, { pivot: 'UnknownOutcome', add: 'NotYet', quote: 'NotYet', assign: 'NotYet', list: 'NotYet' }],
  [429, { pivot: 'RateLimited', add: 'RateLimited' }],
  [503, { pivot: 'UnknownOutcome', assign: 'UnknownOutcome', directory: 'UnknownOutcome' }],
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
  // Then another token is no reason to send it again.
  const { url, seen } = await serve({ status: 401 });
  const readToken = reading('old', 'new');
  await failureOf(createClient(url, { pivotUnsureStatuses, readToken }).placeOrder(order));
  expect(seen).toHaveLength(1);
});

describe('a success that says no', () => {
  /** PHP hosting software, gateways and GraphQL answer so with status 200. */
  const refusals: unknown[] = [
    ...[{ success: false, error: 'Insufficient account balance' }, { success: 'false' }, { success: 0 }, { ok: false }],
    ...[{ result: 'error', message: 'Payment method declined' }, { status: 'error', data: null }, { status: false }],
    ...[{ Status: 'FAILED' }, { status: 402, message: 'no' }, { statusCode: 500 }, { code: 422 }, { code: '409' }],
    ...[{ data: { message: 'Order could not be created', code: '400' } }, { data: { code: 500 } }, { data: false }],
    ...[{ error: 'declined' }, { errors: [{ message: 'no' }] }, { errors: { plan_id: ['is unknown'] } }],
    ...[{ data: { success: false } }, { data: [{ success: false }] }, { result: { status: 'failed' } }],
    ...[{ meta: { code: 400 } }, { has_error: true }, { failed: 1 }, { error_code: 17 }, false, 'error'],
    ...[{ exception: 'RuntimeException' }, { success: true, error: 'Insufficient funds' }],
    ...[{ code: 'INSUFFICIENT_FUNDS' }, { metadata: { result: 0 } }, { order: { status: 'rejected' } }],
    ...[{ data: { order: { status: 'cancelled' } } }, { result: { error: { message: 'no' } } }],
    ...[
      { placed: 1, failed: 2 },
      { order_id: 5, rejected: [{ plan_id: 17 }] },
    ],
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

  const declined = 'Payment declined';
  test.each([
    ...[{ message: declined }, { data: { msg: 'The order could not be placed.' } }, { detail: declined }],
    ...[{ message: [declined] }, { message: { text: declined } }, { messages: [declined] }, declined, { ack: false }],
    ...[{ message: 'Order was not created' }, { message: 'No such account' }, { message: 'Credit limit reached' }],
    ...[{ status: 'payment_failed' }, { result: 'Order could not be placed' }, { order: { state: 'CARD_DECLINED' } }],
  ])('%j is not known to be one, where the document shows none', async (body) => {
    for (const name of ['pivot', 'delete', 'assign'] as const) {
      expect(['UnknownOutcome', 'Rejected']).toContain(await verdict(name, { body: JSON.stringify(body) }));
    }
    expect(await verdict('pivot', { body: JSON.stringify(body) })).toBe('UnknownOutcome');
  });

  test.each([false, 'false', 0])('nobody knows whether what is not available (%j) was placed', async (available) => {
    expect(await verdict('pivot', { body: JSON.stringify({ available, total: 5 }) })).toBe('UnknownOutcome');
  });

  test.each([
    ['delete', 'done'],
    ['directory', 'NotYet'],
  ] as const)('a 404 with a page for people says nothing of what is there: %s', async (name, there) => {
    const page = { status: 404, body: '<html><h1>Not Found</h1></html>' };
    expect(await verdict(name, page)).toBe('UnexpectedResponse');
    for (const body of ['', '{"message":"no such item"}'])
      expect(await verdict(name, { status: 404, body })).toBe(there);
  });

  test('what was not deleted is no success of a delete, and a property of anything else', async () => {
    const body = JSON.stringify({ order_id: 5, deleted: false });
    expect(await verdict('delete', { body })).toBe('UnknownOutcome');
    for (const name of ['pivot', 'assign'] as const) expect(await verdict(name, { body })).toBe('done');
    const added = JSON.stringify({ '0': 5, data: { code: 200 }, deleted: false, processed: false });
    expect(await verdict('add', { body: added })).toBe('done');
  });

  test('what the document shows is a success, whatever its message says', async () => {
    const body = JSON.stringify({ '0': 5, data: { code: 200, message: 'Added. The coupon is invalid.' } });
    expect(await verdict('add', { body })).toBe('done');
  });

  test.each([[{ code: 0 }], [{ code: 1000 }], [{ code: 400.5 }], [{ data: { code: '0' } }], [{ status: 0 }]])(
    '%j may say anything: nothing is sure',
    async (body) => {
      for (const name of ['pivot', 'delete', 'list'] as const) {
        expect(await verdict(name, { body: JSON.stringify(body) })).toBe('UnknownOutcome');
      }
    },
  );

  test.each([
    [404, 'delete', 'done'],
    [410, 'delete', 'done'],
    [409, 'add', 'NotYet'],
    [429, 'list', 'RateLimited'],
    [401, 'assign', 'Unauthorized'],
    [503, 'delete', 'UnknownOutcome'],
    [422, 'assign', 'Rejected'],
  ] as const)('a code of %i to %s means what the status means: %s', async (code, name, means) => {
    expect(await verdict(name, { body: JSON.stringify({ data: { code, message: 'no' } }) })).toBe(means);
  });

  const successes: unknown[] = [
    ...[null, [], {}, 'created', { order_id: 5, status: 'active' }, { status: 'pending_payment' }],
    ...[
      { success: true, error: null, errors: [] },
      { result: 'success', code: 'OK', error: '' },
    ],
    ...[{ data: { code: 200, message: 'error-free' } }, { message: 'Placed without errors' }],
    ...[
      { code: '201', failed: 0, failure: null },
      { status: 1, error: false, error_code: 0 },
      { status: 'no_error', failed: [], rejected: 'none', declined: 'n' },
    ],
    { customer: { code: 500, success: false } },
  ];
  test.each(successes.map((body) => [body]))('%j is a success', async (body) => {
    expect(signIn(body, 'pivot')).toBeUndefined();
    expect(await verdict('pivot', { body: JSON.stringify(body) })).toBe('done');
  });

  const [failed, gone] = [
    { id: 1, status: 'error' },
    { id: 2, state: 'cancelled', success: false },
  ];
  test.each([
    [{ data: [failed, gone] }],
    [[{ id: 1, error: 'disk', status: 0 }]],
    [{ firewalls: [{ id: 1, status: 'failed' }] }],
  ])('is not what an element of a list says of itself: %j', async (body) => {
    for (const name of ['list', 'directory'] as const) {
      expect(await verdict(name, { body: JSON.stringify(body) })).toBe('done');
    }
  });

  test('is found wherever it stands beside other fields, in any order', () => {
    const honest = fc.dictionary(fc.constantFrom('id', 'label', 'order', 'note', 'items'), fc.jsonValue());
    const sign = fc.constantFrom<object>({ success: false }, { status: 'error' }, { code: '400' }, { errors: ['x'] });
    fc.assert(
      fc.property(honest, honest, sign, fc.boolean(), (before, after, no, inData) => {
        const body = inData ? { ...before, data: { ...after, ...no } } : { ...before, ...no, ...after };
        expect(signIn(JSON.parse(JSON.stringify(body)), 'pivot')).toBeDefined();
      }),
    );
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

  test('says what was to be found, and asks nothing of other calls', async () => {
    const { url } = await serve({ body: '{"status":"ok"}' });
    const client = createClient(url, { placedIf });
    expect((await failureOf(client.placeOrder(order))).message).toContain('there is nothing at /order_id');
    expect(await client.deleteCartItem(1)).toBeUndefined();
  });
});

describe('numbers', () => {
  test('that are documented may come as numeric strings', async () => {
    const body = JSON.stringify({ '0': '501', data: { message: 'added', code: '200' } });
    const { url } = await serve({ body }, { body: JSON.stringify({ ...quote, total: '12.50' }) });
    const client = createClient(url);
    expect(await client.addCartItem({ billing_cycle: 1 })).toEqual({ cartItemId: 501 });
    expect(await client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 })).toMatchObject({ total: 12.5 });
  });

  test('that JavaScript cannot hold are kept as they came', async () => {
    const rest = '"share":0.1,"__proto__":{"a":1}}';
    const { url } = await serve({ body: `{"order_id":9007199254740993,"total":1e400,${rest}` });
    const answer = await createClient(url).placeOrder(order);
    expect(JSON.stringify(answer)).toBe(`{"order_id":"9007199254740993","total":"1e400",${rest}`);
  });

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

  test('a field that is named twice, with two values, is unreadable', async () => {
    expect(await verdict('pivot', { body: '{"code":200,"code":400}' })).toBe('UnknownOutcome');
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
