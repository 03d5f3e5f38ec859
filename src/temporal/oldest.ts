/** The oldest of many: visibility on SQL does not sort. */

const dayMs = 24 * 60 * 60 * 1000;
/** Nothing that is open is older than this: no saga waits longer. */
const oldestMs = 400 * dayMs;
const closeMs = 1_000;

/**
 * A time that only a few are older than, found by counting: the number of calls grows with how exact a time can be, and
 * not with how many there are.
 *
 * @param countBefore how many are older than this time, in milliseconds since 1970
 * @returns where fewer than `most` are older, and at least one. Where more than `most` fall into one second, its end
 */
export async function timeWithFewBefore(
  countBefore: (ms: number) => Promise<number>,
  { most, nowMs }: { most: number; nowMs: number },
): Promise<number> {
  let [from, to] = [nowMs - oldestMs, nowMs];
  for (let count = await countBefore(to); count > most && to - from > closeMs;) {
    const middle = from + (to - from) / 2;
    const older = await countBefore(middle);
    if (older < 1) from = middle;
    else [to, count] = [middle, older];
  }
  return to;
}
