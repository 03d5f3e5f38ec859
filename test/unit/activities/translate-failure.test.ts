/** When a call is made again, and what the workflow gets. Failures by name: test/docs/failures.test.ts. */
import { ApplicationFailure } from '@temporalio/common';
import { fc } from '../../support/properties';
import type { ActivitySettings, CallKind } from '../../../src/activities/settings';
import { callFailureOf, OwnFailure, translateFailure } from '../../../src/activities/translate-failure';
import type { CallFailure } from '../../../src/domain/failures';
import { JournalUnavailable, JournalUnreadable } from '../../../src/journal/database/errors';
import { ProviderFailure, type ProviderFailureName } from '../../../src/provider/errors';
import { activitySettings, asJson } from '../../support/activity-settings';

const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 10_000 };
const kinds: CallKind[] = ['read', 'mutate', 'compensate', 'pivot', 'poll'];
const settings = activitySettings(budget);
const about = (status?: number, retryAfterMs?: number) => ({
  endpoint: 'POST /order',
  ...(status ? { status } : {}),
  retryAfterMs,
});
const saying = (name: ProviderFailureName) => (status?: number, retryAfterMs?: number) =>
  new ProviderFailure(name, 'said no', about(status, retryAfterMs));
const [notSent, limited, unsure] = [saying('NotSent'), saying('RateLimited'), saying('UnknownOutcome')];
const [rejected, unauthorized, redirected] = [saying('Rejected'), saying('Unauthorized'), saying('UnexpectedResponse')];

interface Changes {
  attempt?: number;
  elapsedMs?: number;
  random?: number;
  settings?: Partial<ActivitySettings>;
}

function translated(
  error: unknown,
  kind: CallKind,
  { attempt, elapsedMs = 0, random = 0.5, settings: other }: Changes = {},
) {
  const again = attempt ? { attempt, elapsedMs } : undefined;
  const failure = translateFailure(error, kind, again, { ...settings, ...other }, () => random);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure.nonRetryable).toBe(true);
  const facts = asJson(failure.details?.[0]) as CallFailure;
  expect(failure.type).toBe(facts.failure);
  return facts;
}

it('waits at least as long as the provider asks', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (retryAfterMs, random) => {
        for (const said of [limited, unsure]) {
          const facts = translated(said(503, retryAfterMs), 'mutate', { random });
          expect(facts.retryInMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(facts.retryInMs).toBeLessThanOrEqual(retryAfterMs + 100);
        }
      },
    ),
  );
});

it('draws the delay between nothing and a bound that doubles', () => {
  const delay = (attempt: number, random: number) => translated(notSent(), 'read', { attempt, random }).retryInMs;
  expect([delay(1, 0), delay(1, 1), delay(2, 0), delay(2, 1)]).toEqual([0, 100, 0, 200]);
  const retries = { ...settings.retries, read: { ...budget, attemptsMax: 100, totalMs: 1e9 } };
  const late = { attempt: 50, random: 1, settings: { retries } };
  expect(translated(notSent(), 'read', late).retryInMs).toBe(budget.backoffMaxMs);
});

it('asks a person instead of waiting longer for the provider than the whole budget', () => {
  const asked = (retryAfterMs: number) => translated(limited(429, retryAfterMs), 'mutate', { random: 0 }).retryInMs;
  expect(asked(budget.totalMs)).toBe(budget.totalMs);
  // A saga that sleeps a thousand years is in no list.
  for (const ms of [budget.totalMs + 1, 31_536_000_000, Number.MAX_SAFE_INTEGER]) expect(asked(ms)).toBeUndefined();
});

it('gives up after the last attempt, and after the time', () => {
  const retry = (attempt: number, elapsedMs: number) =>
    translated(notSent(), 'mutate', { attempt, elapsedMs }).retryInMs;
  expect(retry(2, 0)).toBeDefined();
  expect(retry(3, 0)).toBeUndefined();
  expect(retry(2, 10_000)).toBeUndefined();
  // 100 ms is the middle of the second delay: the time ends right there, or a moment before.
  expect(retry(2, 9_900)).toBeDefined();
  expect(retry(2, 9_901)).toBeUndefined();
  // The first attempt may have waited long for a worker.
  expect(retry(1, 1e9)).toBeDefined();
});

const repeated =
  'NotSent TokenUnreadable RateLimited NotVisibleYet NotYet StoodStill JournalUnavailable TemporalUnavailable QuoteAged';
it.each([...repeated.split(' '), 'UnknownOutcome'])('%s is repeated', (name) => {
  const failure = new OwnFailure(name as CallFailure['failure'], 'm');
  expect(translated(failure, 'mutate').retryInMs).toBeDefined();
  expect(translated(failure, 'pivot').retryInMs === undefined).toBe(name === 'UnknownOutcome');
});

it('what only needs time has the time of a look', () => {
  const changes = { attempt: 2, settings: { retries: { ...settings.retries, poll: { ...budget, attemptsMax: 2 } } } };
  expect(translated(new OwnFailure('NotYet', 'm'), 'mutate', changes).retryInMs).toBeUndefined();
  expect(translated(notSent(), 'mutate', changes).retryInMs).toBeDefined();
});

it.each(['NotSent', 'TokenUnreadable', 'Unauthorized', 'Rejected'] as const)('%s of a pivot is no doubt', (name) => {
  const facts = translated(new OwnFailure(name, 'm', about(401)), 'pivot');
  expect(facts.failure).toBe(name);
});

it.each<[string, ProviderFailure, CallKind, CallFailure['failure']]>([
  ['a status that is safe to repeat for a pivot', unsure(503), 'pivot', 'RateLimited'],
  ['the same in other words', limited(503), 'pivot', 'RateLimited'],
  ['another status', limited(429), 'pivot', 'UnknownOutcome'],
  ['a refusal that says when to come again', limited(403, 1_000), 'pivot', 'RateLimited'],
  ['a redirect, which is never one', redirected(302), 'pivot', 'UnknownOutcome'],
  ['a timeout, which has no status', unsure(), 'pivot', 'UnknownOutcome'],
  ['such a status where no pivot is made', unsure(503), 'mutate', 'UnknownOutcome'],
  ['another one there', limited(429), 'mutate', 'RateLimited'],
])('%s: %s of a %s is %s', (_, error, kind, failure) => {
  const facts = translated(error, kind, { settings: { pivotRetryStatuses: [302, 503] } });
  expect(facts.failure).toBe(failure);
  expect(facts.retryInMs === undefined).toBe(kind === 'pivot' && failure === 'UnknownOutcome');
});

describe('what the workflow gets', () => {
  it('is what is known and nothing more', () => {
    const body = 'sold out';
    const said = { message: 'POST /order said no', endpoint: 'POST /order' };
    const refused = translated(new ProviderFailure('Rejected', 'said no', { ...about(422), body }), 'mutate');
    expect(refused).toStrictEqual({ failure: 'Rejected', ...said, status: 422, body });
    const unsent = translated(notSent(), 'mutate', { random: 0 });
    expect(unsent).toStrictEqual({ failure: 'NotSent', ...said, retryInMs: 0 });
    const missing = translated(new OwnFailure('SecretMissing', 'm'), 'mutate');
    expect(missing).toStrictEqual({ failure: 'SecretMissing', message: 'm' });
  });
});

it('has what was found out before it was thrown', () => {
  const cursor = { journal: 'j', epoch: 1, row: 'r' };
  const doubt = { row: 'r', at: '2026-01-01T00:00:00.000Z', run: 'x', inFlightMs: 1_000, restored: false };
  const call = { step: 's', kind: 'pivot', activity: 'placeOrder', about: {} } as const;
  const unwritten = { call, cursor, inFlightMs: 1_000, outcome: 'unknown' } as const;
  const facts = { cursor, doubt, unwritten, steps: ['s'] };
  const told = translated(new OwnFailure('UnknownOutcome', 'm', facts), 'pivot');
  expect(told).toStrictEqual({ failure: 'UnknownOutcome', message: 'm', ...facts });
});

it.each(kinds)('what was read already is not read otherwise the second time, when %s', (kind) => {
  const safe = { ...settings, pivotRetryStatuses: [503] };
  for (const error of [
    ...[notSent(), limited(429, 2_000), unauthorized(401), rejected(422)],
    ...[unsure(503), unsure(503, 3_000), redirected(302)],
    new OwnFailure('UnknownOutcome', 'said neither', about(200)),
  ]) {
    const once = callFailureOf(error, kind, safe)!;
    const twice = callFailureOf(new OwnFailure(once.failure, once.message, once), kind, safe);
    expect(twice).toEqual(once);
  }
});

it.each(['read', 'mutate', 'compensate', 'pivot'] as const)(
  'the journal that cannot be asked or read, when %s',
  (kind) => {
    const away = new JournalUnavailable('its disk is full', { row: 'r' });
    expect(translated(away, kind, { random: 0 })).toStrictEqual({
      failure: 'JournalUnavailable',
      message: 'the journal cannot be used: its disk is full',
      retryInMs: 0,
    });
    const unreadable = translated(new JournalUnreadable('the answer of place-order'), kind);
    expect(unreadable).toMatchObject({ failure: 'JournalUnreadable' });
    expect(unreadable.message).toMatch(/^the journal has the answer of place-order, but it cannot be decrypted here/);
    expect(unreadable.retryInMs).toBeUndefined();
  },
);

it('a delay that was named with the failure is kept to, and needs no budget', () => {
  const underWay = new OwnFailure('UnderWay', 'm', { retryInMs: 700 });
  expect(translated(underWay, 'pivot', { attempt: 99 }).retryInMs).toBe(700);
});

it.each<[ProviderFailure, Partial<ActivitySettings>, object]>([
  [rejected(422), { onRefusal: 'ask' }, { asks: true }],
  [rejected(422), { onRefusal: 'fail' }, { asks: undefined, takesClear: undefined }],
  [unauthorized(401), { onRefusal: 'ask' }, { asks: undefined }],
  [rejected(422), { takesClearRequests: true }, { takesClear: true }],
])('%s under %j: whether it is asked about, and whether a secret is taken in the clear', (error, settings, told) => {
  expect({ asks: undefined, takesClear: undefined, ...translated(error, 'mutate', { settings }) }).toMatchObject(told);
});

it('passes on what is no failure of a call: a mistake in our code is not an outcome', () => {
  const mistake = new TypeError('x is not a function');
  expect(() => translateFailure(mistake, 'mutate', undefined, settings)).toThrow(mistake);
});
