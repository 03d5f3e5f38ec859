/** Reset, as the Web UI does it: to a finished workflow task, of the latest run or of an earlier one. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

export interface Run {
  workflowId: string;
  runId?: string;
}

/** Event ids of the finished workflow tasks, each a point that a run can be reset to. */
export async function workflowTasksOf(temporal: Client, { workflowId, runId }: Run): Promise<number[]> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) => (event.workflowTaskCompletedEventAttributes ? [Number(event.eventId)] : []));
}

/** Just before the activity of that name was made, for the first time or for a later one: a point to reset to. */
export async function taskBefore(temporal: Client, { workflowId, runId }: Run, name: string, nth = 1): Promise<number> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
    activity?.activityType?.name === name ? [activity] : [],
  );
  return Number(scheduled[nth - 1]?.workflowTaskCompletedEventId);
}

/** @returns the id of the run that goes on */
export async function resetTo(temporal: Client, { workflowId, runId }: Run, workflowTask: number): Promise<string> {
  const answer = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId, runId: runId ?? null },
    reason: 'a test',
    requestId: randomUUID(),
    // A Long on the wire, and a number is taken for one.
    workflowTaskFinishEventId: workflowTask as never,
  });
  return answer.runId;
}
