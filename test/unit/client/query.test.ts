/** A question that Temporal calls off: because its worker stopped, because its time was over, or for another reason. */
import { ServiceError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DecisionRefusedError, NoConnectionError, NoWorkerError, SagaEndedError } from '../../../src/client/errors';
import { SagaHandle } from '../../../src/client/handle';

const view = { state: 'running' };

/** A Temporal that calls off so many queries, in these words, before it answers one. */
function sagaBehind(calledOff: number, details: string): SagaHandle {
  let asked = 0;
  const query = () => {
    asked += 1;
    const cause = Object.assign(new Error('1 CANCELLED'), { code: 1, details, metadata: {} });
    return asked > calledOff ? Promise.resolve(view) : Promise.reject(new ServiceError('Failed to query', { cause }));
  };
  return sagaOf({ query, describe: () => Promise.resolve({}) });
}

function sagaOf(handle: object): SagaHandle {
  const temporal = {
    options: { namespace: 'any' },
    connection: {},
    workflow: { getHandle: () => handle },
    withDeadline: (_: number, call: () => unknown) => call(),
  };
  return new SagaHandle(temporal as never, 'switchPlan', 'R', '', true);
}

/** The server's words where the worker that had the query stopped; and the gRPC library's, whose deadline passed. */
const [stopped, passed] = ['context canceled', 'Call cancelled'];

it('is answered by the next worker', async () => {
  expect(await sagaBehind(2, stopped).progress()).toBe(view);
});

it.each([
  [stopped, 0, NoWorkerError],
  [passed, 0, NoWorkerError],
  [passed, 60_000, NoConnectionError],
])('in the words “%s” with %i ms left has the right name', async (words, withinMs, kind) => {
  await expect(sagaBehind(Infinity, words).progress({ withinMs })).rejects.toBeInstanceOf(kind);
});

it('where not even Temporal answers, no worker is blamed', async () => {
  const said = { details: 'gone', metadata: {} };
  const gone = (code: number) => new ServiceError('gone', { cause: Object.assign(new Error(), { code, ...said }) });
  const saga = sagaOf({
    query: () => Promise.reject(gone(4)),
    executeUpdate: () => Promise.reject(new WorkflowUpdateRPCTimeoutOrCancelledError('gone')),
    describe: () => Promise.reject(gone(14)),
  });
  await expect(saga.progress()).rejects.toBeInstanceOf(NoConnectionError);
  await expect(saga.decide('approve', { question: 'q', by: 'ann' })).rejects.toBeInstanceOf(NoConnectionError);
});

it.each([
  ['AcceptedUpdateCompletedWorkflow', SagaEndedError],
  ['DecisionRefused', DecisionRefusedError],
])('an update that failed as %s has the right name', async (type, kind) => {
  const failed = new WorkflowUpdateFailedError('it failed', ApplicationFailure.create({ type, message: 'why' }));
  const saga = sagaOf({ executeUpdate: () => Promise.reject(failed), describe: () => Promise.resolve({}) });
  await expect(saga.decide('approve', { question: 'q', by: 'ann' })).rejects.toBeInstanceOf(kind);
});
