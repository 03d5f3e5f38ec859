/**
 * When a call is made again, and what the workflow is told. Which failure is, of a step and of a pivot:
 * test/docs/failures.test.ts, row by row.
 */
import { ApplicationFailure } from '@temporalio/common';
import { fc } from '../../support/properties';
import type { CallKind } from '../../../src/activities/settings';
import { callFailureOf, OwnFailure, translateFailure } from '../../../src/activities/translate-failure';
import type { CallFailure } from '../../../src/domain/failures';
import { JournalUnavailable, JournalUnreadable } from '../../../src/journal/errors';
import { ProviderFailure } from '../../../src/provider/errors';
import { activitySettings } from '../../support/activity-settings';

const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 10_000 };
const kinds: CallKind[] = ['read', 'mutate', 'compensate', 'pivot', 'poll'];
const settings = activitySettings(budget);
const about = (status?: number, retryAfterMs?: number) => ({
  endpoint: 'POST /order',
  ...(status ? { status } : {}),
  retryAfterMs,
});

function translated(
  error: unknown,
  kind: CallKind,
  changes: { attempt?: number; elapsedMs?: number; random?: number; settings?: object } = {},
) {
  const again = changes.attempt ? { attempt: changes.attempt, elapsedMs: changes.elapsedMs ?? 0 } : undefined;
  const failure = translateFailure(
    error,
    kind,
    again,
    { ...settings, ...changes.settings },
    () => changes.random ?? 0.5,
  );
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure.nonRetryable).toBe(true);
  const facts = failure.details?.[0] as CallFailure;
  expect(failure.type).toBe(facts.failure);
  return facts;
}

it('waits at least as long as the provider asks', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (retryAfterMs, random) => {
        for (const name of ['RateLimited', 'UnknownOutcome'] as const) {
          const facts = translated(new ProviderFailure(name, 'said no', about(503, retryAfterMs)), 'mutate', {
            random,
          });
          expect(facts.retryInMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(facts.retryInMs).toBeLessThanOrEqual(retryAfterMs + 100);
        }
      },
    ),
  );
});

it('draws the delay between nothing and a bound that doubles', () => {
  const delay = (attempt: number, random: number) =>
    translated(new ProviderFailure('NotSent', 'said no', about()), 'read', { attempt, random }).retryInMs;
  expect([delay(1, 0), delay(1, 1), delay(2, 0), delay(2, 1)]).toEqual([0, 100, 0, 200]);
  const retries = { ...settings.retries, read: { ...budget, attemptsMax: 100, totalMs: 1e9 } };
  const late = { attempt: 50, random: 1, settings: { retries } };
  expect(translated(new ProviderFailure('NotSent', 'said no', about()), 'read', late).retryInMs).toBe(
    budget.backoffMaxMs,
  );
});

it('asks a person instead of waiting longer for the provider than the whole budget', () => {
  const asked = (retryAfterMs: number) =>
    translated(new ProviderFailure('RateLimited', 'said no', about(429, retryAfterMs)), 'mutate', { random: 0 })
      .retryInMs;
  expect(asked(budget.totalMs)).toBe(budget.totalMs);
  // A saga that sleeps a thousand years is in no list.
  for (const ms of [budget.totalMs + 1, 31_536_000_000, Number.MAX_SAFE_INTEGER]) expect(asked(ms)).toBeUndefined();
});

it('gives up after the last attempt, and after the time', () => {
  const retry = (attempt: number, elapsedMs: number) =>
    translated(new ProviderFailure('NotSent', 'said no', about()), 'mutate', { attempt, elapsedMs }).retryInMs;
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
  expect(translated(new ProviderFailure('NotSent', 'said no', about()), 'mutate', changes).retryInMs).toBeDefined();
});

it.each(['NotSent', 'TokenUnreadable', 'Unauthorized', 'Rejected'] as const)('%s of a pivot is no doubt', (name) => {
  const facts = translated(new OwnFailure(name, 'm', about(401)), 'pivot');
  expect(facts.failure).toBe(name);
});

describe('a pivot and the statuses that are safe to repeat', () => {
  it('repeats them', () => {
    const changes = { settings: { pivotRetryStatuses: [503] } };
    for (const name of ['UnknownOutcome', 'RateLimited'] as const)
      expect(translated(new ProviderFailure(name, 'said no', about(503)), 'pivot', changes).failure).toBe(
        'RateLimited',
      );
    expect(translated(new ProviderFailure('RateLimited', 'said no', about(429)), 'pivot', changes).failure).toBe(
      'UnknownOutcome',
    );
  });

  it('takes no redirect for one of them', () => {
    const changes = { settings: { pivotRetryStatuses: [302] } };
    const facts = translated(new ProviderFailure('UnexpectedResponse', 'said no', about(302)), 'pivot', changes);
    expect(facts.failure).toBe('UnknownOutcome');
    expect(facts.retryInMs).toBeUndefined();
  });

  it('does not repeat a timeout, which has no status', () => {
    expect(
      translated(new ProviderFailure('UnknownOutcome', 'said no', about()), 'pivot', {
        settings: { pivotRetryStatuses: [429, 503] },
      }).retryInMs,
    ).toBeUndefined();
  });
});

it('leaves a status that is safe for a pivot as it is where no pivot is made', () => {
  const changes = { settings: { pivotRetryStatuses: [503] } };
  expect(translated(new ProviderFailure('RateLimited', 'said no', about(429)), 'mutate', changes).failure).toBe(
    'RateLimited',
  );
  expect(translated(new ProviderFailure('UnknownOutcome', 'said no', about(503)), 'mutate', changes).failure).toBe(
    'UnknownOutcome',
  );
});

describe('what the workflow is told', () => {
  it('is what is known and nothing more', () => {
    const facts = { ...about(422), body: 'sold out' };
    expect(translated(new ProviderFailure('Rejected', 'said no', facts), 'mutate')).toStrictEqual({
      failure: 'Rejected',
      message: 'POST /order said no',
      endpoint: 'POST /order',
      status: 422,
      body: 'sold out',
    });
    expect(translated(new ProviderFailure('NotSent', 'said no', about()), 'mutate', { random: 0 })).toStrictEqual({
      failure: 'NotSent',
      message: 'POST /order said no',
      endpoint: 'POST /order',
      retryInMs: 0,
    });
    expect(translated(new OwnFailure('SecretMissing', 'm'), 'mutate')).toStrictEqual({
      failure: 'SecretMissing',
      message: 'm',
    });
  });
});

it('tells what was found out before it was thrown', () => {
  const knows = { journal: 'j', epoch: 1, row: 'r' };
  const doubt = { row: 'r', at: '2026-01-01T00:00:00.000Z', run: 'x', inFlightMs: 1_000, restored: false };
  const unwritten = {
    call: { step: 's', kind: 'pivot', activity: 'placeOrder', about: {} },
    knows,
    inFlightMs: 1_000,
    outcome: 'unknown',
  } as const;
  const facts = { knows, doubt, unwritten, steps: ['s'] };
  expect(translated(new OwnFailure('UnknownOutcome', 'm', facts), 'pivot')).toStrictEqual({
    failure: 'UnknownOutcome',
    message: 'm',
    ...facts,
  });
});

it.each(kinds)('what was read already is not read otherwise the second time, when %s', (kind) => {
  const safe = { ...settings, pivotRetryStatuses: [503] };
  for (const error of [
    new ProviderFailure('NotSent', 'said no', about()),
    new ProviderFailure('RateLimited', 'said no', about(429, 2_000)),
    new ProviderFailure('Unauthorized', 'said no', about(401)),
    new ProviderFailure('Rejected', 'said no', about(422)),
    new ProviderFailure('UnknownOutcome', 'said no', about(503)),
    new ProviderFailure('UnknownOutcome', 'said no', about(503, 3_000)),
    new ProviderFailure('UnexpectedResponse', 'said no', about(302)),
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

it('only what the provider refuses is asked about, where the setting says so', () => {
  const asking = (error: Error, onRefusal: 'ask' | 'fail') =>
    translated(error, 'mutate', { settings: { onRefusal } }).asks;
  expect(asking(new ProviderFailure('Rejected', 'said no', about(422)), 'ask')).toBe(true);
  expect(asking(new ProviderFailure('Rejected', 'said no', about(422)), 'fail')).toBeUndefined();
  expect(asking(new ProviderFailure('Unauthorized', 'said no', about(401)), 'ask')).toBeUndefined();
});

it('says that a secret is taken in the clear, where the setting says so', () => {
  const changes = { settings: { takesClearRequests: true } };
  expect(translated(new ProviderFailure('Rejected', 'said no', about(422)), 'mutate', changes).takesClear).toBe(true);
  expect(translated(new ProviderFailure('Rejected', 'said no', about(422)), 'mutate').takesClear).toBeUndefined();
});

it('passes on what is no failure of a call: a mistake in our code is not an outcome', () => {
  const mistake = new TypeError('x is not a function');
  expect(() => translateFailure(mistake, 'mutate', undefined, settings)).toThrow(mistake);
});
