/** The hold as a backend or an operator switches it: see `src/domain/hold.ts`. */
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  holdWorkflow,
  keepName,
  readHoldMemo,
  releaseName,
  releaseSchema,
  releaseWorkflow,
  type Hold,
  type HoldMemo,
  type HoldStart,
  type HoldWords,
} from '../domain/hold';
import { searchAttributeNames } from '../domain/identity';
import { check } from '../domain/validation';
import { lookAtHold } from '../temporal/hold';
import { InvalidRequestError, NoWorkerError, UnknownReferenceError } from './errors';
import { withTemporalErrors } from './temporal-errors';
import { lacksSearchAttributes } from './saga-list';

const answerWithinMs = 10_000;

export interface ReleaseOptions {
  by?: string | undefined;
  note?: string | undefined;
  /** How many held sagas begin in one second: 0.01 to 100. @default 20 */
  perSecond?: number | undefined;
}

/** Never throws for a hold that is on: it stays as it is. */
export async function startHold(temporal: Client, taskQueue: string, start: HoldStart): Promise<{ existing: boolean }> {
  const { probe: _, ...memo } = start;
  try {
    const options = { workflowId: holdWorkflow, taskQueue, args: [start], memo };
    await withTemporalErrors(temporal, () => temporal.workflow.start(holdWorkflow, options));
    return { existing: false };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { existing: true };
    throw error;
  }
}

/**
 * Holds for a person. A hold that a worker has set becomes theirs, and no probe ends it any more; one that a person has
 * set stays as it is. Also while no worker runs.
 */
export async function holdForPerson(
  temporal: Client,
  taskQueue: string,
  words: HoldWords,
): Promise<{ existing: boolean; kept?: true }> {
  const { existing } = await startHold(temporal, taskQueue, words);
  if (!existing || !(await readHold(temporal))?.detected) return { existing };
  try {
    await withTemporalErrors(temporal, () => temporal.workflow.getHandle(holdWorkflow).signal(keepName, words));
    return { existing, kept: true };
  } catch (error) {
    if (!(error instanceof UnknownReferenceError)) throw error;
    // A probe has released it meanwhile.
    return startHold(temporal, taskQueue, words);
  }
}

/** When the last hold ended, and who ended it. @returns undefined where one is on, and where Temporal knows of none */
export async function readLastRelease(
  temporal: Client,
): Promise<{ at: Date; by: NonNullable<HoldMemo['releasedBy']> } | undefined> {
  try {
    const { closeTime, memo } = await withTemporalErrors(temporal, () =>
      temporal.workflow.getHandle(holdWorkflow).describe(),
    );
    // Only people terminate.
    return closeTime && { at: closeTime, by: readHoldMemo(memo).releasedBy ?? 'person' };
  } catch (error) {
    if (error instanceof UnknownReferenceError) return undefined;
    throw error;
  }
}

/** @returns undefined where new sagas may begin */
export async function readHold(temporal: Client): Promise<Hold | undefined> {
  return (await withTemporalErrors(temporal, () => lookAtHold(temporal)))?.hold;
}

/**
 * Ends the hold. Where none is on, because an operator has terminated it, it releases the sagas that are still held.
 *
 * @throws InvalidRequestError, NoWorkerError
 */
export async function endHold(temporal: Client, taskQueue: string, options: ReleaseOptions): Promise<{ was: boolean }> {
  const checked = check(releaseSchema(), options);
  if (!checked.ok) throw new InvalidRequestError(checked.problems);
  const release = checked.value;
  try {
    await withTemporalErrors(temporal, () =>
      temporal.withDeadline(Date.now() + answerWithinMs, () =>
        temporal.workflow.getHandle(holdWorkflow).executeUpdate(releaseName, { args: [release] }),
      ),
    );
    return { was: true };
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw new NoWorkerError(holdWorkflow);
    // The update came as the run ended: another caller has released the hold.
    const hasEnded = error instanceof UnknownReferenceError || error instanceof WorkflowUpdateFailedError;
    if (!hasEnded || (await readHold(temporal)) !== undefined) throw error;
  }
  const workflowId = `release-held/${randomUUID()}`;
  await withTemporalErrors(temporal, () =>
    temporal.workflow.start(releaseWorkflow, { workflowId, taskQueue, args: [release] }),
  );
  return { was: false };
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
