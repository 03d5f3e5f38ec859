/** That a call was spoiled, and that the saga noticed it at the step that made it. */
import type { Call } from '../../../sandbox/ledger';
import type { SagaHandle } from '../../../src/client/handle';
import type { StepView } from '../../../src/domain/progress';
import { progressOf, type Ended } from '../../support/sagas';
import type { Way } from './ways';

export interface Evidence {
  way: Way;
  call: Call;
  /** Those that were under way while the call was held. */
  steps: readonly StepView[];
  ended: Ended;
}

/** @returns what is missing of the proof, in sentences */
export async function missingProof(saga: SagaHandle, evidence: Evidence): Promise<string[]> {
  const { way, call, steps, ended } = evidence;
  const missing: string[] = [];
  if (steps.length === 0) missing.push('no step was under way while the call was held');
  if (way.cancelled && !ended.cancelled) missing.push('it was cancelled, and ended otherwise');
  if (way.fault && !call.faults.some(({ kind }) => kind === way.fault?.kind)) {
    missing.push(`${way.fault.kind} did not strike`);
  }
  if (way.fault && !way.worker && !way.mayPass) missing.push(...(await leftNoTrace(saga, evidence)));
  return missing;
}

/** A question to a saga that has ended replays it: only where its outcome does not tell. */
async function leftNoTrace(saga: SagaHandle, { steps, ended }: Evidence): Promise<string[]> {
  const after = (ended.failure?.report ?? ended.cancelled ?? (await progressOf(saga))).steps;
  const isTold = steps.some((step) =>
    isTroubled(
      step,
      after.find(({ id }) => id === step.id),
    ),
  );
  if (isTold) return [];
  return [`the step (${steps.map(({ id }) => id).join()}) shows no trace`];
}

/** Whether a step ended otherwise than one that was left alone: not in its one call, or not done. */
function isTroubled(held: StepView, after: StepView | undefined): boolean {
  const expected = held.status === 'undoing' ? 'undone' : 'done';
  return after?.status !== expected || after.attempts !== held.attempts || after.detail !== undefined;
}
