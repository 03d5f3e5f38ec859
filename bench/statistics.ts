/** Measures jobs. Of measured values: the middle, and how two of the same rounds compare. */

/**
 * Runs so many jobs, so many of them at once: each that ends makes room for the next.
 *
 * @returns the seconds from the first start to the last end, and how long each took
 */
export async function closedLoop(total: number, atOnce: number, job: () => Promise<void>) {
  const latenciesMs: number[] = [];
  let started = 0;
  const lane = async () => {
    while (started < total) {
      started += 1;
      const from = performance.now();
      await job();
      latenciesMs.push(performance.now() - from);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: atOnce }, lane));
  return { seconds: (performance.now() - from) / 1_000, latenciesMs };
}

export async function timed(job: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await job();
  return performance.now() - from;
}

/** The mean of the two in the middle where there are two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new Error('no values, no median');
  return (low + high) / 2;
}

/**
 * The median of the rounds' ratios. What slows a whole round down, such as somebody else at work on the machine, is in
 * both values of its ratio.
 */
export function ratioOfRounds(values: readonly number[], references: readonly number[]): number {
  if (values.length !== references.length) throw new Error('both must have run in every round');
  return median(values.map((value, round) => value / (references[round] ?? NaN)));
}
