import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  added,
  closeAll,
  createClient,
  failureOf,
  onRequest,
  quote,
  serve,
  serveRaw,
  reading,
} from '../../support/stand-in';

afterEach(closeAll);

const change = { subscription_id: 1, resources: [] };
const item = { billing_cycle: 1 } as const;
const order = { account: 'ab-12', cartItems: [1] };

test('a redirect is not followed, with the token or without', async () => {
  const elsewhere = await serve({});
  const server = await serve({ status: 307, headers: { location: `${elsewhere.url}/order` } });
  const failure = await failureOf(createClient(server.url).placeOrder(order));
  expect(failure).toHaveProperty('name', 'UnexpectedResponse');
  expect(elsewhere.seen).toEqual([]);
});

describe('a success without a body', () => {
  test.each([
    { status: 204, body: '' },
    { status: 200, body: '' },
    { status: 200, body: ' \r\n' },
  ])('is null where the document shows none (%j)', async (answer) => {
    const server = await serve(answer);
    const client = createClient(server.url);
    expect(await client.placeOrder(order)).toBeNull();
    expect(await client.deleteCartItem(1)).toBeUndefined();
    expect((await client.listFirewalls(1)).body).toBeNull();
  });

  test('is an unknown outcome where the document shows one', async () => {
    const server = await serve({ status: 200, body: '' });
    const client = createClient(server.url);
    for (const call of [
      client.addCartItem({ billing_cycle: 1 }),
      client.quoteChangeOrder(change),
      client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
      client.switchPlan(1, 2),
    ]) {
      expect(await failureOf(call)).toHaveProperty('name', 'UnknownOutcome');
    }
  });
});

describe('a success that cannot be read', () => {
  test.each([
    ['no id', { data: added.data }],
    ['an id with a leading zero', { ...added, '0': '04711' }],
    ['an id of zero', { ...added, '0': 0 }],
    ['an id that JSON cannot hold', { ...added, '0': 2 ** 53 }],
    ['a fraction', { ...added, '0': 1.5 }],
    ['no code', { '0': 4711, data: { message: 'ok' } }],
    ['another code', { '0': 4711, data: { message: 'ok', code: 201 } }],
    ['a list', [4711]],
  ])('add-to-cart with %s is an unknown outcome', async (_, body) => {
    const server = await serve({ body: JSON.stringify(body) });
    expect(await failureOf(createClient(server.url).addCartItem({ billing_cycle: 1 }))).toHaveProperty(
      'name',
      'UnknownOutcome',
    );
  });

  test.each([
    ['available', 'yes'],
    ['total', '12,50'],
    ['total', null],
    ['currency', 'EUR'],
    ['currency', ''],
    ['currency', 'x'.repeat(101)],
    ['date_from', 20_260_101],
    ['date_from', 'x'.repeat(41)],
    ['date_to', undefined],
  ])('a quote whose %s is %j is an unknown outcome that names it', async (field, value) => {
    const server = await serve({ body: JSON.stringify({ ...quote, inapplicable_resources: [], [field]: value }) });
    const client = createClient(server.url);
    for (const call of [
      client.switchPlan(1, 2),
      client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
      client.quoteChangeOrder(change),
    ]) {
      const failure = await failureOf(call);
      expect(failure).toHaveProperty('name', 'UnknownOutcome');
      expect(failure.message).toContain(field);
    }
  });

  test('a total that JSON cannot hold is no total', async () => {
    const server = await serve({ body: JSON.stringify(quote).replace('12.5', '1e999') });
    expect(await failureOf(createClient(server.url).switchPlan(1, 2))).toHaveProperty('name', 'UnknownOutcome');
  });

  test('a change quote needs its list, a switch quote has none', async () => {
    const server = await serve({ body: JSON.stringify(quote) });
    const client = createClient(server.url);
    expect(await client.switchPlan(1, 2)).toEqual(quote);
    expect(await failureOf(client.quoteChangeOrder(change))).toHaveProperty('name', 'UnknownOutcome');
    const endless = await serve({ body: JSON.stringify({ ...quote, inapplicable_resources: ['x'.repeat(8_192)] }) });
    const { message } = await failureOf(createClient(endless.url).quoteChangeOrder(change));
    expect(message).toContain('not as documented: inapplicable_resources');
  });
});

describe('a long body', () => {
  const json = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));

  test('is read up to the limit and not a byte further', async () => {
    const packed = { headers: { 'content-encoding': 'gzip' }, body: gzipSync(json(2001)) };
    const server = await serve({ body: json(2000) }, { body: json(2001) }, packed);
    const client = createClient(server.url, { responseBytesMax: 2000 });
    expect(await client.placeOrder(order)).toHaveLength(1998);
    for (const failure of [await failureOf(client.placeOrder(order)), await failureOf(client.placeOrder(order))]) {
      expect(failure).toHaveProperty('name', 'UnknownOutcome');
      expect(failure.message).toContain('longer than 2000 bytes');
    }
  });

  test('of an error changes nothing in what the error means', async () => {
    const server = await serve({ status: 422, body: 'y'.repeat(300_000) });
    const failure = await failureOf(createClient(server.url).placeOrder(order));
    expect(failure).toHaveProperty('name', 'Rejected');
    expect(failure.body).toHaveLength(500);
  });

  test('does not poison the next call', async () => {
    const server = await serve({ body: json(5000) }, { body: '[1]' });
    const client = createClient(server.url, { responseBytesMax: 2000 });
    await failureOf(client.listFirewalls(1));
    expect((await client.listFirewalls(1)).body).toEqual([1]);
  });
});

test.each([
  ['gzip', gzipSync],
  ['X-GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', gzipSync],
])('a body that is compressed as %s is read, though none was asked for', async (encoding, compress) => {
  const server = await serve({ headers: { 'content-encoding': encoding }, body: compress('{"id":1}') });
  expect(await createClient(server.url).placeOrder(order)).toEqual({ id: 1 });
});

test('an answer that goes on beside its body is left, however fast it comes', async () => {
  const server = await serveRaw((socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;');
      const more = () => socket.write('x'.repeat(10_000));
      socket.on('drain', more);
      while (more());
    }),
  );
  const failure = await failureOf(createClient(server.url, { responseBytesMax: 1_024 }).placeChangeOrder(change));
  expect(failure).toHaveProperty('name', 'UnknownOutcome');
  expect(failure.message).toContain('does not end');
});

test('a kept connection may bring many answers that are long together', async () => {
  const server = await serve({ body: JSON.stringify({ text: 'x'.repeat(1_000) }) });
  const client = createClient(server.url, { responseBytesMax: 1_024, connections: 1 });
  // More bytes in all than any one answer may have on the wire.
  for (let nth = 0; nth < 100; nth += 1) await client.listFirewalls(1);
  expect(server.connections.length).toBeLessThanOrEqual(2);
});

test.each([
  [[403, 408, 409, 423, 425, 429, 502, 503, 504], 7000],
  [[301, 422, 500, 501, 520], undefined],
])('Retry-After counts in an answer of %j: %s', async (statuses, retryAfterMs) => {
  const server = await serve(...statuses.map((status) => ({ status, headers: { 'retry-after': '7' } })));
  const client = createClient(server.url);
  for (const status of statuses) {
    const failure = await failureOf(client.assignFirewalls(1, [2]));
    expect([failure.status, failure.retryAfterMs]).toEqual([status, retryAfterMs]);
  }
});

test('an answer with two lengths is told as one, and an add that is answered so is not made again', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n';
  const server = await serveRaw((socket) => onRequest(socket, () => socket.end(`${head}2\r\n[]\r\n0\r\n\r\n`)));
  const client = createClient(server.url);
  const told = [await failureOf(client.addCartItem(item)), await failureOf(client.placeOrder(order))];
  expect(told.map(({ name }) => name)).toEqual(['UnexpectedResponse', 'UnknownOutcome']);
  for (const { message } of told)
    expect(message).toContain('the answer’s Content-Length is not its length, or stands beside a Transfer-Encoding');
});

test('a 403 that says when to come again is a wait', async () => {
  const server = await serve(...[1, 2, 3].map(() => ({ status: 403, headers: { 'retry-after': '1' } })));
  const client = createClient(server.url);
  const told = [
    await failureOf(client.addCartItem(item)),
    await failureOf(client.assignFirewalls(1, [2])),
    await failureOf(client.placeOrder(order)),
  ];
  expect(told.map(({ name }) => name)).toEqual(['RateLimited', 'RateLimited', 'RateLimited']);
});

test.each([
  ['the token is still the same', 401, ['old', 'old'], 1],
  ['the renewed token is refused too', 401, ['old', 'new'], 2],
  ['there are no credentials', 401, undefined, 1],
  ['it is a 403', 403, ['old', 'new'], 1],
])('a 401 is final where %s', async (_, status, tokens, calls) => {
  const server = await serve({ status });
  const client = createClient(server.url, tokens === undefined ? {} : { readToken: reading(...tokens) });
  expect(await failureOf(client.placeOrder(order))).toHaveProperty('name', 'Unauthorized');
  expect(server.seen).toHaveLength(calls);
});

const unreadable = () => {
  // The reason may quote it.
  throw new Error('t0psecret');
};

test.each<[string, () => string, string]>([
  ['reading it fails', unreadable, 'TokenUnreadable'],
  ...['', 'two\nlines', 'trailing ', 'ümlaut'].map((token): [string, () => string, string] => [
    `${JSON.stringify(token)} fits no header`,
    () => token,
    'Unauthorized',
  ]),
])('nothing is sent where the token cannot be read, because %s', async (_, readToken, name) => {
  const server = await serve({});
  const failure = await failureOf(createClient(server.url, { readToken }).placeOrder(order));
  expect(failure).toHaveProperty('name', name);
  expect(failure.status).toBeUndefined();
  expect(failure.message).not.toContain('t0psecret');
  expect(server.seen).toEqual([]);
});
