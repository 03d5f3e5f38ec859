/** The hold as Temporal shows it: the run `hold`, while it is open. See `src/domain/hold.ts`. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { holdOf, holdWorkflow, type Hold } from '../domain/hold';
import { noneIf } from '../domain/none-if';

/** The last run, open or closed. @returns undefined where Temporal knows of none */
export function describeLastHold(client: Client): Promise<WorkflowExecutionDescription | undefined> {
  return client.workflow.getHandle(holdWorkflow).describe().catch(noneIf(WorkflowNotFoundError));
}

/** @returns undefined where new sagas may begin */
export async function lookAtHold(client: Client): Promise<Hold | undefined> {
  const last = await describeLastHold(client);
  const isOpen = last?.status.name === 'RUNNING' || last?.status.name === 'PAUSED';
  return isOpen ? holdOf(last) : undefined;
}
