/** How a story is broken off: to end the saga, or to begin some of it again. */
import type { Decision } from '../domain/decisions';
import type { CallFailure, SagaFailureName } from '../domain/failures';
import type { Step } from './progress';

/** The saga cannot go on and ends as failed, with this name, after undoing. */
export class SagaFailed extends Error {
  constructor(
    readonly type: SagaFailureName,
    message: string,
  ) {
    super(message);
  }
}

export function describeRejection({ reason }: Extract<Decision, { decision: 'reject' }>): string {
  return reason ? `rejected: ${reason}` : 'rejected';
}

/** The decision that says it. */
export type MarkCancelled = Extract<Decision, { decision: 'markCancelled' }>;

/** What the run goes by is not so any more: it begins again, and the journal knows what stands. */
export class StateChanged extends Error {
  constructor(
    readonly spec: { step: Step },
    readonly failure: CallFailure,
  ) {
    super(failure.message);
  }
}

export const whyPlacedBefore = 'it was placed before, or perhaps: the journal is asked first';

/**
 * By another run. What comes before the pivot does not matter any more: the pivot finds what the journal knows of it.
 */
export class PlacedBefore extends Error {
  constructor() {
    super(whyPlacedBefore);
  }
}
