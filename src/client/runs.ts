/** Starts runs, looks at firewalls, and counts who polls. */
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type Client, type WorkflowStartOptions } from '@temporalio/client';
import { ApplicationFailure, TimeoutFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { temporal as proto } from '@temporalio/proto';
import { firewallsOfSchema, lookIdOf, type ServerFirewalls } from '../domain/firewalls-of';
import { holdWorkflow, type HoldStart } from '../domain/hold';
import { noneIf } from '../domain/none-if';
import { check } from '../domain/validation';
import { valueOf } from './checked';
import { FirewallsUnknownError, NoWorkerError } from './errors';
import { withTemporalErrors } from './temporal-errors';

/**
 * Starts a workflow, unless there is one of its id already.
 *
 * @returns the run's id; undefined where there is one
 * @throws as {@link withTemporalErrors}
 */
export async function startUnlessThere(temporal: Client, workflow: string, options: WorkflowStartOptions) {
  const starting = withTemporalErrors(temporal, () => temporal.workflow.start(workflow, options));
  return (await starting.catch(noneIf(WorkflowExecutionAlreadyStartedError)))?.firstExecutionRunId;
}

/**
 * Switches the hold on: see `src/domain/hold.ts`.
 *
 * @param over the hold that is on is replaced, in one step
 * @returns whether one was on, and stays as it is
 */
export async function startHold(temporal: Client, taskQueue: string, start: HoldStart, { over = false } = {}) {
  const runId = await startUnlessThere(temporal, holdWorkflow, {
    workflowId: holdWorkflow,
    taskQueue,
    args: [start],
    memo: { ...start },
    workflowIdConflictPolicy: over ? 'TERMINATE_EXISTING' : 'FAIL',
  });
  return { existing: runId === undefined };
}

/** Longer than the longest call. A look that no worker takes ends by itself: it is not a saga. */
const lookWithinMs = 60_000;

/** @throws InvalidRequestError, FirewallsUnknownError, NoWorkerError, NoConnectionError */
export async function lookAtFirewalls(temporal: Client, taskQueue: string, vmObjectId: number) {
  const request = valueOf(check(firewallsOfSchema(), { vmObjectId }));
  const workflowId = lookIdOf(vmObjectId, randomUUID());
  const options = { workflowId, taskQueue, args: [request], workflowExecutionTimeout: lookWithinMs };
  const staticSummary = `firewalls of server ${vmObjectId}`;
  try {
    return await withTemporalErrors<ServerFirewalls>(temporal, () =>
      temporal.workflow.execute('firewallsOf', { ...options, staticSummary }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (cause instanceof TimeoutFailure) throw new NoWorkerError(workflowId);
    throw new FirewallsUnknownError(
      vmObjectId,
      (cause instanceof ApplicationFailure ? cause.type : undefined) ?? 'WorkerLost',
      cause?.message ?? error.message,
    );
  }
}

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.api.enums.v1.TaskQueueType;

/**
 * How many poll it for workflows, and for calls. Temporal forgets a poller some minutes after its last poll.
 *
 * @throws NoConnectionError
 */
export function countPollers(temporal: Client, taskQueue: string): Promise<{ workflows: number; calls: number }> {
  const { namespace } = temporal.options;
  const count = async (taskQueueType: proto.api.enums.v1.TaskQueueType) => {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
    return (await temporal.workflowService.describeTaskQueue(asked)).pollers.length;
  };
  return withTemporalErrors(temporal, async () => ({
    workflows: await count(TASK_QUEUE_TYPE_WORKFLOW),
    calls: await count(TASK_QUEUE_TYPE_ACTIVITY),
  }));
}
