/** The hold as a backend or an operator switches it: see `src/domain/hold.ts`. */
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { holdWorkflow, type Hold, type HoldStart, type HoldWords } from '../domain/hold';
import { searchAttributeNames } from '../domain/identity';
import { lookAtHold } from '../temporal/hold';
import { UnknownReferenceError } from './errors';
import { withTemporalErrors } from './temporal-errors';
import { lacksSearchAttributes } from './saga-list';

/** @param over the hold that is on is replaced, in one step. @returns whether one was on, and stays as it is */
export async function startHold(
  temporal: Client,
  taskQueue: string,
  start: HoldStart,
  { over = false } = {},
): Promise<{ existing: boolean }> {
  try {
    await withTemporalErrors(temporal, () =>
      temporal.workflow.start(holdWorkflow, {
        workflowId: holdWorkflow,
        taskQueue,
        args: [start],
        memo: { ...start },
        workflowIdConflictPolicy: over ? 'TERMINATE_EXISTING' : 'FAIL',
      }),
    );
    return { existing: false };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { existing: true };
    throw error;
  }
}

/**
 * Holds for a person. A hold that a worker has set becomes theirs, and does not end by itself any more; one that a person
 * has set stays as it is. Also while no worker runs.
 */
export async function holdForPerson(
  temporal: Client,
  taskQueue: string,
  words: HoldWords,
): Promise<{ existing: boolean; kept?: true }> {
  const { existing } = await startHold(temporal, taskQueue, words);
  if (!existing || (await readHold(temporal))?.until === undefined) return { existing };
  await startHold(temporal, taskQueue, words, { over: true });
  return { existing, kept: true };
}

/** @returns undefined where new sagas may begin */
export function readHold(temporal: Client): Promise<Hold | undefined> {
  return withTemporalErrors(temporal, () => lookAtHold(temporal));
}

/** Ends the hold, also while no worker runs. @returns whether one was on */
export async function endHold(temporal: Client, { by, note }: HoldWords): Promise<{ was: boolean }> {
  const said = `released${by === undefined ? '' : ` by ${by}`}${note === undefined ? '' : `: ${note}`}`;
  try {
    await withTemporalErrors(temporal, () => temporal.workflow.getHandle(holdWorkflow).terminate(said));
    return { was: true };
  } catch (error) {
    if (error instanceof UnknownReferenceError) return { was: false };
    throw error;
  }
}

/** How many sagas are held. A change may take a moment to show. */
export async function countHeld(temporal: Client): Promise<number> {
  const query = `ExecutionStatus = 'Running' AND ${searchAttributeNames.state} = 'held'`;
  try {
    return (await withTemporalErrors(temporal, () => temporal.workflow.count(query))).count;
  } catch (error) {
    if (lacksSearchAttributes(error)) return 0;
    throw error;
  }
}
