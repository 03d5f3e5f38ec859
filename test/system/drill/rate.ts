/** How fast the provider was called, by the times in its ledger. */
import type { Call } from '../../../sandbox/ledger';

/** In seconds: a burst shows in the short ones, a limit that is not kept in the long ones. */
export const windows = [1, 5, 30] as const;

export interface Busiest {
  seconds: number;
  calls: number;
  /** What the limit allows in such a window. */
  allowed: number;
}

/**
 * The most calls that came in any window of a length. The limit is a bucket that refills: a pause saves up the calls of
 * one second, and they may come at once. Besides, a call takes a moment from the limit to the ledger, and not each
 * takes the same: a tenth more.
 *
 * @param perSecond the limit
 */
export function busiestWindows(calls: readonly Pick<Call, 'receivedMs'>[], perSecond: number): Busiest[] {
  const times = calls.map(({ receivedMs }) => receivedMs).sort((one, other) => one - other);
  return windows.map((seconds) => ({
    seconds,
    calls: mostWithin(times, seconds * 1_000),
    allowed: Math.ceil(perSecond * (seconds + 1) * 1.1),
  }));
}

/** @param times ascending */
function mostWithin(times: readonly number[], lengthMs: number): number {
  let most = 0;
  let first = 0;
  times.forEach((time, index) => {
    while (time - (times[first] ?? time) >= lengthMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
