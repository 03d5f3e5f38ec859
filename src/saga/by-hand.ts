/**
 * What a person has done by hand, because our own calls would not go through: the step counts as done, nothing is left
 * over, and the journal has who says so. Not offered where the step makes something that later steps need to know (a
 * cart item's id).
 */
import type { Decision } from '../domain/decisions';
import type { EffectCall } from '../domain/effects';

export interface ByHand<T> {
  /** What the step comes to then. */
  counts: () => T;
  /** The call that need not be made any more, for the journal; absent where the step only looks. */
  call?: (step: string) => EffectCall;
}

/**
 * What a list would show, as a person says who has looked elsewhere. It does not count as verified: only the list does.
 */
export const seenByHand = 'seen';

export type MarkDone = Extract<Decision, { decision: 'markDone' }>;

/** The calls that a person has made unneeded. */
export function callsByHand(specs: readonly { step: { id: string }; byHand?: ByHand<unknown> }[]): EffectCall[] {
  return specs.flatMap(({ step, byHand }) => (byHand?.call ? [byHand.call(step.id)] : []));
}

/** The detail of the step. */
export function describeByHand({ by, note }: MarkDone): string {
  return `done by hand, says ${by ?? 'a person'}: ${note}`;
}
