/** A question that Temporal calls off: because its worker stopped, because its time was over, or for another reason. */
import { ServiceError, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import {
  DecisionRefusedError,
  NoConnectionError,
  NoWorkerError,
  PayloadUnreadableError,
  SagaEndedError,
  UnknownReferenceError,
} from '../../../src/client/errors';
import { SagaHandle } from '../../../src/client/handle';
import { DecryptionError } from '../../../src/security/payload-codec';

const view = { state: 'running' };

/** A Temporal that calls off so many queries, in these words, before it answers one. */
function sagaBehind(calledOff: number, details: string): SagaHandle {
  let asked = 0;
  const query = () => {
    asked += 1;
    const cause = Object.assign(new Error('1 CANCELLED'), { code: 1, details, metadata: {} });
    return asked > calledOff ? Promise.resolve(view) : Promise.reject(new ServiceError('Failed to query', { cause }));
  };
  return sagaOf({ query });
}

const run = {
  ...{ type: { name: 'switchPlan' }, execution: { workflowId: 'switch/R', runId: 'r' }, status: 1 },
  ...{ historyLength: msToTs(0).seconds, startTime: msToTs(0) },
};
const described = () => Promise.resolve({ workflowExecutionInfo: run });

function sagaOf(handle: object, describeWorkflowExecution: () => Promise<unknown> = described, more = {}): SagaHandle {
  const temporal = {
    options: { namespace: 'any', loadedDataConverter: { payloadCodecs: [] } },
    connection: { workflowService: { describeWorkflowExecution } },
    workflow: { getHandle: () => handle, ...more },
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
  const said = { details: 'gone', metadata: { get: () => [] } };
  const gone = (code: number) => Object.assign(new Error(), { code, ...said });
  const saga = sagaOf(
    {
      query: () => Promise.reject(new ServiceError('gone', { cause: gone(4) })),
      executeUpdate: () => Promise.reject(new WorkflowUpdateRPCTimeoutOrCancelledError('gone')),
    },
    () => Promise.reject(gone(14)),
  );
  await expect(saga.progress()).rejects.toBeInstanceOf(NoConnectionError);
  await expect(saga.decide('approve', { question: 'q', by: 'ann' })).rejects.toBeInstanceOf(NoConnectionError);
});

it('what is sealed with a key that the client lacks has a name, and says which key', async () => {
  const sealed = () =>
    Promise.reject(new DecryptionError('encrypted with key “k2”, which is not among PAYLOAD_KEYS', false));
  const saga = sagaOf({ query: sealed }, described, { result: sealed });
  for (const asked of [saga.result(), saga.progress()]) {
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PayloadUnreadableError);
    expect((error as Error).message).toContain('key “k2”');
  }
});

it.each([
  ['AcceptedUpdateCompletedWorkflow', SagaEndedError],
  ['DecisionRefused', DecisionRefusedError],
])('an update that failed as %s has the right name', async (type, kind) => {
  const failed = new WorkflowUpdateFailedError('it failed', ApplicationFailure.create({ type, message: 'why' }));
  const saga = sagaOf({ executeUpdate: () => Promise.reject(failed) });
  await expect(saga.decide('approve', { question: 'q', by: 'ann' })).rejects.toBeInstanceOf(kind);
});

it.each([
  ['credentials that are refused', grpc(7, 'no'), NoConnectionError],
  ['credentials that are not given', grpc(16, 'no'), NoConnectionError],
  [
    'a certificate that is refused',
    grpc(13, 'Received RST_STREAM with code 2 … SSL alert number 42'),
    NoConnectionError,
  ],
  ['a certificate that has expired', grpc(14, 'No connection established. certificate has expired'), NoConnectionError],
  ['a namespace that is not there', new NamespaceNotFoundError('any'), NoConnectionError],
  ['a reference that is unknown', new WorkflowNotFoundError('none', 'switch/R', undefined), UnknownReferenceError],
])('a wait for the end does not go on with %s', async (_, error, kind) => {
  const result = () => Promise.reject(error);
  await expect(sagaOf({}, described, { result }).result()).rejects.toBeInstanceOf(kind);
});

function grpc(code: number, details: string): ServiceError {
  const cause = Object.assign(new Error(details), { code, details, metadata: { get: () => [] } });
  return new ServiceError('it failed', { cause });
}
