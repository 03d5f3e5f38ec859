/** People start, reset, terminate and delete runs in the Web UI. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { SagaHandle } from '../../src/client/handle';
import { workflowIdOf, type WorkflowName } from '../../src/domain/identity';
import { until, type Rig } from './rig';

export interface Run {
  workflowId: string;
  runId?: string;
}

/** Nothing looks at the request first, and nothing refuses the id of a run that has ended. */
export async function startRaw<W extends WorkflowName>(
  rig: Rig,
  workflow: W,
  request: { reference: string; [field: string]: unknown },
): Promise<SagaHandle<W>> {
  const workflowId = workflowIdOf(workflow, request.reference);
  await rig.temporal.workflow.start(workflow, { workflowId, taskQueue: 'order-saga', args: [request] });
  return rig.latest(workflow, request);
}

/** Event ids of the finished workflow tasks, each a point that a run can be reset to. */
export async function workflowTasksOf(temporal: Client, { workflowId, runId }: Run): Promise<number[]> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) => (event.workflowTaskCompletedEventAttributes ? [Number(event.eventId)] : []));
}

/** Just before the activity of that name was made, for the first time: a point to reset to. */
export async function taskBefore(temporal: Client, { workflowId, runId }: Run, name: string): Promise<number> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name);
  return Number(scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId);
}

/** @returns the id of the run that goes on */
export async function resetTo(temporal: Client, { workflowId, runId }: Run, workflowTask: number): Promise<string> {
  const answer = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId, runId: runId ?? null },
    reason: 'a test',
    requestId: randomUUID(),
    // A Long on the wire, and a number is taken for one.
    workflowTaskFinishEventId: workflowTask as never,
  });
  return answer.runId;
}

export async function resetToBeginning(temporal: Client, { workflowId, runId }: Run): Promise<string> {
  const run = { workflowId, ...(runId === undefined ? {} : { runId }) };
  const [first = 0] = await workflowTasksOf(temporal, run);
  return resetTo(temporal, run, first);
}

/** Waits until visibility shows it so: sweeps believe visibility where it says that a saga is running. */
export async function terminate(temporal: Client, { workflowId }: Pick<Run, 'workflowId'>): Promise<void> {
  await temporal.workflow.getHandle(workflowId).terminate('a test');
  // The list may not even show yet that it runs.
  const count = async (status: string) =>
    (await temporal.workflow.count(`WorkflowId = '${workflowId}' AND ExecutionStatus = '${status}'`)).count;
  await until(async () => (await count('Terminated')) > 0 && (await count('Running')) === 0);
}

/** Returns when it is gone, which is some time later. */
export async function deleteRun(temporal: Client, { workflowId, runId }: Run): Promise<void> {
  const { namespace } = temporal.options;
  const workflowExecution = { workflowId, runId: runId ?? null };
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  const run = temporal.workflow.getHandle(workflowId, runId);
  await until(() =>
    run.describe().then(
      () => false,
      () => true,
    ),
  );
}
