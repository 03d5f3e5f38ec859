/** Of measured values: the middle, the slow end, and how two that were measured in the same rounds compare. */

/** The smallest value that at least this share of all values does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('no values, no percentile');
  return value;
}

/** Of an even number of values, the mean of the two in the middle. */
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
