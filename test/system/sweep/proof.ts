/** That a call was spoiled, and that the saga noticed it at the very step that made it, and at no other. */
import type { temporal } from '@temporalio/proto';
import type { Call } from '../../../sandbox/ledger';
import type { SagaHandle } from '../../../src/client/handle';
import type { StepView } from '../../../src/domain/progress';
import type { Rig } from '../../support/rig';
import { progressOf, type Ended } from '../../support/sagas';
import { failedCalls } from './failed-calls';
import type { Way } from './ways';

export interface Evidence {
  way: Way;
  call: Call;
  /** Those that were under way while the call was held. */
  steps: readonly StepView[];
  ended: Ended;
  /** True where more goes wrong in the story than what was spoiled. */
  more: boolean;
}

type Events = temporal.api.history.v1.IHistoryEvent[];

/** @returns what is missing of the proof, in sentences */
export async function missingProof(rig: Rig, saga: SagaHandle, evidence: Evidence): Promise<string[]> {
  const { way, call, steps, ended } = evidence;
  const missing: string[] = [];
  if (steps.length === 0) missing.push('no step was under way while the call was held');
  if (way.cancelled && !ended.cancelled) missing.push('it was cancelled, and ended otherwise');
  if (way.fault && !call.faults.some(({ kind }) => kind === way.fault?.kind)) {
    missing.push(`${way.fault.kind} did not strike`);
  }
  if (way.fault === undefined && way.worker === undefined) return missing;
  const { events } = await rig.runOf(saga).fetchHistory();
  if (way.worker) return [...missing, ...lostOrNot(events ?? [], way.worker)];
  missing.push(...(await failedElsewhere(rig, events ?? [], evidence)));
  if (!way.mayPass) missing.push(...(await leftNoTrace(saga, evidence)));
  return missing;
}

async function failedElsewhere(rig: Rig, events: Events, { way, call, more }: Evidence): Promise<string[]> {
  const failed = await failedCalls(rig.temporal, events);
  const others = failed.filter(({ is }) => !is(call)).map(({ endpoint }) => endpoint);
  const name = `${call.method} ${call.path}`;
  return [
    ...(way.mayPass || failed.length > others.length ? [] : [`${name} failed, and the history does not show it`]),
    ...(way.lasting || more || others.length === 0 ? [] : [`beside ${name}, ${others.join()} failed`]),
  ];
}

/** A question to a saga that has ended replays it: only where its outcome does not tell. */
async function leftNoTrace(saga: SagaHandle, { steps, ended }: Evidence): Promise<string[]> {
  const after = (ended.failure?.report ?? ended.cancelled ?? (await progressOf(saga))).steps;
  if (
    steps.some((step) =>
      isTroubled(
        step,
        after.find(({ id }) => id === step.id),
      ),
    )
  )
    return [];
  return [`the step (${steps.map(({ id }) => id).join()}) shows no trace`];
}

/** Whether a step ended otherwise than one that was left alone: not in its one call, or not done. */
function isTroubled(held: StepView, after: StepView | undefined): boolean {
  const expected = held.status === 'undoing' ? 'undone' : 'done';
  return after?.status !== expected || after.attempts !== held.attempts || after.detail !== undefined;
}

/** A call whose worker was killed is lost; one whose worker was stopped is not. */
function lostOrNot(events: Events, worker: NonNullable<Way['worker']>): string[] {
  const lost = events.some(
    ({ activityTaskTimedOutEventAttributes, activityTaskFailedEventAttributes }) =>
      activityTaskTimedOutEventAttributes ??
      activityTaskFailedEventAttributes?.failure?.applicationFailureInfo?.type === 'WorkerShutdown',
  );
  if (lost === (worker === 'killed')) return [];
  // The others of its batch took longer to reach their calls than a call may take: its worker gave it up before the
  // end.
  const givenUp = events.some(({ activityTaskFailedEventAttributes: failed }) =>
    failed?.failure?.message?.includes('not done within'),
  );
  if (givenUp) return [];
  return [lost ? 'its worker was stopped, and the call was lost' : 'its worker was killed, and the call was not lost'];
}
