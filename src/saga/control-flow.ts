/** How a saga is broken off: to end the saga, or to begin some of it again. */
import type { PastEnding } from '../activities/journal';
import type { Decision } from '../domain/decisions';
import type { CallFailure, SagaFailureName } from '../domain/failures';
import type { Step } from './shown/progress';

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

/** The state that the run goes by has changed: it begins again, and the journal knows what stands. */
export class StateChanged extends Error {
  constructor(
    readonly step: Step,
    readonly failure: Pick<CallFailure, 'failure' | 'message'>,
  ) {
    super(failure.message);
  }
}

/** The run needs to prepare nothing any more: another run has placed it, or may have. */
export function placedMeanwhile(step: Step): StateChanged {
  const message = 'it was placed before, or perhaps, by another run';
  step.end('skipped', message);
  return new StateChanged(step, { failure: 'StateChanged', message });
}

/** Another run has begun since the saga looked before its end: what it has seen then does not count. */
export class ReadAgain extends Error {}

/** A run of the reference has ended: this one tells the same, and does nothing. */
export class EndedBefore extends Error {
  constructor(readonly past: PastEnding) {
    super(`the reference has ended on ${past.at}`);
  }
}
