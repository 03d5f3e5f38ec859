import { temporal } from '@temporalio/proto';
import { countHistory } from '../../../bench/history-counts';

const { EventType, TaskQueueKind } = temporal.api.enums.v1;

const history = (identity: string) => ({
  events: [
    {
      eventType: EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
      workflowExecutionStartedEventAttributes: { identity },
    },
    {
      eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
      workflowTaskScheduledEventAttributes: {
        taskQueue: { name: `${identity}-order-saga`, kind: TaskQueueKind.TASK_QUEUE_KIND_STICKY },
      },
    },
    {
      eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
      workflowTaskCompletedEventAttributes: { identity, scheduledEventId: null },
    },
    { eventType: EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES },
    { eventType: EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED },
  ],
});

it('counts what a saga left', () => {
  expect(countHistory(history('1@host'))).toMatchObject({
    events: 5,
    workflowTasks: 1,
    searchAttributeUpserts: 1,
    memoUpserts: 1,
  });
});

it('counts the same bytes on a machine with a longer name', () => {
  expect(countHistory(history('54321@a-machine-with-a-longer-name')).bytes).toBe(countHistory(history('1@host')).bytes);
});

it('counts what the saga itself writes', () => {
  const [, ...more] = history('1@host').events;
  const started = { eventType: EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED };
  const input = { payloads: [{ data: new Uint8Array(100) }] };
  const [small, large] = [{}, { input }].map((attributes) =>
    countHistory({ events: [{ ...started, workflowExecutionStartedEventAttributes: attributes }, ...more] }),
  );
  expect(large!.bytes - small!.bytes).toBeGreaterThan(100);
});
