/**
 * What a disaster strikes: a Temporal server on PostgreSQL, the journal in the same cluster, in one of its own or in a
 * file, worker processes, the provider's stand-in, and one person at a terminal. Everything is ended with its closers.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startPostgres } from '../../../deploy/stack/postgres';
import { resolvePrograms } from '../../../deploy/stack/programs';
import { startStack, type Stack } from '../../../deploy/stack/stack';
import { Sandbox } from '../../../sandbox/server';
import { startProcess } from '../../../scripts/processes';
import { lowPorts } from '../../../scripts/reachable';
import { OrderSagaClient } from '../../../src/client/client';
import type { JournalAddress } from '../../../src/journal/dialects';
import { migrate } from '../../../src/journal/migrate';
import type { Closers } from '../chaos/closers';
import { Crew } from '../chaos/crew';
import { rowsOf } from '../chaos/journal';
import { Terminal } from '../drill/terminal';
import { programOf } from '../../support/programs';
import type { Row } from '../../support/rows-and-ledger';
import { startFronts, type Fronts } from './fronts';
import { here, startStandby, type Standby } from './standby';
import type { Cluster } from './archived-postgres';

export interface GroundOptions {
  /** Where the journal is: beside Temporal's databases, in a cluster of its own, or in a file. @default 'beside' */
  journal?: 'beside' | 'apart' | 'file';
  /** The way to Temporal and to the provider is TLS. */
  tls?: boolean;
  /** A second Temporal server takes part, to which this one's namespace is replicated. */
  standby?: boolean;
  /** More settings of the workers and of the person. */
  settings?: Record<string, string>;
}

export interface Ground {
  stack: Stack;
  /** Temporal's databases, and the journal's where it is beside them. */
  cluster: Cluster;
  /** The journal's, where it has one of its own. */
  journalCluster: Cluster | undefined;
  journalUrl: string;
  sandbox: Sandbox;
  /** Where TLS ends. */
  fronts: Fronts | undefined;
  standby: Standby | undefined;
  temporal: Client;
  sagas: OrderSagaClient;
  terminal: Terminal;
  /** The workers of the present; none before {@link hire}. */
  crew: Crew | undefined;
  /** All that there were. */
  crews: Crew[];
  /** @param changes settings that are others from now on */
  hire: (changes?: Record<string, string>) => Promise<void>;
  /** All workers end at once, and none follows. */
  dismiss: () => Promise<void>;
  /** Starts one worker more. @returns whether it ended before it was ready, and its last words */
  tryWorker: () => Promise<{ ended: boolean; words: string }>;
  rows: () => Promise<Row[]>;
}

const workers = 2;
/** Several long calls of one saga, and the time in which an order may be in flight; a command waits for neither. */
const patienceMs = 120_000;

export async function startGround(closers: Closers, compiled: string, options: GroundOptions): Promise<Ground> {
  const { postgres: programs } = await resolvePrograms();
  const named = options.standby ? { cluster: here } : {};
  const stack = await closers.keep(startStack(named), (kept) => kept.stop());
  const cluster = {
    programs,
    folder: join(stack.folder, 'postgres'),
    part: stack.postgres,
    superuser: stack.superuser,
  };
  const { url: journalUrl, cluster: journalCluster } = await startJournal(closers, programs, stack, options.journal);
  // The document does not say that an item can be ordered only once, so a provider that refuses it would hide second
  // orders.
  const answers = { orderResponse: 'ids', closedCartItems: 'take', anyServer: true, latencyMs: 20 } as const;
  const sandbox = await closers.keep(Sandbox.start(answers), (kept) => kept.close());
  const fronts = options.tls
    ? await startFronts(closers, { temporal: stack.address, provider: sandbox.url })
    : undefined;
  const standby = options.standby ? await startStandby(closers, stack.address) : undefined;
  const settings = {
    TEMPORAL_ADDRESS: stack.address,
    JOURNAL_URL: journalUrl,
    PROVIDER_BASE_URL: sandbox.url,
    // Minutes of a real disaster are seconds here.
    PROVIDER_TIMEOUT_MS: '12000',
    PROVIDER_SETTLES_MS: '1000',
    SERVER_POINTERS: '/vm_object_ids',
    RETRY_BUDGET: '4,200,1000,60000',
    LOG_LEVEL: 'error',
    ...fronts?.settings,
    ...(standby === undefined ? {} : { TEMPORAL_NAMESPACE: standby.namespace }),
    ...options.settings,
  };
  const connection = await Connection.connect({ address: stack.address });
  const temporal = new Client({ connection, ...(standby && { namespace: standby.namespace }) });
  const crews: Crew[] = [];
  const ground: Ground = {
    ...{ stack, cluster, journalCluster, journalUrl, sandbox, fronts, standby, temporal, crews, crew: undefined },
    sagas: new OrderSagaClient(temporal),
    terminal: new Terminal({ program: programOf('starter', compiled), environment: settings, patienceMs }),
    hire: async (changes = {}) => {
      Object.assign(settings, changes);
      const crew = new Crew(programOf('worker', compiled), () => settings, sandbox);
      closers.add(() => crew.close());
      ground.crew = crew;
      crews.push(crew);
      await crew.hire(workers);
    },
    dismiss: async () => ground.crew?.close(),
    tryWorker: async () => {
      try {
        const worker = await startProcess(programOf('worker', compiled), settings);
        await worker.kill('SIGKILL');
        return { ended: false, words: '' };
      } catch (error) {
        return { ended: true, words: (error as Error).message };
      }
    },
    rows: () => rowsOf(addressOf(ground.journalUrl)),
  };
  return ground;
}

function addressOf(url: string): JournalAddress {
  return url.startsWith('file:') ? { file: url.slice('file:'.length) } : { postgres: url };
}

interface JournalPlace {
  url: string;
  cluster?: Cluster;
}

async function startJournal(
  closers: Closers,
  programs: string,
  stack: Stack,
  where: GroundOptions['journal'] = 'beside',
): Promise<JournalPlace> {
  if (where === 'beside') return { url: stack.journalUrl };
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-disaster-'));
  closers.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  if (where === 'file') return { url: `file:${join(folder, 'journal.db')}` };
  // The server runs as another user.
  await chmod(folder, 0o755);
  const [port] = (await lowPorts(1)).map(String) as [string];
  const superuser = { user: 'order_saga', password: randomUUID(), port };
  const place = { programs, folder: join(folder, 'postgres') };
  const starting = startPostgres({ ...place, ...superuser, args: ['-c', 'max_connections=100'] });
  const part = await closers.keep(starting, (kept) => kept.stop());
  const url = `postgres://${superuser.user}:${superuser.password}@127.0.0.1:${port}/postgres`;
  await migrate({ postgres: url });
  return { url, cluster: { ...place, part, superuser } };
}
