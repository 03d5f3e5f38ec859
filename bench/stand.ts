/**
 * The stand: a Temporal server, the provider's stub, and workers, each a process of its own; the client is
 * this process. Journals are the stand's own, and go with it: each kind of worker has another one.
 *
 *   client ──▶ server ◀── worker ──▶ stub
 *                           └──▶ journal
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient } from '../src/client/client';
import { readClientConfig } from '../src/config';
import type { CartItem, ProvisionServersRequest } from '../src/domain/requests';
import { migrate } from '../src/journal/open';
import { createDataConverter } from '../src/security/data-converter';
import { parsePayloadKeys } from '../src/security/keys';
import { startPostgres } from '../deploy/stack/postgres';
import { postgresFolder } from '../deploy/stack/programs';
import type { Stack } from '../deploy/stack/stack';
import { startDevServer } from '../scripts/dev-server';
import { startProcess, type RunningProcess } from '../scripts/processes';
import { lowPorts } from '../scripts/reachable';
import { resolveTemporal } from '../scripts/temporal-cli';
import type { Built } from './built';

interface StandOptions {
  /** @default 0 */
  staggerMs?: number;
  /** With a PostgreSQL for the journal of a worker of kind `postgres`, where the system has one. @default false */
  postgres?: boolean;
  /** Temporal and the journal of `postgres` are there; whoever has started it stops it. @default a dev server */
  stack?: Pick<Stack, 'address' | 'journalUrl'>;
}

/**
 * A worker that keeps its payloads as they are, one with keys, and one of the bare workflows. Their journals are files;
 * that of `postgres`, which is else as `plain`, is in PostgreSQL.
 */
export type WorkerKind = 'plain' | 'encrypted' | 'postgres' | 'bare';

const payloadKeys = `bench:${Buffer.alloc(32, 1).toString('base64')}`;

/** Each ends one stand. */
const standing = new Set<() => Promise<void>>();

/** For whoever is told to stop in the middle. */
export async function closeAllStands(): Promise<void> {
  await Promise.all([...standing].map((close) => close()));
}

export type Stand = Awaited<ReturnType<typeof startStand>>;

export async function startStand(built: Built, { staggerMs = 0, postgres = false, stack }: StandOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-bench-'));
  const stub = await startProcess('bench/provider-stub.ts', { STUB_STAGGER_MS: String(staggerMs) });
  const temporal = stack ? undefined : await resolveTemporal();
  // None where the environment names a server that runs already.
  const server = temporal?.kind === 'cli' ? await startDevServer({ cli: temporal.path, ui: false }) : undefined;
  const { address } = stack ?? server ?? {};
  const environment: Record<string, string> = address
    ? { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' }
    : Object.fromEntries(Object.entries(process.env).filter(isOfTemporal));
  const database = postgres ? await startDatabase(folder) : undefined;
  const journalUrl = stack?.journalUrl ?? database?.url;
  const config = readClientConfig({ ...environment, PAYLOAD_ENCRYPTION: 'off' });
  const connection = await Connection.connect(config.temporal.connectionOptions);
  const workers: RunningProcess[] = [];
  const close = async () => {
    standing.delete(close);
    await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
    await connection.close();
    await server?.stop();
    await stub.kill('SIGKILL');
    await database?.server.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  standing.add(close);

  /** As a backend has it, for sagas that the worker of this kind runs. */
  const clientFor = (kind: WorkerKind) => {
    const keys = kind === 'encrypted' ? parsePayloadKeys(payloadKeys) : undefined;
    const converter = kind === 'bare' ? {} : { dataConverter: createDataConverter(keys) };
    return new Client({ connection, namespace: config.namespace, ...converter });
  };
  return {
    /** For a table: which server it is. */
    serverName: server ? 'dev server, in memory' : 'TEMPORAL_ADDRESS',
    postgres: database?.server,
    /** Each kind has a task queue and a journal of its own. */
    startWorker: async (kind: WorkerKind): Promise<RunningProcess> => {
      const worker = await startProcess(kind === 'bare' ? built.bareWorker : built.worker, {
        ...environment,
        PROVIDER_BASE_URL: stub.ready,
        PROVIDER_PROFILE: join(__dirname, '../sandbox/profile.json'),
        TASK_QUEUE: `bench-${kind}`,
        // Never the one that a user of this machine has.
        JOURNAL_URL: (kind === 'postgres' && journalUrl) || `file:${join(folder, `journal-${kind}.db`)}`,
        ...(kind === 'encrypted' ? { PAYLOAD_KEYS: payloadKeys } : { PAYLOAD_ENCRYPTION: 'off' }),
      });
      workers.push(worker);
      return worker;
    },
    clientFor,
    sagasFor: (kind: Exclude<WorkerKind, 'bare'>) =>
      new OrderSagaClient(clientFor(kind), { taskQueue: `bench-${kind}` }),
    /** Runs a workflow of `bare/workflows.ts` to its end. */
    runBare: async (workflow: 'bareOneAfterAnother' | 'bareSideBySide', request: ProvisionServersRequest) => {
      const workflowId = `${workflow}/${request.reference}`;
      await clientFor('bare').workflow.execute(workflow, { workflowId, taskQueue: 'bench-bare', args: [request] });
    },
    close,
  };
}

/** With what docker-compose.yml tells its own, and the journal's tables. @returns undefined where there is no PostgreSQL */
async function startDatabase(folder: string) {
  const programs = postgresFolder();
  if (programs === undefined) return undefined;
  // The server may run as another user.
  await chmod(folder, 0o755);
  const [user, password] = ['order_saga', randomBytes(24).toString('hex')];
  const port = String((await lowPorts(1))[0]);
  const args = ['-c', 'max_connections=250'];
  const server = await startPostgres({ programs, folder: join(folder, 'postgres'), port, user, password, args });
  const url = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`;
  await migrate({ postgres: url });
  return { url, server };
}

function isOfTemporal(entry: [string, string | undefined]): entry is [string, string] {
  return entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined;
}

export interface Order {
  firewalls: boolean;
  /** The stub refuses it. */
  refused?: true;
}

export function newReference(): string {
  return `B-${randomUUID()}`;
}

export function provisionRequest({ firewalls, refused }: Order): ProvisionServersRequest {
  const item: CartItem = {
    billing_cycle: 1,
    plan_id: 17,
    plan_type: 'cloud_servers_standard',
    password: 'an-Example-only-1',
    os_template_id: 3,
  };
  return {
    reference: newReference(),
    account: refused ? 'NO-12345678' : 'AB-12345678',
    label: 'web-1',
    items: [item, item],
    ...(firewalls ? { firewalls: [143] } : {}),
  };
}
