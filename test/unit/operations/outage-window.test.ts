/** When calls look like an outage: against a naive count over all calls, and against what is none. */
import type { CallEvent } from '../../../src/provider/client';
import { describeOutage, OutageWindow, readCall, type SeenCall } from '../../../src/operations/outage-window';
import { fc } from '../../support/properties';

const rule = { share: 0.8, windowMs: 60_000, callsMin: 20 };

const failed = (atMs: number, saga: number): SeenCall => ({ atMs, saga: `provision/${saga}`, unanswered: '503' });

const aCall = fc.record({
  afterMs: fc.oneof({ weight: 8, arbitrary: fc.nat(1_000) }, fc.nat(90_000)),
  fails: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.boolean()),
  saga: fc.nat(6),
});
const aRule = fc.record({
  share: fc.integer({ min: 1, max: 10 }).map((tenths) => tenths / 10),
  windowMs: fc.integer({ min: 1_000, max: 120_000 }),
  callsMin: fc.integer({ min: 5, max: 30 }),
});

it('says the same as whoever counts all calls anew, whatever comes when', () => {
  let outages = 0;
  fc.assert(
    fc.property(aRule, fc.array(aCall, { minLength: 100, maxLength: 300 }), (rule, calls) => {
      const window = new OutageWindow(rule);
      const all: SeenCall[] = [];
      let nowMs = 0;
      for (const { afterMs, fails, saga } of calls) {
        nowMs += afterMs;
        const call = fails ? failed(nowMs, saga) : { atMs: nowMs, saga: `provision/${saga}` };
        all.push(call);
        const recent = all.filter(({ atMs }) => atMs > nowMs - rule.windowMs);
        const bad = recent.filter(({ unanswered }) => unanswered !== undefined);
        const expected =
          fails &&
          recent.length >= rule.callsMin &&
          bad.length / recent.length >= rule.share &&
          new Set(bad.map((one) => one.saga)).size >= 3;
        const found = window.see(call);
        expect(found !== undefined).toBe(expected);
        if (found === undefined) continue;
        outages += 1;
        expect(found).toMatchObject({ calls: recent.length, unanswered: bad.length });
      }
    }),
  );
  expect(outages).toBeGreaterThan(100);
});

it('keeps no more calls than it needs, however many come', () => {
  const window = new OutageWindow({ ...rule, share: 1, callsMin: 10_000 });
  for (let call = 0; call < 100_000; call += 1) {
    window.see({ atMs: call / 1_000, saga: 'provision/1' });
    if (window.kept > 20_001) throw new Error(`it keeps ${window.kept}`);
  }
  // The newest ten thousand are all that count: now each of them fails.
  const found = Array.from({ length: 10_000 }, (_, call) => window.see(failed(101, call)));
  expect(found.findIndex((outage) => outage !== undefined)).toBe(9_999);
});

it('takes no saga that fails alone for an outage, and begins anew when it is cleared', () => {
  const window = new OutageWindow(rule);
  for (let call = 0; call < 100; call += 1) expect(window.see(failed(call, call % 2))).toBeUndefined();
  expect(window.see(failed(100, 2))).toMatchObject({
    calls: 101,
    sagas: ['provision/0', 'provision/1', 'provision/2'],
  });
  window.clear();
  for (let call = 0; call < 19; call += 1) expect(window.see(failed(101, call))).toBeUndefined();
  expect(window.see(failed(101, 19))).toMatchObject({ calls: 20, unanswered: 20 });
});

const event = (changes: Partial<CallEvent>): CallEvent => ({
  endpoint: 'POST /order',
  method: 'POST',
  durationMs: 1,
  sent: true,
  ...changes,
});

it.each<[string, Partial<CallEvent>, ReturnType<typeof readCall>]>([
  ['a success', { status: 200 }, {}],
  ['a refusal', { status: 422, failure: 'Rejected' }, {}],
  ['a wrong password', { status: 401, failure: 'Unauthorized' }, {}],
  ['a 429', { status: 429, failure: 'RateLimited' }, {}],
  ['a 503', { status: 503, failure: 'UnknownOutcome' }, { unanswered: '503' }],
  ['no answer in time', { failure: 'UnknownOutcome' }, { unanswered: 'no answer' }],
  ['a connection that is refused', { failure: 'NotSent', sent: false }, { unanswered: 'not sent' }],
  ['a page of somebody else', { status: 302, failure: 'UnexpectedResponse' }, { unanswered: '302' }],
  ['a call that we held back', { failure: 'NotSent', sent: false, heldBack: true }, undefined],
  ['a token that we cannot read', { failure: 'TokenUnreadable', sent: false }, undefined],
  ['a token that no header takes', { failure: 'Unauthorized', sent: false }, undefined],
  ['a path that cannot be built', { failure: 'Rejected', sent: false }, undefined],
])('reads %s', (_what, changes, said) => {
  expect(readCall(event(changes))).toEqual(said);
});

it('says what it saw in one sentence', () => {
  const ways = new Map([
    ['not sent', 2],
    ['503', 36],
  ]);
  const outage = { calls: 40, unanswered: 38, ways, spanMs: 51_200, sagas: ['provision/1', 'provision/2', 'change/1'] };
  expect(describeOutage(outage, ['AB-1'])).toBe(
    '38 of 40 calls within 52 s got no answer (36 × 503, 2 × not sent), of 3 sagas, of account AB-1',
  );
  expect(describeOutage(outage, ['A-1', 'A-2', 'A-3', 'A-4'])).toMatch(/, of accounts A-1, A-2, A-3 and others$/);
  expect(describeOutage(outage, [])).toMatch(/of 3 sagas$/);
});
