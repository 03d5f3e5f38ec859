/** Temporal itself repeats no saga: the next run would act in the name of one whose end was told. */
import type { WorkflowStartOptions } from '@temporalio/client';
import { changeRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';

const rig = rigForFile();

it.each<[string, Pick<WorkflowStartOptions, 'cronSchedule' | 'retry'>]>([
  ['cronSchedule', { cronSchedule: '@every 1s' }],
  ['retryPolicy', { retry: { initialInterval: 1 } }],
])('a saga that Temporal would repeat (%s) is refused at its start, and sends nothing', async (field, repeats) => {
  const request = changeRequest();
  const { workflow } = rig.temporal;
  const options = { workflowId: `change/${request.reference}`, taskQueue: 'order-saga', args: [request] };
  const { firstExecutionRunId } = await workflow.start('changeOrder', { ...options, ...repeats });
  const run = workflow.getHandle(options.workflowId, firstExecutionRunId);
  const { failure } = await until(async () => {
    const { events } = await run.fetchHistory();
    return events?.at(-1)?.workflowExecutionFailedEventAttributes ?? false;
  });
  // A cron schedule starts the next one after each end.
  if (repeats.cronSchedule) await workflow.getHandle(options.workflowId).terminate();
  expect(failure?.message).toContain(`${field}: a saga is never repeated by Temporal`);
  expect(failure?.applicationFailureInfo).toMatchObject({ type: 'InvalidRequest', nonRetryable: true });
  expect(rig.callsOf(request)).toEqual([]);
  expect(await rig.recordOf({ workflow: 'changeOrder', reference: request.reference })).toBeUndefined();
});

it('a retry policy of one attempt repeats nothing, and is let pass', async () => {
  const request = changeRequest();
  const workflowId = `change/${request.reference}`;
  const options = { workflowId, taskQueue: 'order-saga', args: [request], retry: { maximumAttempts: 1 } };
  expect(await rig.temporal.workflow.execute('changeOrder', options)).toMatchObject({ outcome: 'done' });
});
