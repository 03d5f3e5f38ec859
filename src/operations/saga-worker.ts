/** A Temporal worker that runs sagas, and the provider client behind it. Tests and production build it the same way. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  bundleWorkflowCode,
  Runtime,
  Worker,
  type ActivityInterceptorsFactory,
  type InjectedSinks,
  type NativeConnection,
  type WorkerDeploymentOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import { createActivities } from '../activities/index';
import { runStatusOf } from '../client/saga-list';
import type { WorkerConfig, WorkerVersion } from '../config';
import { believed, notBelieved } from '../domain/unsealed';
import { isSilent, claim, openJournal } from '../journal/open';
import { Witness } from '../journal/restore/witness';
import { ProviderClient, type CallEvent } from '../provider/client';
import { digestOf } from '../provider/profile';
import { createDataConverter } from '../security/data-converter';
import { createSealing } from '../security/sealing';
import { createSecretResolver } from '../security/secret-resolver';
import { bundling, payloadConverterPath } from './workflow-modules';
import { Sender } from '../notifications/sender';
import type { TraceSinks } from '../workflows/trace-propagation';
import { checkJournalKeys } from './journal-keys';
import { recordCallsWith } from './metrics';
import { describeWorker } from '../temporal/worker-identity';
import { ensureSearchAttributes } from './search-attributes';
import type { Tracing } from './tracing';

export type SagaWorker = Awaited<ReturnType<typeof createSagaWorker>>;

export type SagaWorkerConfig = Pick<
  WorkerConfig,
  | 'namespace'
  | 'taskQueue'
  | 'payloadKeys'
  | 'provider'
  | 'journal'
  | 'activities'
  | 'secrets'
  | 'version'
  | 'shutdownGraceMs'
> & { activitiesAtOnce: number; callsPerSecond?: number };

/** These decisions at once need a few hundred megabytes and one core; more throughput is more workers. */
export const workflowTasksAtOnce = 200;

type WorkflowCode = Pick<WorkerOptions, 'workflowBundle'>;

/**
 * @param code a prebuilt bundle. Default: the bundle beside the built worker, or the sources in a checkout
 * @throws CannotStart when the namespace lacks search attributes that this worker may not add, or a key is not the
 * journal's; JournalSchemaError, JournalUnavailable
 */
export async function createSagaWorker(
  connection: NativeConnection,
  config: SagaWorkerConfig,
  code?: WorkflowCode,
  tracing?: Tracing,
) {
  const workflows = code ?? (await builtOrSources(config.payloadKeys !== undefined));
  await ensureSearchAttributes(connection, config.namespace);
  const { namespace, taskQueue } = config;
  const dataConverter = createDataConverter(config.payloadKeys, payloadConverterPath);
  // With the keys: what the worker's own activities ask of Temporal.
  const temporal = new Client({ connection, namespace, dataConverter });
  const keys = [...(config.payloadKeys?.byId.keys() ?? [])];
  const name = `${process.pid}@${hostname()}`;
  const change = config.payloadKeys?.change ?? false;
  const profile = config.provider.profile && digestOf(config.provider.profile);
  const identity = describeWorker({ process: name, keys, change, profile });
  const { logger: log, metricMeter } = Runtime.instance();
  // With the labels that the SDK adds to what workflows count.
  const meter = metricMeter.withTags({ namespace, taskQueue });
  const recordCall = recordCallsWith(meter);
  const onCall = (event: CallEvent) => {
    recordCall(event);
    tracing?.onCall(event);
  };
  const provider = new ProviderClient({ ...config.provider, onCall });
  const secrets = createSecretResolver(config.secrets);
  const warn = (message: string) => void log.warn(message);
  const { address, failover, witnessFile } = config.journal;
  const witness = witnessFile === undefined ? undefined : new Witness(witnessFile, warn);
  const journal = await openJournal(address, createSealing(config.payloadKeys), { how: failover, warn, witness });
  try {
    await claim(journal, namespace);
    await checkJournalKeys(journal, warn);
    if (await isSilent(journal))
      warn('the journal’s database does not say on which timeline it is: that it was restored is then not noticed');
  } catch (error) {
    await journal.close();
    throw error;
  }
  const sender = new Sender(config.activities.notifications ?? { allowed: [], timeoutMs: 0 });
  /** Closes what the activities hold. To be called when the worker has stopped. */
  const close = async () => {
    await provider.close();
    await sender.close();
    await journal.close();
  };
  const worker = await Worker.create({
    ...workflows,
    interceptors: {
      activity: [...(config.payloadKeys ? [believingSealed] : []), ...(tracing?.worker.interceptors.activity ?? [])],
    },
    sinks: tracing?.worker.sinks ?? untraced,
    connection,
    namespace,
    taskQueue,
    identity,
    activities: createActivities({
      provider,
      journal,
      secrets,
      sender,
      settings: config.activities,
      lookUp: runStatusOf,
    }),
    dataConverter,
    maxTaskQueueActivitiesPerSecond: config.callsPerSecond,
    workerDeploymentOptions: config.version && deploymentOf(config.version),
    maxConcurrentActivityTaskExecutions: config.activitiesAtOnce,
    maxConcurrentWorkflowTaskExecutions: workflowTasksAtOnce,
    maxCachedWorkflows: Math.min(cachedMax, cachedByHeap()),
    // After this, another worker takes the tasks of a killed one; an operator would notice the default of 10 s.
    stickyQueueScheduleToStartTimeout: '3 seconds',
    shutdownGraceTime: config.shutdownGraceMs,
    // Activities ignore cancellation: their call ends by its own timeout, within the grace. This limit is for a call
    // that does not.
    shutdownForceTime: config.shutdownGraceMs + 10_000,
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { worker, journal, temporal, meter, close };
}

/** Whoever reaches Temporal's API can answer a workflow task, and so call an activity. */
const believingSealed: ActivityInterceptorsFactory = () => {
  const refuse = () => ApplicationFailure.nonRetryable(`what it is to do: ${notBelieved}`, 'NotBelieved');
  return {
    inbound: {
      execute: (input, next) => next({ ...input, args: input.args.map((value) => believed(value, refuse)) }),
    },
  };
};

/** Thousands wait for days: in memory they would cost more than a replay does when one of them goes on. */
const cachedMax = 500;

/** As the SDK has it by default: it also keeps within a small container. */
function cachedByHeap(): number {
  const heapMiB = getHeapStatistics().heap_size_limit / 1_024 ** 2;
  return Math.max(Math.floor(((heapMiB - 200) * 600) / 1_024), 10);
}

function deploymentOf({ behavior, ...version }: WorkerVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: behavior };
}

/** Runs report their end to this sink; without tracing, it does nothing. */
const untraced: InjectedSinks<TraceSinks> = { trace: { ended: { fn: () => undefined } } };

/** There are two bundles, because failures are converted in another way where there are keys. */
async function builtOrSources(encrypted: boolean): Promise<WorkflowCode> {
  const codePath = join(__dirname, '..', encrypted ? 'workflow-bundle.encrypted.js' : 'workflow-bundle.js');
  const workflowBundle = existsSync(codePath) ? { codePath } : await bundleWorkflowCode(bundling({ encrypted }));
  return { workflowBundle };
}
