/** The workers behind a queue, whether they can read what a client is about to send, and the start of what they run. */
import type { Client, Connection, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { temporal as proto } from '@temporalio/proto';
import { ignoreErrors } from '../domain/ignore-errors';
import { isLoopback } from '../domain/loopback';
import { EncryptionCodec } from '../security/payload-codec';
import { readWorker } from '../temporal/worker-identity';
import { KeysDifferError } from './errors';
import { withTemporalErrors } from './temporal-errors';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.api.enums.v1.TaskQueueType;

/**
 * How many poll for workflows, and for calls; and of the former, what ours say of themselves. Temporal forgets a poller
 * some minutes after its last poll.
 *
 * @param seenWithinMs only those that have polled since then, by this machine's clock
 * @throws NoConnectionError
 */
export function pollersOf(temporal: Client, taskQueue: string, seenWithinMs = Infinity) {
  const { namespace } = temporal.options;
  const ask = async (taskQueueType: proto.api.enums.v1.TaskQueueType) => {
    const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType };
    const { pollers } = await temporal.workflowService.describeTaskQueue(asked);
    const sinceSeconds = (Date.now() - seenWithinMs) / 1000;
    return pollers.filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) >= sinceSeconds);
  };
  return withTemporalErrors(temporal, async () => {
    const workflows = await ask(TASK_QUEUE_TYPE_WORKFLOW);
    const calls = await ask(TASK_QUEUE_TYPE_ACTIVITY);
    const workers = workflows.map(({ identity }) => readWorker(identity ?? '')).filter((one) => one !== undefined);
    return { workflows: workflows.length, calls: calls.length, workers };
  });
}

interface Sender {
  taskQueue: string;
  allowClear: boolean;
  /** Until then the workers' keys are as they were seen. */
  fineUntilMs: number;
}

const senders = new WeakMap<Client, Sender>();

/** Workers come and go slowly, and a script starts many sagas. */
const fineForMs = 10_000;

export function declareSender(temporal: Client, sender: Pick<Sender, 'taskQueue' | 'allowClear'>): void {
  senders.set(temporal, { ...sender, fineUntilMs: 0 });
}

/**
 * A client whose payloads another codec encrypts is not looked at, nor is one of a worker.
 *
 * @throws KeysDifferError, NoConnectionError
 */
export async function requireSharedKeys(temporal: Client): Promise<void> {
  const sender = senders.get(temporal);
  if (sender === undefined || Date.now() < sender.fineUntilMs) return;
  const { payloadCodecs } = temporal.options.loadedDataConverter;
  const codec = payloadCodecs.find((one) => one instanceof EncryptionCodec);
  const own = codec?.encryptsWith;
  if (own === undefined && (sender.allowClear || (codec === undefined && payloadCodecs.length > 0))) return;
  const { taskQueue } = sender;
  const { workers } = await pollersOf(temporal, taskQueue);
  const fits = workers.some(({ keys, change }) =>
    own === undefined ? keys.length === 0 : change || keys.includes(own),
  );
  if (!fits && workers.length > 0) {
    const theirs = [...new Set(workers.map(({ keys }) => keys.join(', ') || 'none'))].join('; ');
    throw new KeysDifferError(own, `the workers on ${taskQueue} have ${theirs}`);
  }
  const { address = 'localhost' } = (temporal.connection as Partial<Pick<Connection, 'options'>>).options ?? {};
  if (!fits && own === undefined && !isLoopback(new URL(`tcp://${address}`).hostname)) {
    throw new KeysDifferError(own, `no worker polls ${taskQueue}, and ${address} is not this machine`);
  }
  if (fits) sender.fineUntilMs = Date.now() + fineForMs;
}

/**
 * Starts a workflow, unless there is one of its id already.
 *
 * @returns the run's id; undefined where there is one
 * @throws as {@link withTemporalErrors}
 */
export async function startUnlessThere(temporal: Client, workflow: string, options: WorkflowStartOptions) {
  await requireSharedKeys(temporal);
  const starting = withTemporalErrors(temporal, () => temporal.workflow.start(workflow, options));
  return (await starting.catch(ignoreErrors(WorkflowExecutionAlreadyStartedError)))?.firstExecutionRunId;
}
