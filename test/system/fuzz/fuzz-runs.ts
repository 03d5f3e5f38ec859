/**
 * How many cases, and which. The seed is fixed, so that every run tries the same ones; fast-check prints it with the path to
 * the smallest case that fails.
 *
 *   ORDER_SAGA_FUZZ_RUNS   times as many cases as in `npm test`, such as 50 for a long run; default 1
 *   ORDER_SAGA_FUZZ_SEED   another seed, for other cases; a whole number
 */
import { seed } from '../../support/properties';

const factor = Number(process.env['ORDER_SAGA_FUZZ_RUNS'] ?? '1');

export interface Fuzz {
  numRuns: number;
  seed: number;
  /** A case that fails is made smaller, but not for longer than somebody waits for a test. */
  interruptAfterTimeLimit?: number;
}

export function fuzz(runs: number): Fuzz {
  return { numRuns: Math.ceil(runs * factor), seed };
}

/** For a test's time limit: a long run takes longer. */
export function patience(ms: number): number {
  return Math.ceil(ms * Math.max(1, factor));
}
