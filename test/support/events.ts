/** A run's history, in few words. */
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { cancelledBeside } from '../../src/saga/activities';

type Run = Pick<WorkflowHandle, 'fetchHistory'>;
type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const { WorkflowTaskFailedCause: causes } = temporal.api.enums.v1;

/** For these the server fails a task: for a reset, or where something came in between. Others are a worker's. */
const serversCauses: unknown[] = [
  causes.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
  causes.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  causes.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
];

/** Why a worker could not do a workflow task: it must never stand in a history. */
export function brokenTask({ workflowTaskFailedEventAttributes: failed }: HistoryEvent): string | undefined {
  if (!failed || serversCauses.includes(failed.cause)) return undefined;
  return failed.failure?.message?.replace(cancelledBeside, '') || undefined;
}

/** The same of a whole run; and each task that was late. */
export async function brokenTasksOf(run: Run & { workflowId: string }): Promise<string[]> {
  const { events } = await run.fetchHistory();
  const broken = (events ?? []).flatMap((event) => {
    const late = event.workflowTaskTimedOutEventAttributes ? 'a task timed out' : undefined;
    return brokenTask(event) ?? late ?? [];
  });
  return broken.map((message) => `${run.workflowId}: ${message}`);
}

/**
 * Each as `addCartItem: add cart item 1`: the activity, local ones, too, and its summary in the Web UI. What is written
 * beside the saga is left out: how many calls that takes, and when, is a matter of time.
 */
export async function activitiesOf(run: Run): Promise<string[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name ?? localActivityIn(event)?.name;
    if (!name || name === 'tell') return [];
    const summary = Buffer.from(event.userMetadata?.summary?.data ?? '').toString();
    return [`${name}: ${JSON.parse(summary || '""') as string}`];
  });
}

/** A local activity leaves one marker, without its input. */
export function localActivityIn({ markerRecordedEventAttributes: marker }: HistoryEvent) {
  const [data] = marker?.details?.['data']?.payloads ?? [];
  if (marker?.markerName !== 'core_local_activity' || !data) return undefined;
  const { activity_type: name } = JSON.parse(Buffer.from(data.data ?? '').toString()) as { activity_type: string };
  return { name, result: marker.details?.['result']?.payloads?.[0], failed: marker.failure ?? undefined };
}

/** The input of each call of an activity. */
export async function inputsOf(run: Run, activity: string): Promise<unknown[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const [input] = scheduled?.input?.payloads ?? [];
    return scheduled?.activityType?.name === activity && input ? [defaultPayloadConverter.fromPayload(input)] : [];
  });
}

/** The result of each call of an activity that was done. */
export async function resultsOf(run: Run, activity: string): Promise<unknown[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const [result] = completed?.result?.payloads ?? [];
    const isIts = result && isOf(activity, completed?.scheduledEventId, events);
    return isIts ? [defaultPayloadConverter.fromPayload(result)] : [];
  });
}

export async function failuresOf(run: Run, activity: string): Promise<unknown[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskFailedEventAttributes: failed }) =>
    failed && isOf(activity, failed.scheduledEventId, events) ? [failed.failure?.applicationFailureInfo?.type] : [],
  );
}

function isOf(activity: string, scheduledEventId: unknown, events: HistoryEvent[] | null | undefined): boolean {
  const scheduled = events?.find(({ eventId }) => Number(eventId) === Number(scheduledEventId));
  return scheduled?.activityTaskScheduledEventAttributes?.activityType?.name === activity;
}

/** The states that the list has shown, one after another. */
export async function statesOf(run: Run): Promise<unknown[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => {
    const state = upsert?.searchAttributes?.indexedFields?.['SagaState'];
    return state ? [defaultPayloadConverter.fromPayload<unknown[]>(state)].flat().slice(0, 1) : [];
  });
}
