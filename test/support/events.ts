/** What a run's history says, in few words. */
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';

type Run = Pick<WorkflowHandle, 'fetchHistory'>;

/**
 * Each as `addCartItem: add cart item 1`: the activity, local ones, too, and its summary in the Web UI. What is written
 * beside the saga is left out: how many calls that takes, and when, is a matter of time.
 */
export async function activitiesOf(run: Run): Promise<string[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name ?? localIn(event)?.name;
    if (!name || name === 'tell') return [];
    const summary = Buffer.from(event.userMetadata?.summary?.data ?? '').toString();
    return [`${name}: ${JSON.parse(summary || '""') as string}`];
  });
}

/** A local activity leaves one marker, without its input. */
function localIn({ markerRecordedEventAttributes: marker }: temporal.api.history.v1.IHistoryEvent) {
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

/** What each call of an activity that was done came to. */
export async function resultsOf(run: Run, activity: string): Promise<unknown[]> {
  const { events = [] } = await run.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const scheduled = events?.find(({ eventId }) => Number(eventId) === Number(completed?.scheduledEventId));
    const [result] = completed?.result?.payloads ?? [];
    const name = scheduled?.activityTaskScheduledEventAttributes?.activityType?.name;
    return name === activity && result ? [defaultPayloadConverter.fromPayload(result)] : [];
  });
}

/** The activities whose call had no end when the run had one. */
export async function leftUnderWay(run: Run): Promise<string[]> {
  const { events = [] } = await run.fetchHistory();
  const ended = new Set<number>();
  for (const event of events ?? []) {
    const end =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    if (end) ended.add(Number(end.scheduledEventId));
  }
  return (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled && !ended.has(Number(eventId)) ? [scheduled.activityType?.name ?? ''] : [],
  );
}

/** The states that the list has shown, one after another. */
export async function statesOf(run: Run): Promise<unknown[]> {
  return (await attributeEventsOf(run)).flatMap(({ SagaState: state }) => (state === undefined ? [] : [state]));
}

async function attributeEventsOf(run: Run): Promise<Record<string, unknown>[]> {
  const { events } = await run.fetchHistory();
  return (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => {
    const fields = upsert?.searchAttributes?.indexedFields;
    if (!fields) return [];
    const read = ([name, payload]: [string, (typeof fields)[string]]) => [
      name,
      [defaultPayloadConverter.fromPayload(payload)].flat()[0],
    ];
    return [Object.fromEntries(Object.entries(fields).map(read)) as Record<string, unknown>];
  });
}
