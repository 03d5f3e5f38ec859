/** How the sagas that were held are spread, and what is read of a hold that anybody may have started. */
import { describeHold, readHoldWords, releaseSchema, wavesOf } from '../../../src/domain/hold';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

it.each([
  // A thousand within a minute, by default.
  [1_000, releaseSchema().parse({}).perSecond, 50, 20, 1_000],
  [5, 2, 3, 2, 1_000],
  [3, 0.5, 3, 1, 2_000],
  [2, 0.01, 2, 1, 100_000],
  // Not more than is asked for in any second: two, and a pause that makes it two and a half.
  [10, 2.5, 5, 2, 800],
  [0, 20, 0, 0, 0],
])('%i at %d a second begin in %i waves of at most %i', (held, perSecond, waves, size, pauseMs) => {
  const found = wavesOf(numbers(held), perSecond);
  expect(found).toHaveLength(waves);
  expect(found.flatMap(({ wave }) => wave)).toEqual(numbers(held));
  for (const { wave, pauseMs: pause } of found) {
    expect(wave.length).toBeLessThanOrEqual(size);
    expect(pause).toBe(pauseMs);
    expect((wave.length / pause) * 1_000).toBeLessThanOrEqual(perSecond);
  }
});

it('takes a pace within its bounds', () => {
  for (const perSecond of [0.01, 100]) expect(releaseSchema().safeParse({ perSecond }).success).toBe(true);
  for (const perSecond of [0, 0.009, 101, Number.NaN, '5']) {
    expect(releaseSchema().safeParse({ perSecond }).success).toBe(false);
  }
});

it('says who holds and why, as far as it is known', () => {
  const hold = { since: '2026-01-31T22:15:00.123Z', runId: 'r' };
  expect(describeHold(hold)).toBe('held since 2026-01-31 22:15:00 UTC');
  expect(describeHold({ ...hold, by: 'ann', note: 'why' })).toBe('held since 2026-01-31 22:15:00 UTC by ann (why)');
});

it('reads what it can of what somebody typed', () => {
  for (const given of [undefined, null, 7, 'text', [], {}, { by: 3, note: {} }, { by: '' }]) {
    expect(readHoldWords(given)).toEqual({});
  }
  const long = 'x'.repeat(10_000);
  expect(readHoldWords({ by: long, note: long })).toEqual({
    by: `${long.slice(0, 199)}…`,
    note: `${long.slice(0, 499)}…`,
  });
});
