/**
 * The world of every story of this folder: the provider's stand-in, a journal, worker processes, a client and a
 * person. All of it ends with the story.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Sandbox, type SandboxOptions } from '../../../sandbox/server';
import { OrderSagaClient } from '../../../src/client/client';
import { workflowNames } from '../../../src/domain/identity';
import { migrate } from '../../../src/journal/open';
import { openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { sandboxProfileFile } from '../../support/activity-settings';
import { PostgresServer, whyNoPostgres, type Cluster } from '../../support/postgres';
import { programOf } from '../../support/programs';
import { rowsIn, type Row } from '../../support/rows-and-ledger';
import { Crew } from './crew';
import { Person } from './person';

/** They end everything that a run has started, whatever is under way. */
export class Closers {
  private readonly closers: (() => unknown)[] = [];
  private closed: Promise<void> | undefined;

  /** It is closed also where it has only begun to come. */
  async keep<T>(coming: Promise<T>, close: (kept: T) => Promise<unknown>): Promise<T> {
    this.add(() => coming.then(close, () => undefined));
    return coming;
  }

  add(close: () => unknown): void {
    this.closers.push(close);
  }

  /** The last one first. A second call waits for the first. */
  close(): Promise<void> {
    this.closed ??= (async () => {
      for (const close of this.closers.reverse()) {
        try {
          await close();
        } catch (error) {
          console.error(error);
        }
      }
    })();
    return this.closed;
  }
}

export interface World {
  sandbox: Sandbox;
  temporal: Client;
  sagas: OrderSagaClient;
  person: Person;
  /** Workers and the person use them from their next start on. */
  settings: Record<string, string>;
  /** @param count of worker processes that there are from now on */
  hire: (count: number) => Promise<Crew>;
}

export interface WorldOptions {
  compiled: string;
  address: string;
  namespace?: string;
  journalUrl: string;
  sandbox?: SandboxOptions;
  settings: Record<string, string>;
  environmentOf?: (nth: number) => Record<string, string>;
}

export async function startWorld(closers: Closers, options: WorldOptions): Promise<World> {
  const { compiled, address, namespace = 'default', journalUrl, environmentOf } = options;
  // The document does not say that an item can be ordered only once, so a provider that refuses it would hide second
  // orders.
  const answers = { orderResponse: 'ids', closedCartItems: 'take', latencyMs: 20 } as const;
  const sandbox = await closers.keep(Sandbox.start({ ...answers, ...options.sandbox }), (kept) => kept.close());
  const settings: Record<string, string> = {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    PROVIDER_BASE_URL: sandbox.url,
    JOURNAL_URL: journalUrl,
    PROVIDER_PROFILE: sandboxProfileFile,
    LOG_LEVEL: 'error',
    ...options.settings,
  };
  const hire = async (count: number) => {
    const crew = new Crew(programOf('worker', compiled), (nth) => ({ ...settings, ...environmentOf?.(nth) }), sandbox);
    closers.add(() => crew.close());
    await crew.hire(count);
    return crew;
  };
  // Left open: sagas that have not ended are still being asked for, and the process ends with the run.
  const temporal = new Client({ connection: await Connection.connect({ address }), namespace });
  const person = new Person(programOf('starter', compiled), settings, sandbox);
  return { sandbox, temporal, sagas: new OrderSagaClient(temporal), person, settings, hire };
}

export async function countOpen({ temporal }: Pick<World, 'temporal'>): Promise<number> {
  const types = workflowNames.map((name) => `'${name}'`).join();
  return (await temporal.workflow.count(`ExecutionStatus = 'Running' AND WorkflowType IN (${types})`)).count;
}

export interface JournalPlace {
  url: string;
  cluster?: Cluster;
}

/** In PostgreSQL where there is one. */
export function startJournal(closers: Closers): Promise<JournalPlace> {
  return whyNoPostgres === undefined ? journalInPostgres(closers) : journalInFile(closers);
}

export async function journalInFile(closers: Closers): Promise<JournalPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-chaos-journal-'));
  closers.add(() => rm(folder, { recursive: true, force: true }));
  return { url: `file:${join(folder, 'journal.db')}` };
}

export async function journalInPostgres(closers: Closers): Promise<Required<JournalPlace>> {
  const server = await closers.keep(PostgresServer.start(), (kept) => kept.stop());
  const url = server.url();
  await migrate({ postgres: url });
  return { url, cluster: server.cluster };
}

export async function rowsOf(url: string): Promise<Row[]> {
  const address = url.startsWith('file:') ? { file: url.slice('file:'.length) } : { postgres: url };
  const journal = await openJournal(address, createSealing(undefined));
  try {
    return await rowsIn(journal.db);
  } finally {
    await journal.close();
  }
}
