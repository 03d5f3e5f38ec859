/** The hold as Temporal shows it: the run `hold`, while it is open. See `src/domain/hold.ts`. */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { holdOf, holdWorkflow, readHoldMemo, type Hold } from '../domain/hold';

export interface HoldSeen {
  hold: Hold;
  /** Ids of sagas that a probe has let go. */
  letGo: readonly string[];
}

/** @returns undefined where new sagas may begin */
export async function lookAtHold(client: Client): Promise<HoldSeen | undefined> {
  try {
    const found = await client.workflow.getHandle(holdWorkflow).describe();
    const { status, memo } = found;
    if (status.name !== 'RUNNING' && status.name !== 'PAUSED') return undefined;
    return { hold: holdOf(found), letGo: readHoldMemo(memo).letGo };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
