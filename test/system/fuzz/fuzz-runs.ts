/**
 * How many cases, and which. The seed is fixed, so that every run tries the same ones; fast-check prints it with the
 * path to the smallest case that fails.
 *
 *   ORDER_SAGA_FUZZ_RUNS   times as many cases, such as 50 for a long run; default 1
 *   ORDER_SAGA_FUZZ_SEED   another seed, for other cases; a whole number
 */
import { takesAll } from '../../support/left-out';
import { seed } from '../../support/properties';

const factor = Number(process.env['ORDER_SAGA_FUZZ_RUNS'] ?? '1');

export interface Fuzz {
  numRuns: number;
  seed: number;
  /** A case that fails is made smaller, but not for longer than somebody waits for a test. */
  interruptAfterTimeLimit?: number;
}

/** @param inOneWay how many `npm test` takes */
export function fuzz(runs: number, inOneWay = runs / 5): Fuzz {
  return { numRuns: Math.ceil((takesAll ? runs : inOneWay) * factor), seed };
}

/** For a test's time limit: a long run takes longer. */
export function patience(ms: number): number {
  return Math.ceil(ms * Math.max(1, factor));
}
