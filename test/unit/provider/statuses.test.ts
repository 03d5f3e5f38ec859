import { NotSent, RateLimited, UnexpectedResponse, UnknownOutcome } from '../../../src/provider/errors';
import { closeAll, createClient, failureOf, quote, serve } from '../../support/stand-in';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };

test('a redirect is not followed, with the token or without', async () => {
  const elsewhere = await serve({});
  const server = await serve({ status: 307, headers: { location: `${elsewhere.url}/order` } });
  const failure = await failureOf(createClient(server.url).placeOrder(order));
  expect(failure).toBeInstanceOf(UnexpectedResponse);
  expect(elsewhere.seen).toEqual([]);
});

describe('deleting an item that is not there', () => {
  test.each([
    ['by status', { status: 404, body: '{"message":"Not found"}' }],
    ['because it has expired', { status: 410, body: '{"message":"cart item has expired"}' }],
    ['by the body’s code', { status: 200, body: '{"data":{"code":404}}' }],
    ['with an empty 404', { status: 404, body: '' }],
  ])('is done: %s', async (_, answer) => {
    const server = await serve(answer);
    expect(await createClient(server.url).deleteCartItem(1)).toBeUndefined();
  });
});

describe('a success without a body', () => {
  test('is an unknown outcome where the document shows one', async () => {
    const server = await serve({ status: 200, body: '' });
    const client = createClient(server.url);
    const change = { subscription_id: 1, resources: [] };
    for (const call of [
      client.addCartItem({ billing_cycle: 1 }),
      client.quoteChangeOrder(change),
      client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
      client.switchPlan(1, 2),
    ]) {
      expect(await failureOf(call)).toBeInstanceOf(UnknownOutcome);
    }
  });
});

describe('a success that cannot be read', () => {
  test.each([
    ['a page', '<html>welcome</html>'],
    ['JSON cut short', '{"id": 1'],
    ['no text', '\u0000\u0001'],
    ['absurd nesting', '['.repeat(20_000) + ']'.repeat(20_000)],
  ])('is an unknown outcome: %s', async (_, body) => {
    const server = await serve({ body });
    const client = createClient(server.url);
    expect(await failureOf(client.placeOrder(order))).toBeInstanceOf(UnknownOutcome);
    expect(await failureOf(client.deleteCartItem(1))).toBeInstanceOf(UnknownOutcome);
  });

  test.each([
    ['available', 'yes'],
    ['total', '12,50'],
    ['total', null],
    ['currency', 'EUR'],
    ['currency', ''],
    ['date_from', '01.02.2026'],
    ['date_from', '2026-02-30'],
    ['date_to', '2026-01-01T00:00:00Z'],
    ['date_to', undefined],
  ])('a quote whose %s is %j is an unknown outcome that names it', async (field, value) => {
    const server = await serve({ body: JSON.stringify({ ...quote, inapplicable_resources: [], [field]: value }) });
    const client = createClient(server.url);
    for (const call of [
      client.switchPlan(1, 2),
      client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
      client.quoteChangeOrder({ subscription_id: 1, resources: [] }),
    ]) {
      const failure = await failureOf(call);
      expect(failure).toBeInstanceOf(UnknownOutcome);
      expect(failure.message).toContain(field);
    }
  });
});

describe('a long body', () => {
  const json = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

  test('is read up to the limit and not a byte further', async () => {
    const server = await serve({ body: json(2000) }, { body: json(2001) });
    const client = createClient(server.url, { responseBytesMax: 2000 });
    expect(await client.placeOrder(order)).toHaveLength(1998);
    const failure = await failureOf(client.placeOrder(order));
    expect(failure).toBeInstanceOf(UnknownOutcome);
    expect(failure.message).toContain('2000 bytes');
  });
});

describe('Retry-After', () => {
  const now = () => Date.UTC(2026, 0, 1, 12, 0, 0);
  test.each([
    ['7', 7000],
    ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s is %s ms', async (header, retryAfterMs) => {
    const server = await serve({ status: 429, headers: header === undefined ? {} : { 'retry-after': header } });
    const failure = await failureOf(createClient(server.url, { now }).placeOrder(order));
    expect(failure).toBeInstanceOf(RateLimited);
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });
});

describe('a 401', () => {
  test('is tried once more with a renewed token, for a pivot too', async () => {
    const server = await serve({ status: 401 }, { body: '{"id":1}' });
    const credentials = { read: async () => 'old', reread: async () => 'new' };
    expect(await createClient(server.url, { credentials }).placeOrder(order)).toEqual({ id: 1 });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
    expect(server.seen.map(({ body }) => body)).toEqual([JSON.stringify(order), JSON.stringify(order)]);
  });
});

describe('a token that cannot be read', () => {
  test('because reading fails: nothing is sent, and the reason, which may quote it, is kept back', async () => {
    const server = await serve({});
    const credentials = { read: () => Promise.reject(new Error('t0psecret')), reread: async () => 'x' };
    const failure = await failureOf(createClient(server.url, { credentials }).placeOrder(order));
    expect(failure).toBeInstanceOf(NotSent);
    expect(failure.message).not.toContain('t0psecret');
    expect(server.seen).toEqual([]);
  });
});
