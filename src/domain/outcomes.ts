/**
 * How it stands at the provider once a saga has ended, in one word: the state of an ended saga, and `outcome` of its result or report.
 *
 * - `done`: all that was asked for is there.
 * - `partly`: it is there, but something was skipped, is left over, or was not come to any more.
 * - `reversed`: it failed or was cancelled, and nothing of it is there.
 * - `reversed-with-leftovers`: it failed or was cancelled, and what is there all the same, or may be, stands under `leftovers`.
 * - `untouched`: the run was refused, or ended, before it did anything. It says nothing of what other runs of its reference did.
 */
import type { Leftover } from './leftovers';

export const sagaOutcomes = ['done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched'] as const;
export type SagaOutcome = (typeof sagaOutcomes)[number];

/** Of a saga that came to the end of its story. */
export const resultOutcomes = ['done', 'partly'] as const satisfies SagaOutcome[];

export interface End {
  /** What was done is not put back: it was placed, or nothing of the story can be put back. */
  stands: boolean;
  /** The story came to its end. */
  isThrough: boolean;
  /** Steps that a person left out. */
  skipped: readonly string[];
  leftovers: readonly Leftover[];
}

export function outcomeOfEnd({ stands, isThrough, skipped, leftovers }: End): SagaOutcome {
  if (stands) return isThrough && skipped.length === 0 && leftovers.length === 0 ? 'done' : 'partly';
  return leftovers.length === 0 ? 'reversed' : 'reversed-with-leftovers';
}

export function isOutcome(state: string | undefined): state is SagaOutcome {
  return sagaOutcomes.some((outcome) => outcome === state);
}
