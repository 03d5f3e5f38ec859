/**
 * Terminates a run, and waits until visibility shows it so: sweeps believe visibility where it says that a saga is
 * running.
 */
import type { Client } from '@temporalio/client';
import { until } from './rig';

export async function terminate(temporal: Client, { workflowId }: { workflowId: string }): Promise<void> {
  await temporal.workflow.getHandle(workflowId).terminate('a test');
  const query = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Running'`;
  await until(async () => (await temporal.workflow.count(query)).count === 0);
}
