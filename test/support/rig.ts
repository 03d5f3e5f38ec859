/**
 * Everything that a saga needs, real but for the provider: a namespace of its own on the dev server, a worker in this
 * process, the sandbox over HTTP. One per test file.
 *
 * Closing it replays the history of every saga that ran in it: an old run must replay on the present code.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { ActivitySettings } from '../../src/activities/settings';
import { OrderSagaClient } from '../../src/client/client';
import { SearchAttributesMissingError } from '../../src/client/errors';
import { SagaHandle } from '../../src/client/handle';
import type { PlanTypes } from '../../src/domain/plan-types';
import type { WorkerConfig } from '../../src/config';
import type { WorkflowName } from '../../src/domain/identity';
import type { JournalAddress } from '../../src/journal/database/dialects';
import type { Journal } from '../../src/journal/journal';
import { migrate, openJournal } from '../../src/journal/open';
import { recordOf } from '../../src/journal/views/record';
import { createSagaWorker, type SagaWorkerConfig } from '../../src/operations/saga-worker';
import { createDataConverter } from '../../src/security/data-converter';
import type { PayloadKeys } from '../../src/security/keys';
import type { SecretSources } from '../../src/security/secret-resolver';
import { createSealing } from '../../src/security/sealing';
import { grpcCodeOf, grpcCodes, listRuns } from '../../src/temporal/service';
import type { EndpointName } from '../../sandbox/endpoints';
import type { Call } from '../../sandbox/ledger';
import { openCartItems, ordersWithLabel } from '../../sandbox/sentences';
import { Sandbox } from '../../sandbox/server';
import { changed, type Settings, type SettingsPatch } from '../../sandbox/settings';
import { rigSettings, sandboxProfileFile } from './activity-settings';
import { inMemory } from './folder';
import { PostgresServer, whyNoPostgres } from './postgres';
import { replayAll } from './replay';
import { planIdOf } from './requests';
import { differences, rowsIn } from './rows-and-ledger';
import { bundleOf } from './programs';
import { WaitingRoom } from './waiting-room';

export interface RigOptions {
  sandbox?: SettingsPatch;
  activities?: Partial<ActivitySettings>;
  provider?: Partial<WorkerConfig['provider']>;
  /** False: the test starts workers itself. */
  worker?: boolean;
  /** Another journal than a new one of the rig's own. */
  journal?: JournalAddress;
  /** Its own journal is on a PostgreSQL server; in a file only on a machine without PostgreSQL, which CI is not. */
  onPostgres?: boolean;
  /** What another timeline of that server means. @default ask */
  failover?: 'lossless';
  /** Workers keep in a file what they have seen of the journal. */
  witness?: boolean;
  /** With keys; needs a bundle of its own, see {@link bundle}. */
  payloadKeys?: PayloadKeys;
  secrets?: Partial<SecretSources>;
  /** Plan types that the client takes beside the document's. */
  planTypes?: PlanTypes;
  /** Another server than the one that all test files share. */
  address?: string;
  /** Sent with each call to Temporal. */
  metadata?: Record<string, string>;
  /** Another workflow bundle than the one that all test files share. */
  bundle?: string;
  /** Which sagas' histories have to replay at the end. @default all */
  replays?: (run: { workflowId: string }) => boolean;
  /** Each test leaves the sandbox as it was; for {@link rigForFile}. */
  clears?: boolean;
  /** False: what took effect is not all by way of our activities, or somebody told a lie. @default true */
  compares?: boolean;
}

/** The rig of a test file, or of a `describe`: there before the first test, closed after the last one. */
export const rigForFile = (options: RigOptions = {}) => rigBetween(beforeAll, afterAll, options);

/** One for each test. */
export const rigForEach = (options: RigOptions = {}) => rigBetween(beforeEach, afterEach, options);

function rigBetween(before: jest.Lifecycle, after: jest.Lifecycle, options: RigOptions): Rig {
  let rig: Rig | undefined;
  before(async () => {
    rig = await Rig.start(options);
  });
  afterEach(() => {
    if (options.clears) rig?.clear();
  });
  after(() => rig?.close());
  return new Proxy({} as Rig, {
    get: (_, name) => {
      if (rig === undefined) throw new Error('there is no rig before the first test');
      const value: unknown = Reflect.get(rig, name);
      return typeof value === 'function' ? (value.bind(rig) as unknown) : value;
    },
  });
}

export class Rig {
  readonly waitingRoom: WaitingRoom;
  private readonly running = new Set<{ stop: () => Promise<void> }>();

  private constructor(
    readonly address: string,
    readonly namespace: string,
    readonly sandbox: Sandbox,
    readonly temporal: Client,
    readonly sagas: OrderSagaClient,
    private readonly native: NativeConnection,
    private readonly options: RigOptions,
    /** Has the journal, if it is a file. Is removed at the end. */
    readonly folder: string,
    /** The sandbox's, as it was started. */
    private readonly settings: Settings,
    readonly postgres: PostgresServer | undefined,
  ) {
    this.waitingRoom = new WaitingRoom(sagas);
  }

  static async start(options: RigOptions = {}): Promise<Rig> {
    quietRuntime();
    const address = options.address ?? process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'];
    if (address === undefined) throw new Error('the global set-up starts a Temporal server: run this through jest');
    const namespace = `test-${randomUUID()}`;
    const connection = await Connection.connect({ address, metadata: options.metadata ?? {} });
    const workflowExecutionRetentionPeriod = msToTs('24 hours');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const native = await NativeConnection.connect({ address, metadata: options.metadata ?? {} });
    await untilThere(native, namespace);
    // The document does not say that an item can be ordered only once, so a provider that refuses it would hide second
    // orders.
    const closedCartItems = 'take' as const;
    const settings = changed({ orderResponse: 'ids', anyServer: true, closedCartItems, ...options.sandbox });
    const sandbox = await Sandbox.start(settings);
    const dataConverter = createDataConverter(options.payloadKeys);
    const temporal = new Client({ connection, namespace, dataConverter });
    const folder = mkdtempSync(join(inMemory, 'order-saga-rig-'));
    const sagas = new OrderSagaClient(temporal, { planTypes: options.planTypes });
    const postgres = options.onPostgres && whyNoPostgres === undefined ? await PostgresServer.start() : undefined;
    const rig = new Rig(address, namespace, sandbox, temporal, sagas, native, options, folder, settings, postgres);
    if (postgres !== undefined) await migrate(rig.journalAddress);
    if (options.worker !== false) {
      await rig.startWorker();
      await untilNamed(rig.sagas);
    }
    return rig;
  }

  /** The provider answers as it did at first. */
  clear(): void {
    this.sandbox.faults.clear();
    this.sandbox.configure(this.settings);
  }

  /** Stops the workers that run, and starts one with other settings. */
  async replaceWorkers(changes: Partial<SagaWorkerConfig>): Promise<{ stop: () => Promise<void> }> {
    await this.stopWorkers();
    return this.startWorker(changes);
  }

  /** The same, with other settings of activities than the rig's own. */
  restartWith(activities: Partial<ActivitySettings>): Promise<{ stop: () => Promise<void> }> {
    return this.replaceWorkers(this.workerConfig(activities));
  }

  /** Does something while no worker runs, and starts one again. */
  async withoutWorkers(work: () => Promise<void> | void): Promise<void> {
    await this.stopWorkers();
    await work();
    await this.startWorker();
  }

  /** A further worker in this process, with the given settings changed. */
  async startWorker(
    changes: Partial<SagaWorkerConfig> = {},
    codePath = this.bundle,
  ): Promise<{ stop: () => Promise<void> }> {
    const config = { ...this.workerConfig(), ...changes };
    const saga = await createSagaWorker(this.native, config, { workflowBundle: { codePath } });
    const stopped = saga.worker.run();
    const running = {
      stop: async () => {
        saga.worker.shutdown();
        await stopped;
        await saga.close();
        this.running.delete(running);
      },
    };
    this.running.add(running);
    return running;
  }

  /** The environment of a worker, sandbox and client in processes of their own. */
  get environment(): Record<string, string> {
    return {
      TEMPORAL_ADDRESS: this.address,
      TEMPORAL_NAMESPACE: this.namespace,
      PROVIDER_BASE_URL: this.sandbox.url,
      JOURNAL_URL: this.journalUrl,
      ...shortFlights,
      PROVIDER_PROFILE: sandboxProfileFile,
      RETRY_BUDGET: '3,10,50,60000',
      OWN_TRIES_MS: 'none',
    };
  }

  async close(): Promise<void> {
    await this.stopWorkers();
    await this.replaySagas();
    await this.compareJournal();
    await this.postgres?.stop();
    await this.sandbox.close();
    await this.native.close();
    await this.temporal.connection.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The journal's file, if it is in one of the rig's own. */
  get journalFile(): string {
    return join(this.folder, 'journal.db');
  }

  get journalAddress(): JournalAddress {
    return this.options.journal ?? (this.postgres ? { postgres: this.postgres.url() } : { file: this.journalFile });
  }

  get journalUrl(): string {
    const address = this.journalAddress;
    return 'file' in address ? `file:${address.file}` : address.postgres;
  }

  /** The saga's last run, whichever that is. */
  latest<W extends WorkflowName>(workflow: W, { reference }: { reference: string }): SagaHandle<W> {
    return new SagaHandle<W>(this.temporal, workflow, reference, '', true);
  }

  /** For what only Temporal's own client does. */
  runOf({ workflowId }: { workflowId: string }): WorkflowHandle {
    return this.temporal.workflow.getHandle(workflowId);
  }

  /** Orders under the saga's reference: as the tests' requests have it, it is their label. */
  ordersOf({ reference }: { reference: string }): ReturnType<typeof ordersWithLabel> {
    return ordersWithLabel(this.sandbox.ledger, reference);
  }

  /** The object ids of the servers that the order under the saga's reference brought. */
  serversOf({ reference }: { reference: string }): readonly number[] {
    return this.ordersOf({ reference })[0]?.vmObjectIds ?? [];
  }

  /** Calls that name the saga's items: each saga of the tests has a plan of its own. */
  callsOf({ reference }: { reference: string }, endpoint?: EndpointName): readonly Call[] {
    const isOwn = ({ names }: Call) => names.planId?.includes(planIdOf(reference));
    return this.sandbox.ledger.calls.filter((call) => isOwn(call) && (endpoint ?? call.endpoint) === call.endpoint);
  }

  openItems({ reference }: { reference: string }): ReturnType<typeof openCartItems> {
    return openCartItems(this.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(reference));
  }

  /** A look into the journal, beside the workers. */
  async withJournal<T>(look: (journal: Journal) => Promise<T>): Promise<T> {
    const journal = await openJournal(this.journalAddress, createSealing(this.options.payloadKeys));
    try {
      return await look(journal);
    } finally {
      await journal.close();
    }
  }

  recordOf({ workflow, reference }: { workflow: WorkflowName; reference: string }): ReturnType<typeof recordOf> {
    return this.withJournal((journal) => recordOf(journal, { workflow, reference }));
  }

  private async stopWorkers(): Promise<void> {
    for (const { stop } of [...this.running]) await stop();
  }

  /** @throws where the journal and what took effect at the provider are not of one mind */
  private async compareJournal(): Promise<void> {
    if (this.options.journal !== undefined || this.options.compares === false) return;
    const rows = await this.withJournal(({ db }) => rowsIn(db));
    const [first, ...more] = differences(rows, this.sandbox.ledger);
    if (first !== undefined) throw new Error(`journal and ledger differ (and ${more.length} more): ${first}`);
  }

  /** @throws when the history of any saga of this namespace does not replay on the present code */
  private async replaySagas(): Promise<void> {
    const histories = [];
    for await (const { workflowId, runId } of listRuns(this.temporal, '')) {
      if (this.options.replays?.({ workflowId }) === false) continue;
      const handle = this.temporal.workflow.getHandle(workflowId, runId);
      histories.push({ workflowId, history: await handle.fetchHistory() });
    }
    const { payloadKeys } = this.options;
    for (const { workflowId, error } of await replayAll({ bundle: this.bundle, payloadKeys }, histories)) {
      if (error !== undefined) throw new Error(`the history of ${workflowId} does not replay: ${error}`);
    }
  }

  /** New sagas begin on that version from now on. */
  async makeCurrent(deploymentName: string, buildId: string): Promise<void> {
    const version = { namespace: this.namespace, deploymentName, buildId };
    const made = () => this.temporal.workflowService.setWorkerDeploymentCurrentVersion(version).then(Boolean);
    // Until its workers poll, the server refuses.
    const notYet: readonly unknown[] = [grpcCodes.notFound, grpcCodes.failedPrecondition];
    await until(() =>
      made().catch((error: unknown) => {
        if (!notYet.includes(grpcCodeOf(error))) throw error;
        return false;
      }),
    );
  }

  private get bundle(): string {
    return this.options.bundle ?? bundleOf({ encrypted: this.options.payloadKeys !== undefined });
  }

  private workerConfig(changes: Partial<ActivitySettings> = {}): SagaWorkerConfig {
    const activities = { ...rigSettings, ...this.options.activities, ...changes };
    return {
      namespace: this.namespace,
      taskQueue: 'order-saga',
      provider: {
        profile: activities.profile,
        baseUrl: this.sandbox.url,
        allowHttp: false,
        readToken: undefined,
        authHeader: 'authorization',
        authScheme: 'Bearer',
        totalTimeoutMs: 10_000,
        // Sagas of many tests share a worker: what one of them is told should not hold up the others.
        quoteMethod: 'PUT',
        ca: undefined,
        proxy: undefined,
        ...this.options.provider,
      },
      journal: {
        address: this.journalAddress,
        name: this.journalUrl,
        failover: this.options.failover ?? 'ask',
        witnessFile: this.options.witness ? join(this.folder, 'state', 'witness.json') : undefined,
      },
      activities,
      payloadKeys: this.options.payloadKeys,
      secrets: { variable: () => undefined, ...this.options.secrets },
      version: undefined,
      shutdownGraceMs: 30_000,
      activitiesAtOnce: 100,
    };
  }
}

/** Who says "not placed" waits for no longer than this after the call was given up. */
export const shortFlights = { PROVIDER_TIMEOUT_MS: '5000', PROVIDER_SETTLES_MS: '0' };

let runtimeInstalled = false;

/** Once per test file: the runtime is one for the process, and what sagas log is not the test's output. */
function quietRuntime(): void {
  if (runtimeInstalled) return;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  runtimeInstalled = true;
}

type Awaitable<T> = T | Promise<T>;

/** Waits for a condition of the world outside; a test that waits for ever is ended by jest and says where. */
export async function until<T>(look: () => Awaitable<T | undefined | false>): Promise<T> {
  // A look may be a question to a saga, which costs the server and a worker more than waiting does.
  for (let delayMs = 25; ; delayMs = Math.min(delayMs * 1.2, 250)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(delayMs);
  }
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

/** Search attributes that a worker adds to a namespace can be queried only after a moment. */
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
