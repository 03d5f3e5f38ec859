/** The hold as a backend, an operator or a worker switches it on: see `src/domain/hold.ts`. */
import type { Client } from '@temporalio/client';
import { holdWorkflow, type HoldStart } from '../domain/hold';
import { startUnlessThere } from './temporal-errors';

/** @param over the hold that is on is replaced, in one step. @returns whether one was on, and stays as it is */
export async function startHold(
  temporal: Client,
  taskQueue: string,
  start: HoldStart,
  { over = false } = {},
): Promise<{ existing: boolean }> {
  const runId = await startUnlessThere(temporal, holdWorkflow, {
    workflowId: holdWorkflow,
    taskQueue,
    args: [start],
    memo: { ...start },
    workflowIdConflictPolicy: over ? 'TERMINATE_EXISTING' : 'FAIL',
  });
  return { existing: runId === undefined };
}
