/**
 * Everything that a saga needs, real but for the provider: a namespace of its own on the dev server, a worker in this
 * process, the sandbox over HTTP. One per test file.
 *
 * Closing it replays the history of every saga that ran in it: an old run must replay on the present code.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { ActivitySettings } from '../../src/activities/settings';
import { OrderSagaClient } from '../../src/client/client';
import { SearchAttributesMissingError } from '../../src/client/errors';
import type { ProviderConfig } from '../../src/config';
import { createSagaWorker, type SagaWorker, type SagaWorkerConfig } from '../../src/operations/saga-worker';
import { createDataConverter, createWorkerDataConverter } from '../../src/security/data-converter';
import type { PayloadKeys } from '../../src/security/keys';
import type { SecretSources } from '../../src/security/secret-resolver';
import { Sandbox, type SandboxOptions } from '../../sandbox/server';
import { rigSettings } from './activity-settings';
import { replayAll } from './replay';

export interface RigOptions {
  sandbox?: SandboxOptions;
  activities?: Partial<ActivitySettings>;
  provider?: Partial<ProviderConfig>;
  /** False: the test starts workers itself. */
  worker?: boolean;
  /** With keys; needs a bundle of its own, see {@link bundle}. */
  payloadKeys?: PayloadKeys;
  secrets?: Partial<SecretSources>;
  /** Another server than the one that all test files share. */
  address?: string;
  /** Another workflow bundle than the one that all test files share. */
  bundle?: string;
  /** Which sagas' histories have to replay at the end. @default all */
  replays?: (run: { workflowId: string }) => boolean;
}

export class Rig {
  private readonly running = new Set<{ saga: SagaWorker; stopped: Promise<void> }>();

  private constructor(
    readonly address: string,
    readonly namespace: string,
    readonly sandbox: Sandbox,
    readonly temporal: Client,
    readonly sagas: OrderSagaClient,
    private readonly native: NativeConnection,
    private readonly options: RigOptions,
  ) {}

  static async start(options: RigOptions = {}): Promise<Rig> {
    quietRuntime();
    const address = options.address ?? process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'];
    if (address === undefined) throw new Error('the global set-up starts a Temporal server: run this through jest');
    const namespace = `test-${randomUUID()}`;
    const connection = await Connection.connect({ address });
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('24 hours'),
    });
    const native = await NativeConnection.connect({ address });
    await untilThere(native, namespace);
    const sandbox = await Sandbox.start({ orderResponse: 'ids', anyServer: true, ...options.sandbox });
    const dataConverter = createDataConverter(options.payloadKeys);
    const temporal = new Client({ connection, namespace, dataConverter });
    const rig = new Rig(address, namespace, sandbox, temporal, new OrderSagaClient(temporal), native, options);
    if (options.worker !== false) {
      await rig.startWorker();
      await untilNamed(rig.sagas);
    }
    return rig;
  }

  /** Stops the workers that run, and starts one with other settings. */
  async replaceWorkers(changes: Partial<SagaWorkerConfig>): Promise<{ stop: () => Promise<void> }> {
    await this.stopWorkers();
    return this.startWorker(changes);
  }

  /** A further worker in this process, with the given settings changed. */
  async startWorker(
    changes: Partial<SagaWorkerConfig> = {},
    codePath = this.bundle,
  ): Promise<{ stop: () => Promise<void> }> {
    const saga = await createSagaWorker(
      this.native,
      { ...this.workerConfig(), ...changes },
      {
        workflowBundle: { codePath },
      },
    );
    const entry = { saga, stopped: saga.worker.run() };
    this.running.add(entry);
    return {
      stop: async () => {
        saga.worker.shutdown();
        await entry.stopped;
        await saga.provider.close();
        this.running.delete(entry);
      },
    };
  }

  /** The environment of a worker, sandbox and client in processes of their own. */
  get environment(): Record<string, string> {
    return {
      TEMPORAL_ADDRESS: this.address,
      TEMPORAL_NAMESPACE: this.namespace,
      PROVIDER_BASE_URL: this.sandbox.url,
      SERVER_POINTERS: '/vm_object_ids',
      PROVIDER_PAUSE_MAX_MS: '0',
      RETRY_READING: '3,10,50,60000',
      RETRY_ACTING: '3,10,50,60000',
      RETRY_UNDOING: '3,10,50,60000',
      RETRY_DARING: '3,10,50,60000',
      RETRY_EXPECTING: '6,10,50,60000',
    };
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.replaySagas();
    await this.sandbox.close();
    await this.native.close();
    await this.temporal.connection.close();
  }

  private async stopWorkers(): Promise<void> {
    for (const entry of [...this.running]) {
      entry.saga.worker.shutdown();
      await entry.stopped;
      await entry.saga.provider.close();
      this.running.delete(entry);
    }
  }

  /** @throws when the history of any saga of this namespace does not replay on the present code */
  private async replaySagas(): Promise<void> {
    const histories = [];
    for await (const { workflowId, runId } of this.temporal.workflow.list()) {
      if (this.options.replays?.({ workflowId }) === false) continue;
      const handle = this.temporal.workflow.getHandle(workflowId, runId);
      histories.push({ workflowId, history: await handle.fetchHistory() });
    }
    const { bundle, workerDataConverter: dataConverter } = this;
    for (const { workflowId, error } of await replayAll({ bundle, dataConverter }, histories)) {
      if (error) throw new Error(`the history of ${workflowId} does not replay: ${error.message}`);
    }
  }

  /** @throws when the history of this saga does not replay on that bundle */
  async replay(workflowId: string, bundle: string): Promise<void> {
    const history = await this.temporal.workflow.getHandle(workflowId).fetchHistory();
    const [result] = await replayAll({ bundle, dataConverter: this.workerDataConverter }, [{ workflowId, history }]);
    if (result?.error) throw result.error;
  }

  private get workerDataConverter(): DataConverter {
    return createWorkerDataConverter(this.options.payloadKeys, require.resolve('../../src/workflows/clear-input'));
  }

  private get bundle(): string {
    return this.options.bundle ?? bundlePath();
  }

  private workerConfig(): SagaWorkerConfig {
    return {
      namespace: this.namespace,
      taskQueue: 'order-saga',
      provider: {
        baseUrl: this.sandbox.url,
        allowHttp: false,
        readToken: undefined,
        authHeader: 'authorization',
        authScheme: 'Bearer',
        connectTimeoutMs: 2_000,
        totalTimeoutMs: 10_000,
        responseBytesMax: 1024 * 1024,
        connections: 64,
        // Sagas of many tests share a worker: what one of them is told should not hold up the others.
        pauseMaxMs: 0,
        quoteMethod: 'PUT',
        ca: undefined,
        ...this.options.provider,
      },
      activities: { ...rigSettings, ...this.options.activities },
      payloadKeys: this.options.payloadKeys,
      secrets: { variable: () => undefined, ...this.options.secrets },
      callsPerSecond: undefined,
      version: undefined,
      shutdownGraceMs: 30_000,
      activitiesAtOnce: 100,
      workflowTasksAtOnce: 100,
    };
  }
}

let runtimeInstalled = false;

/** Once per test file: the runtime is one for the process, and what sagas log is not the test's output. */
function quietRuntime(): void {
  if (runtimeInstalled) return;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  runtimeInstalled = true;
}

/** Waits for a condition of the world outside; a test that waits for ever is ended by jest and says where. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(25);
  }
}

function bundlePath(): string {
  const path = process.env['ORDER_SAGA_TEST_BUNDLE'];
  if (path === undefined) throw new Error('the global set-up builds the workflow bundle: run this through jest');
  return path;
}

/** A new namespace is known to all of the server's services only after a moment. */
async function untilThere(native: NativeConnection, namespace: string): Promise<void> {
  await until(async () => {
    try {
      await native.workflowService.listWorkflowExecutions({ namespace });
      return true;
    } catch {
      return false;
    }
  });
}

/** What a worker adds to the search attributes of a namespace can be asked for only after a moment. */
async function untilNamed(sagas: OrderSagaClient): Promise<void> {
  await until(async () => {
    try {
      await sagas.list({ state: 'running', limit: 1 })[Symbol.asyncIterator]().next();
      return true;
    } catch (error) {
      if (error instanceof SearchAttributesMissingError) return false;
      throw error;
    }
  });
}
