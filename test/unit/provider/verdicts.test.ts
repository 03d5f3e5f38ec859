/** The meaning of a status: by the call, and by the age of the server. evidence.test.ts has what is declared. */
import type { ProviderClient } from '../../../src/provider/client';
import type { ProviderFailureName } from '../../../src/provider/errors';
import { added, closeAll, createClient, failureOf, quote, serve, type Answer } from '../../support/stand-in';
import { fc } from '../../support/properties';
import { providerCalls } from '../../support/provider-calls';

afterEach(closeAll);

/** Early: of a new server. */
const calls = {
  ...providerCalls,
  'assign early': (client: ProviderClient) => client.assignFirewalls(1, [2], { serverIsNew: true }),
  'list early': (client: ProviderClient) => client.listFirewalls(1, { serverIsNew: true }),
};
type Name = keyof typeof calls;

/** @returns `done`, or the failure's name */
async function verdict(name: Name, answer: Answer): Promise<string> {
  const { url } = await serve(answer);
  return calls[name](createClient(url)).then(
    () => 'done',
    (error: unknown) => (error as Error).name,
  );
}

const error = '{"message":"why"}';
const isUnsafe = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value);

// All statuses: docs/statuses.md, which is printed from the code.
test.each<[number, Partial<Record<Name, ProviderFailureName | 'done'>>]>([
  [400, { order: 'Rejected', assign: 'Rejected', 'assign early': 'NotYet', 'list early': 'NotYet' }],
  [404, { order: 'Rejected', delete: 'done', assign: 'Rejected', list: 'Rejected', directory: 'NotYet' }],
  [404, { 'list early': 'NotYet' }],
  [409, { order: 'UnknownOutcome', add: 'NotYet', delete: 'NotYet', assign: 'Rejected', 'assign early': 'NotYet' }],
  [422, { order: 'Rejected', add: 'Rejected', assign: 'Rejected', 'assign early': 'NotYet' }],
  [423, { order: 'UnknownOutcome', add: 'NotYet', quote: 'NotYet', assign: 'NotYet', list: 'NotYet' }],
  [429, { order: 'RateLimited', add: 'RateLimited' }],
  [503, { order: 'UnknownOutcome', assign: 'UnknownOutcome', directory: 'UnknownOutcome' }],
])('%i', async (status, expected) => {
  for (const [name, means] of Object.entries(expected)) {
    expect([name, await verdict(name as Name, { status, body: error })]).toEqual([name, means]);
  }
});

test.each([
  ['delete', 'done'],
  ['directory', 'NotYet'],
] as const)('a 404 with a page for people says nothing of what is there: %s', async (name, there) => {
  const page = { status: 404, body: '<html><h1>Not Found</h1></html>' };
  expect(await verdict(name, page)).toBe('UnexpectedResponse');
  for (const body of ['', '{"message":"no such item"}']) expect(await verdict(name, { status: 404, body })).toBe(there);
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
    const answer = await calls.order(createClient(url));
    expect(JSON.stringify(answer)).toBe(`{"order_id":"9007199254740993","total":"1e400",${rest}`);
  });

  test('and all other JSON, survive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (object) => {
        const body = JSON.stringify({ order: object });
        const { url } = await serve({ body });
        const kept = (_: string, value: unknown) => (isUnsafe(value) ? String(value) : value);
        const expected = JSON.stringify(JSON.parse(body), kept);
        expect(JSON.stringify(await calls.order(createClient(url)))).toBe(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('a field that is named twice, with two values, is unreadable', async () => {
    expect(await verdict('order', { body: '{"code":200,"code":400}' })).toBe('UnknownOutcome');
  });
});

test.each([
  ['a code that is missing', { ...added, data: {} }, 200],
  ['another code', { ...added, data: { code: 201 } }, 200],
  ['a server error', { '0': '4711' }, 500],
])('the id of an item that came with %s is known', async (_, body, status) => {
  const { url } = await serve({ status, body: JSON.stringify(body) });
  expect(await failureOf(createClient(url).addCartItem({ billing_cycle: 1 }))).toMatchObject({ cartItemId: 4711 });
});
