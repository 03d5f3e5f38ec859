/** A 429 is for everybody who uses the same token. */
import type { CallEvent } from '../../../src/provider/client';
import { PutOff, RateLimited } from '../../../src/provider/errors';
import { closeAll, createClient, failureOf, serve } from '../../support/stand-in';

afterEach(closeAll);

const order = { account: 'ab-12', cartItems: [1] };

const toldToWait = async (header: string | undefined, pauseMaxMs?: number) => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const limited = { status: 429, headers: header === undefined ? {} : { 'retry-after': header } };
  const server = await serve(limited, { body: '{}' });
  const client = createClient(server.url, {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    ...(pauseMaxMs === undefined ? {} : { pauseMaxMs }),
  });
  expect(await failureOf(client.listFirewalls(1))).toBeInstanceOf(RateLimited);
  return {
    client,
    server,
    later: (ms: number) => {
      nowMs += ms;
    },
  };
};

test.each([
  ['as long as the provider asked', '20', undefined, 20_000],
  ['until the date that it named', 'Thu, 01 Jan 2026 00:00:07 GMT', undefined, 7_000],
  ['a second where it did not say how long', undefined, undefined, 1_000],
  ['no longer than the setting, however long it asked', '86400', undefined, 60_000],
  ['no longer than a shorter setting', '20', 300, 300],
])('nothing is sent: %s', async (_, header, pauseMaxMs, lastsMs) => {
  const { client, server, later } = await toldToWait(header, pauseMaxMs);
  later(lastsMs - 1);
  const failure = await failureOf(client.placeOrder(order));
  expect(failure).toBeInstanceOf(PutOff);
  expect(failure).toMatchObject({ retryAfterMs: 1, endpoint: 'POST /order' });
  expect(failure.message).toBe('POST /order was not sent: the provider has asked to slow down');
  expect(server.seen).toHaveLength(1);
  later(1);
  await client.placeOrder(order);
  expect(server.seen).toHaveLength(2);
});

test('a shorter pause does not end a longer one', async () => {
  const server = await serve(
    { status: 429, headers: { 'retry-after': '30' } },
    { status: 429, headers: { 'retry-after': '1' } },
    { body: '{}' },
  );
  let nowMs = 0;
  const client = createClient(server.url, { now: () => nowMs, monotonicMs: () => nowMs });
  await Promise.all([failureOf(client.listFirewalls(1)), failureOf(client.listFirewalls(2))]);
  nowMs = 29_999;
  expect(await failureOf(client.listFirewalls(3))).toBeInstanceOf(PutOff);
});

test('what is put off is told apart from what could not be sent', async () => {
  const events: CallEvent[] = [];
  const server = await serve({ status: 429 });
  const client = createClient(server.url, { onCall: (event) => events.push(event) });
  await failureOf(client.listFirewalls(1));
  await failureOf(client.listFirewalls(1));
  expect(events).toMatchObject([
    { failure: 'RateLimited', sent: true },
    { failure: 'PutOff', sent: false, putOff: true },
  ]);
  expect(events[0]).not.toHaveProperty('putOff');
});

test('turned off, it is for the call alone', async () => {
  const { client, server } = await toldToWait('20', 0);
  await client.placeOrder(order);
  expect(server.seen).toHaveLength(2);
});

test('a negative bound is refused', () => {
  expect(() => createClient('https://provider.example', { pauseMaxMs: -1 })).toThrow('pauseMaxMs');
});

test('a wall clock that is put back does not lengthen it', async () => {
  let nowMs = Date.now();
  const server = await serve({ status: 429, headers: { 'retry-after': '5' } }, { body: '{}' });
  const client = createClient(server.url, { now: () => nowMs });
  await failureOf(client.listFirewalls(1));
  nowMs -= 3_600_000;
  const failure = await failureOf(client.listFirewalls(1));
  expect((failure as PutOff).retryAfterMs).toBeLessThanOrEqual(5_000);
});
