/**
 * Waiting costs nothing. A year of it, or ten, is seen by making the clock's steps small: the same workflow code, with
 * reminders that come after milliseconds instead of hours, and as many of them as a year has.
 */
import { reminderDelaysMs } from '../../../src/saga/reminders';

const dayMs = 24 * 60 * 60 * 1000;

function remindersWithin(totalMs: number): number[] {
  const delays: number[] = [];
  let sum = 0;
  for (const delayMs of reminderDelaysMs()) {
    sum += delayMs;
    if (sum > totalMs) return delays;
    delays.push(delayMs);
  }
  throw new Error('reminders never end');
}

it('reminds after an hour, then ever more seldom, and never stops', () => {
  const [first, second, third] = remindersWithin(10 * dayMs);
  expect([first, second, third]).toEqual([1, 4, 16].map((hours) => hours * 60 * 60 * 1000));
  expect(remindersWithin(365 * dayMs)).toHaveLength(7);
  expect(remindersWithin(3650 * dayMs).length).toBeGreaterThan(20);
});
