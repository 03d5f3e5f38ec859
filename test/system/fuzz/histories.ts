/** What must never stand in a saga's history: a task that its worker could not do. */
import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';

const { WorkflowTaskFailedCause } = proto.api.enums.v1;

/** The server's own doing, where many things happen during one task: it gives the task out again. */
const servers: unknown[] = [
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
];

/** @returns the messages of workflow tasks that failed or timed out */
export async function brokenTasksOf(temporal: Client, workflowId: string): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: late }) => {
      if (failed && !servers.includes(failed.cause)) {
        return [`${workflowId}: ${failed.failure?.message ?? 'a task failed'} (cause ${failed.cause})`];
      }
      return late ? [`${workflowId}: a task timed out`] : [];
    },
  );
}
