/** Which sagas are held, and whether a hold is on by then. */
import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createHoldActivities } from '../../../src/activities/hold';
import { sagaAttributes } from '../../../src/temporal/search-attributes';

it('sees a hold that began while it read which sagas are held', async () => {
  let isHeld = false;
  const running = { status: { name: 'RUNNING' }, runId: 'the-hold', startTime: new Date(), memo: {} };
  const client = {
    withAbortSignal: <T>(_signal: AbortSignal, call: () => T) => call(),
    workflow: {
      async *list() {
        yield {
          ...{ workflowId: 'provision/T-1', type: 'provisionServers', status: { name: 'RUNNING' } },
          typedSearchAttributes: new TypedSearchAttributes([
            { key: sagaAttributes.state, value: 'held' },
            { key: sagaAttributes.step, value: 'take-reference' },
            { key: sagaAttributes.question, value: 'q' },
            { key: sagaAttributes.waitingSince, value: new Date(0) },
          ]),
        };
        await Promise.resolve();
        isHeld = true;
      },
      getHandle: () => ({
        describe: () => Promise.resolve({ ...running, status: { name: isHeld ? 'RUNNING' : 'COMPLETED' } }),
      }),
    },
  } as unknown as Client;
  const { listHeld } = createHoldActivities();
  const held = await new MockActivityEnvironment({}, { client }).run(listHeld);
  expect(held).toEqual({ holdRun: 'the-hold', workflowIds: ['provision/T-1'] });
});
