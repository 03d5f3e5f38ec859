/** A worker that stops with a question in hand: the server calls the query off, and the next worker is asked. */
import { ServiceError } from '@temporalio/client';
import { NoWorkerError } from '../../../src/client/errors';
import { SagaHandle } from '../../../src/client/handle';

const view = { state: 'running' };

/** A Temporal that calls off so many queries, in the server's words, before it answers one. */
function sagaBehind(cutOff: number): SagaHandle {
  let asked = 0;
  const query = () => {
    asked += 1;
    const cause = Object.assign(new Error('1 CANCELLED'), { code: 1, details: 'context canceled', metadata: {} });
    return asked > cutOff ? Promise.resolve(view) : Promise.reject(new ServiceError('Failed to query', { cause }));
  };
  const temporal = {
    options: { namespace: 'any' },
    workflow: { getHandle: () => ({ query }) },
    withDeadline: (_: number, call: () => unknown) => call(),
  };
  return new SagaHandle(temporal as never, 'switchPlan', 'R', '', true);
}

it('is answered by the next one', async () => {
  expect(await sagaBehind(2).progress()).toBe(view);
});

it('is not asked for ever', async () => {
  await expect(sagaBehind(Infinity).progress({ withinMs: 0 })).rejects.toBeInstanceOf(NoWorkerError);
});
