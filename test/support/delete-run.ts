/** Deleted, as the Web UI does it. */
import type { Client } from '@temporalio/client';
import type { Run } from './reset';
import { until } from './rig';

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
