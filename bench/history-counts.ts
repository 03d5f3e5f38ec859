/** What one saga left on the server. */
import { temporal } from '@temporalio/proto';

type History = temporal.api.history.v1.IHistory;

export interface HistoryCounts {
  events: number;
  workflowTasks: number;
  searchAttributeUpserts: number;
  memoUpserts: number;
  /** As protobuf, without the names of the processes, which are as long as the machine's. */
  bytes: number;
}

const { EventType, TaskQueueKind } = temporal.api.enums.v1;

export function countHistory(history: History): HistoryCounts {
  const events = history.events ?? [];
  const ofType = (type: temporal.api.enums.v1.EventType) => events.filter(({ eventType }) => eventType === type).length;
  return {
    events: events.length,
    workflowTasks: ofType(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
    searchAttributeUpserts: ofType(EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES),
    memoUpserts: ofType(EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED),
    bytes: temporal.api.history.v1.History.encode({ events: events.map(nameless) }).finish().length,
  };
}

function nameless(event: temporal.api.history.v1.IHistoryEvent): temporal.api.history.v1.IHistoryEvent {
  const stripped = Object.entries(event).map(([field, value]: [string, unknown]) => {
    if (!field.endsWith('Attributes') || typeof value !== 'object' || value === null) return [field, value];
    const attributes = { ...value } as Attributes;
    delete attributes.identity;
    // A worker's own queue is named after it.
    if (attributes.taskQueue?.kind === TaskQueueKind.TASK_QUEUE_KIND_STICKY) delete attributes.taskQueue;
    return [field, attributes];
  });
  return Object.fromEntries(stripped) as temporal.api.history.v1.IHistoryEvent;
}

interface Attributes {
  identity?: string;
  taskQueue?: temporal.api.taskqueue.v1.ITaskQueue | null;
}
