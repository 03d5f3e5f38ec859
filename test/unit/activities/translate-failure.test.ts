import { ApplicationFailure } from '@temporalio/common';
import { fc } from '../../support/properties';
import type { CallKind } from '../../../src/activities/settings';
import { callFailureOf, OwnFailure, translateFailure } from '../../../src/activities/translate-failure';
import type { CallFailure } from '../../../src/domain/failures';
import { JournalUnavailable, JournalUnreadable } from '../../../src/journal/errors';
import {
  NotSent,
  type ProviderFailure,
  RateLimited,
  Rejected,
  TokenUnreadable,
  Unauthorized,
  UnexpectedResponse,
  UnknownOutcome,
} from '../../../src/provider/errors';
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

/** The table of docs/failures.md: what each failure means for a step that may be repeated, and for a pivot. */
const table: [string, () => ProviderFailure, repeated: boolean, pivotRepeated: boolean][] = [
  ['NotSent', () => new NotSent('said no', about()), true, true],
  ['TokenUnreadable', () => new TokenUnreadable('said no', about()), true, true],
  ['RateLimited', () => new RateLimited('said no', about(429, 2_000)), true, true],
  ['Unauthorized', () => new Unauthorized('said no', about(401)), false, false],
  ['Rejected', () => new Rejected('said no', about(422)), false, false],
  ['UnknownOutcome', () => new UnknownOutcome('said no', about(503)), true, false],
  ['UnexpectedResponse', () => new UnexpectedResponse('said no', about(302)), false, false],
];

describe.each(table)('%s', (name, make, repeated, pivotRepeated) => {
  it.each(kinds)('when %s', (kind) => {
    const facts = translated(make(), kind);
    // Whoever redirects may have taken the order first.
    const redirected = name === 'UnexpectedResponse' && kind === 'pivot';
    expect(facts.failure).toBe(redirected ? 'UnknownOutcome' : name);
    expect(facts.retryInMs !== undefined).toBe(kind === 'pivot' ? pivotRepeated : repeated);
  });
});

it('waits at least as long as the provider asks', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (retryAfterMs, random) => {
        for (const failure of [RateLimited, UnknownOutcome]) {
          const facts = translated(new failure('said no', about(503, retryAfterMs)), 'mutate', { random });
          expect(facts.retryInMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(facts.retryInMs).toBeLessThanOrEqual(retryAfterMs + 100);
        }
      },
    ),
  );
});

it('draws the delay between nothing and a bound that doubles', () => {
  const delay = (attempt: number, random: number) =>
    translated(new NotSent('said no', about()), 'read', { attempt, random }).retryInMs;
  expect([delay(1, 0), delay(1, 1), delay(2, 0), delay(2, 1)]).toEqual([0, 100, 0, 200]);
});

it('gives up after the last attempt, and after the time', () => {
  const retry = (attempt: number, elapsedMs: number) =>
    translated(new NotSent('said no', about()), 'mutate', { attempt, elapsedMs }).retryInMs;
  expect(retry(2, 0)).toBeDefined();
  expect(retry(3, 0)).toBeUndefined();
  expect(retry(2, 10_000)).toBeUndefined();
  // 100 ms is the middle of the second delay: the time ends right there, or a moment before.
  expect(retry(2, 9_900)).toBeDefined();
  expect(retry(2, 9_901)).toBeUndefined();
  // The first attempt may have waited long for a worker.
  expect(retry(1, 1e9)).toBeDefined();
});

it.each(kinds)('what was read already is not read otherwise the second time, when %s', (kind) => {
  const safe = { ...settings, pivotRetryStatuses: [503] };
  for (const error of [
    ...table.map(([, make]) => make()),
    new UnknownOutcome('said no', about(503)),
    new RateLimited('said no', about(429, 2_000)),
    new UnknownOutcome('said no', about(503, 3_000)),
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

it('passes on what is no failure of a call: a mistake in our code is not an outcome', () => {
  const mistake = new TypeError('x is not a function');
  expect(() => translateFailure(mistake, 'mutate', undefined, settings)).toThrow(mistake);
});
