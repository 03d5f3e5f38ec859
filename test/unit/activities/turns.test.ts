/** How often a saga that is queued looks whether it is its turn: each look takes eleven events of its history. */
import { lookDelayMs } from '../../../src/activities/turns';

const dayMs = 24 * 60 * 60 * 1000;
const eventsOfOneLook = 11;

function looksWithin(totalMs: number): number {
  let looks = 0;
  for (let waitedMs = 0; waitedMs < totalMs; waitedMs += lookDelayMs(waitedMs)) looks += 1;
  return looks;
}

it('ten years in a queue are an eighth of what a history takes', () => {
  expect(looksWithin(3_650 * dayMs) * eventsOfOneLook).toBeLessThan(51_200 / 8);
});

it('soon at first, and within a quarter of the wait', () => {
  expect([0, 1, 10].map((minutes) => lookDelayMs(minutes * 60_000))).toEqual([60_000, 60_000, 150_000]);
  expect(looksWithin(dayMs)).toBeLessThan(40);
});

it('at most a week apart', () => {
  expect(lookDelayMs(365 * dayMs)).toBe(7 * dayMs);
});
