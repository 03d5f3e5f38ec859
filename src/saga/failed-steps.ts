/** Steps that were tried and failed, and what that says of the story: that it goes on, begins again, or ends. */
import { describeFailure, type CallFailure, type CallFailureName } from '../domain/failures';
import { SagaFailed, StateChanged } from './ends';
import type { Step } from './progress';

export interface Failed<P> {
  spec: P;
  failure: CallFailure;
}

/** Throws where a failure says that the story has to be begun again, or to end. */
export function throwIfStoryCannotGoOn(failed: readonly Failed<{ step: Step }>[]): void {
  const first = (name: CallFailureName) => failed.find(({ failure }) => failure.failure === name);
  const changed = first('StateChanged');
  if (changed) throw new StateChanged(changed.spec.step, changed.failure);
  const cancelled = first('OrderCancelled');
  if (cancelled) {
    markAll(failed, 'failed');
    throw new SagaFailed('OrderCancelled', cancelled.failure.message);
  }
  const late = first('DeadlinePassed');
  if (late === undefined) return;
  markAll(failed, 'failed');
  throw new SagaFailed('DeadlinePassed', `${late.spec.step.title}: ${late.failure.message}`);
}

export function markAll(failed: readonly Failed<{ step: Step }>[], as: 'failed' | 'stuck'): void {
  for (const { spec, failure } of failed) spec.step.end(as, describeFailure(failure));
}

/** It belongs to an order by now, to another saga, or to another run. */
export function isNotToBeUndone({ failure }: CallFailure): boolean {
  return failure === 'Ordered' || failure === 'StateChanged';
}
