/**
 * One word for what is at the provider once a saga has ended: the state of an ended saga, and `outcome` of its result
 * or report.
 *
 * - `done`: all that was asked for is there.
 * - `partly`: it is there, but something was skipped, is left over, or was not reached any more.
 * - `reversed`: it failed or was cancelled, and nothing of it is there.
 * - `reversed-with-leftovers`: it failed or was cancelled, and `leftovers` names what is there anyway, or may be.
 * - `untouched`: the run was refused, or ended, before it did anything. It says nothing of what other runs of its
 *   reference did.
 */
import type { Leftover } from './leftovers';

export const sagaOutcomes = ['done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched'] as const;
export type SagaOutcome = (typeof sagaOutcomes)[number];

/** For a saga that reached the end of its story. */
export const resultOutcomes = ['done', 'partly'] as const satisfies SagaOutcome[];

export interface End {
  /** Nothing is undone: it was placed, or nothing of the story can be undone. */
  stands: boolean;
  /** The story reached its end. */
  storyFinished: boolean;
  /** Steps that a person skipped. */
  skipped: readonly string[];
  leftovers: readonly Leftover[];
}

export function outcomeOfEnd({ stands, storyFinished, skipped, leftovers }: End): SagaOutcome {
  if (stands) return storyFinished && skipped.length === 0 && leftovers.length === 0 ? 'done' : 'partly';
  return leftovers.length === 0 ? 'reversed' : 'reversed-with-leftovers';
}

export function isOutcome(state: string | undefined): state is SagaOutcome {
  return sagaOutcomes.some((outcome) => outcome === state);
}
