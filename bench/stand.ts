/**
 * Where it is measured: a Temporal server, the provider's stub, and workers, each a process of its own; the client is
 * this process. Journals are the stand's own, and go with it: each kind of worker has another one.
 *
 *   client ──▶ server ◀── worker ──▶ stub
 *                           └──▶ journal
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient } from '../src/client/client';
import { readClientConfig } from '../src/config';
import { migrate } from '../src/journal/migrate';
import { createDataConverter } from '../src/security/data-converter';
import { parsePayloadKeys } from '../src/security/keys';
import { startDevServer } from '../scripts/dev-server';
import { startProcess, type RunningProcess } from '../scripts/processes';
import { resolveTemporal } from '../scripts/temporal-cli';
import type { Built } from './built';
import { startJournalServer, type JournalServer } from './journal-server';

/** Where the dev server keeps what it knows. */
export type Store = 'memory' | 'file';

export interface StandOptions {
  /** Ignored where TEMPORAL_ADDRESS names a server. @default 'memory' */
  store?: Store;
  /** @default 0 */
  staggerMs?: number;
  /**
   * With a PostgreSQL for journals, where the system has one. Without it there are no workers of kind `postgres`.
   * @default false
   */
  journalServer?: boolean;
}

/**
 * A worker that keeps its payloads as they are, one with keys, and one of the bare workflows. Their journals are files;
 * that of `postgres`, which is else as `plain`, is in PostgreSQL.
 */
export type WorkerKind = 'plain' | 'encrypted' | 'postgres' | 'bare';

const payloadKeys = `bench:${Buffer.alloc(32, 1).toString('base64')}`;

export class Stand {
  private static readonly standing = new Set<Stand>();
  private readonly workers = new Set<RunningProcess>();

  private constructor(
    private readonly built: Built,
    /** For a table: which server it is. */
    readonly serverName: string,
    private readonly providerUrl: string,
    private readonly temporalEnvironment: Record<string, string>,
    private readonly connection: Connection,
    private readonly namespace: string,
    private readonly folder: string,
    /** Where journals in PostgreSQL are, if there are any. */
    readonly journal: { server: JournalServer; url: string } | undefined,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(
    built: Built,
    { store = 'memory', staggerMs = 0, journalServer = false }: StandOptions,
  ): Promise<Stand> {
    const folder = await mkdtemp(join(tmpdir(), 'order-saga-bench-'));
    const stub = await startProcess('bench/provider-stub.ts', { STUB_STAGGER_MS: String(staggerMs) });
    const server = await startServer(store, folder);
    const environment = server
      ? { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'default' }
      : Object.fromEntries(Object.entries(process.env).filter(isOfTemporal));
    const journal = journalServer ? await startJournal() : undefined;
    const { temporal, namespace } = readClientConfig({ ...environment, PAYLOAD_ENCRYPTION: 'off' });
    const connection = await Connection.connect(temporal.connectionOptions);
    const serverName = server ? `dev server, ${store === 'file' ? 'with a file' : 'in memory'}` : 'TEMPORAL_ADDRESS';
    const end = async () => {
      await connection.close();
      await server?.stop();
      await stub.kill('SIGKILL');
      await journal?.server.stop();
      await rm(folder, { recursive: true, force: true });
    };
    const stand = new Stand(built, serverName, stub.ready, environment, connection, namespace, folder, journal, end);
    Stand.standing.add(stand);
    return stand;
  }

  /** For whoever is told to stop in the middle. */
  static async closeAll(): Promise<void> {
    await Promise.all([...Stand.standing].map((stand) => stand.close()));
  }

  /** Each kind has a task queue and a journal of its own. */
  async startWorker(kind: WorkerKind): Promise<RunningProcess> {
    if (kind === 'postgres' && this.journal === undefined) throw new Error('this stand has no PostgreSQL for journals');
    const worker = await startProcess(kind === 'bare' ? this.built.bareWorker : this.built.worker, {
      ...this.temporalEnvironment,
      PROVIDER_BASE_URL: this.providerUrl,
      SERVER_POINTERS: '/vm_object_ids',
      TASK_QUEUE: `bench-${kind}`,
      // Never the one that a user of this machine has.
      JOURNAL_URL: (kind === 'postgres' && this.journal?.url) || `file:${join(this.folder, `journal-${kind}.db`)}`,
      ...(kind === 'encrypted' ? { PAYLOAD_KEYS: payloadKeys } : { PAYLOAD_ENCRYPTION: 'off' }),
    });
    this.workers.add(worker);
    return worker;
  }

  /** As a backend has it, for sagas that the worker of this kind runs. */
  clientFor(kind: WorkerKind): Client {
    const { connection, namespace } = this;
    const keys = kind === 'encrypted' ? parsePayloadKeys(payloadKeys) : undefined;
    return new Client({
      ...{ connection, namespace },
      ...(kind === 'bare' ? {} : { dataConverter: createDataConverter(keys) }),
    });
  }

  sagasFor(kind: Exclude<WorkerKind, 'bare'>): OrderSagaClient {
    return new OrderSagaClient(this.clientFor(kind), { taskQueue: `bench-${kind}` });
  }

  async close(): Promise<void> {
    Stand.standing.delete(this);
    await Promise.all([...this.workers].map((worker) => worker.kill('SIGKILL')));
    await this.end();
  }
}

/** @returns nothing where the environment names a server that runs already */
async function startServer(store: Store, folder: string) {
  const temporal = await resolveTemporal();
  if (temporal.kind === 'address') return undefined;
  return startDevServer({
    cli: temporal.path,
    ui: false,
    ...(store === 'file' ? { dbFile: join(folder, 'temporal.db') } : {}),
  });
}

/** @returns undefined where the system has no PostgreSQL */
async function startJournal(): Promise<{ server: JournalServer; url: string } | undefined> {
  const server = await startJournalServer();
  if (server === undefined) return undefined;
  const url = await server.createDatabase();
  await migrate({ postgres: url });
  return { server, url };
}

function isOfTemporal(entry: [string, string | undefined]): entry is [string, string] {
  return entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined;
}
