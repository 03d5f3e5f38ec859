/** What is read of a hold that anybody may have started, and how it is told. */
import { describeHold, holdOf, readHoldStart } from '../../../src/domain/hold';

it('says who holds and why, as far as it is known, and until when', () => {
  const run = { startTime: new Date('2026-01-31T22:15:00.123Z'), runId: 'r' };
  const told = (memo: unknown) => describeHold(holdOf({ ...run, memo }));
  expect(told({})).toBe('held since 2026-01-31 22:15:00 UTC');
  expect(told({ by: 'ann', note: 'why' })).toBe('held since 2026-01-31 22:15:00 UTC by ann (why)');
  expect(told({ by: 'worker', note: 'down', forMs: 60_000 })).toBe(
    'held since 2026-01-31 22:15:00 UTC by worker, until 2026-01-31 22:16:00 UTC (down)',
  );
});

it('reads what it can of what somebody typed', () => {
  for (const given of [undefined, null, 7, 'text', [], {}, { by: 3, note: {}, forMs: 'x' }, { by: '', forMs: -1 }]) {
    expect(readHoldStart(given)).toEqual({});
  }
  const long = 'x'.repeat(10_000);
  expect(readHoldStart({ by: long, note: long })).toEqual({
    by: `${long.slice(0, 199)}…`,
    note: `${long.slice(0, 499)}…`,
  });
});
