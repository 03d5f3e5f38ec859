/** Sagas that are pinned to a version that no worker polls for: they stand still until one does, or they are moved. */
import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { WorkerConfig } from '../config';
import { noneIfNotFound } from '../temporal/service';

const { TASK_QUEUE_TYPE_WORKFLOW } = temporal.api.enums.v1.TaskQueueType;

/** Temporal forgets a poller some minutes after its last poll. @returns 0 where workers have no versions */
export async function countUnserved(
  { workflowService }: Pick<NativeConnection | Connection, 'workflowService'>,
  { namespace, taskQueue, version }: Pick<WorkerConfig, 'namespace' | 'taskQueue' | 'version'>,
): Promise<number> {
  if (version === undefined) return 0;
  const { deploymentName } = version;
  // Before its first poll there is none.
  const described = await workflowService.describeWorkerDeployment({ namespace, deploymentName }).catch(noneIfNotFound);
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
    reportPollers: true,
  });
  const served = new Set(
    pollers.flatMap(({ deploymentOptions: options }) =>
      options?.deploymentName === deploymentName ? [options.buildId] : [],
    ),
  );
  let unserved = 0;
  for (const { deploymentVersion } of described?.workerDeploymentInfo?.versionSummaries ?? []) {
    const buildId = deploymentVersion?.buildId ?? '';
    if (served.has(buildId)) continue;
    const query =
      `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}' AND TemporalWorkflowVersioningBehavior = 'Pinned' ` +
      `AND TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}'`;
    const { count } = await workflowService.countWorkflowExecutions({ namespace, query });
    unserved += Number(count);
  }
  return unserved;
}
