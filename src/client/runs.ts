/** Starts runs. */
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ignoreErrors } from '../domain/ignore-errors';
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
  return (await starting.catch(ignoreErrors(WorkflowExecutionAlreadyStartedError)))?.firstExecutionRunId;
}
