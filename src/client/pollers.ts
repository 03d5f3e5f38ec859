/** Who polls a task queue. */
import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';
import { withTemporalErrors } from './temporal-errors';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.api.enums.v1.TaskQueueType;

/**
 * How many poll it for workflows, and for calls. Temporal forgets a poller some minutes after its last poll.
 *
 * @throws NoConnectionError
 */
export function countPollers(temporal: Client, taskQueue: string): Promise<{ workflows: number; calls: number }> {
  const { namespace } = temporal.options;
  const count = async (taskQueueType: proto.api.enums.v1.TaskQueueType) => {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
    return (await temporal.workflowService.describeTaskQueue(asked)).pollers.length;
  };
  return withTemporalErrors(temporal, async () => ({
    workflows: await count(TASK_QUEUE_TYPE_WORKFLOW),
    calls: await count(TASK_QUEUE_TYPE_ACTIVITY),
  }));
}
