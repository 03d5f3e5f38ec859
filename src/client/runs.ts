/** Starts runs. */
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { holdWorkflow, type HoldWords } from '../domain/hold';
import { noneIf } from '../domain/none-if';
import { withTemporalErrors } from './temporal-errors';
import { requireSharedKeys } from './workers';

/**
 * Starts a workflow, unless there is one of its id already.
 *
 * @returns the run's id; undefined where there is one
 * @throws as {@link withTemporalErrors}
 */
export async function startUnlessThere(temporal: Client, workflow: string, options: WorkflowStartOptions) {
  await requireSharedKeys(temporal);
  const starting = withTemporalErrors(temporal, () => temporal.workflow.start(workflow, options));
  return (await starting.catch(noneIf(WorkflowExecutionAlreadyStartedError)))?.firstExecutionRunId;
}

/**
 * Switches the hold on: see `src/domain/hold.ts`.
 *
 * @returns whether one was on, and stays as it is
 */
export async function startHold(temporal: Client, taskQueue: string, words: HoldWords) {
  const runId = await startUnlessThere(temporal, holdWorkflow, {
    workflowId: holdWorkflow,
    taskQueue,
    args: [words],
    memo: { ...words },
  });
  return { existing: runId === undefined };
}
