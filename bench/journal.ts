/**
 * What the journal's transactions take among few rows and among many: a reference is taken, an effect is meant and
 * answered, and an answer of long ago is given again. One after another, in each journal in turn, so that a machine
 * that is busy for a while is busy for all of them.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EffectCall } from '../src/domain/effects';
import type { JournalAddress } from '../src/journal/dialects';
import type { Journal } from '../src/journal/journal';
import type { SagaKey } from '../src/journal/rows';
import { migrate } from '../src/journal/migrate';
import { openJournal } from '../src/journal/open';
import { createSealing } from '../src/security/sealing';
import { startJournalServer, type JournalServer } from './journal-server';
import { fillJournal, filledReference, firstCall, referencesAmong } from './journal/fill';
import { markdownTable, type Cell } from './markdown';
import { load } from './process-figures';
import { newReference, provisionRequest } from './requests';
import { median, percentile, ratioOfRounds, timed } from './statistics';

const fewRows = 1_000;
/** They open connections and fill caches. */
const warmUp = 50;

const databases = ['file', 'PostgreSQL'] as const;
type Database = (typeof databases)[number];

const transactions = ['take', 'mean', 'answered', 'mean, recorded'] as const;
type TransactionName = (typeof transactions)[number];

export interface JournalFigures {
  database: Database;
  /** Effects that it began with. */
  rows: number;
  fillSeconds: number;
  /** When it was filled, indexes included. */
  bytes: number;
  timesMs: Record<TransactionName, number[]>;
  load: number;
}

export interface JournalOptions {
  /** Of the larger journal of each database. */
  rows: number;
  /** Of each transaction, in each journal. */
  times: number;
  say: (line: string) => void;
}

interface Measured {
  figures: JournalFigures;
  journal: Journal;
}

const sealing = createSealing(undefined);

export async function measureJournal({ rows, times, say }: JournalOptions): Promise<JournalFigures[]> {
  const folder = await mkdtemp(join(tmpdir(), 'order-saga-bench-'));
  // Filling is not what is measured; and it writes what would else be written many times.
  const server = await startJournalServer(['-c', 'max_wal_size=8GB', '-c', 'checkpoint_timeout=30min']);
  if (server === undefined) say('left out: a journal in PostgreSQL, for there is no PostgreSQL here');
  const measured: Measured[] = [];
  try {
    for (const database of databases) {
      for (const number of [fewRows, rows]) {
        if (database === 'PostgreSQL' && server === undefined) continue;
        const address =
          database === 'file'
            ? { file: join(folder, `journal-${number}.db`) }
            : { postgres: (await server?.createDatabase()) ?? '' };
        measured.push(await filled(database, address, number, server, say));
      }
    }
    for (let time = -warmUp; time < times; time += 1) {
      for (const one of turned(measured, time)) await measureOnce(one, time >= 0);
    }
    for (const { figures } of measured) figures.load = load();
    return measured.map(({ figures }) => figures);
  } finally {
    for (const { journal } of measured) await journal.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function filled(
  database: Database,
  address: JournalAddress,
  rows: number,
  server: JournalServer | undefined,
  say: (line: string) => void,
): Promise<Measured> {
  await migrate(address);
  const ms = await timed(() =>
    fillJournal(address, sealing, rows, (done) => {
      if (done % 1_000_000 === 0) say(`journal: ${database}, ${done} rows, load ${load().toFixed(1)}`);
    }),
  );
  const bytes =
    'file' in address
      ? (await stat(address.file)).size
      : Number(await server?.sql(address.postgres, 'select pg_database_size(current_database())'));
  const timesMs = { take: [], mean: [], answered: [], 'mean, recorded': [] };
  const figures = { database, rows, fillSeconds: ms / 1_000, bytes, load: NaN, timesMs };
  return { figures, journal: await openJournal(address, sealing) };
}

async function measureOnce({ figures, journal }: Measured, counts: boolean): Promise<void> {
  const run = newRun(figures.rows);
  for (const name of transactions) {
    const ms = await timed(() => run[name](journal));
    if (counts) figures.timesMs[name].push(ms);
  }
}

/** What a saga asks of the journal, in that order; and what it asks of a reference that was filled in. */
function newRun(rows: number): Record<TransactionName, (journal: Journal) => Promise<void>> {
  const key: SagaKey = { workflow: 'provisionServers', reference: newReference() };
  const old: SagaKey = { ...key, reference: filledReference(1 + Math.floor(Math.random() * referencesAmong(rows))) };
  const [run, inFlightMs] = [randomUUID(), 60_000];
  const call: EffectCall = {
    ...{ step: 'place-order', kind: 'pivot', activity: 'placeOrder' },
    about: { cartItems: [1, 2] },
  };
  let knows: Parameters<Journal['answered']>[1]['knows'] | undefined;
  return {
    take: async (journal) => {
      const request = provisionRequest({ items: 2, firewalls: true });
      await journal.take(key, { account: request.account, request, run });
    },
    mean: async (journal) => {
      const meant = await journal.mean({ ...key, call, run, knows: undefined, inFlightMs });
      if (meant.how !== 'send') throw new Error(`a new order is not to be sent: ${meant.how}`);
      knows = meant.knows;
    },
    answered: async (journal) => {
      if (knows === undefined) throw new Error('it was not meant');
      await journal.answered(
        key,
        { call, run, knows, inFlightMs },
        { outcome: 'done', answer: { vm_object_ids: [1, 2] } },
      );
    },
    'mean, recorded': async (journal) => {
      const recorded = { ...firstCall, kind: 'mutate' } as EffectCall;
      const meant = await journal.mean({ ...old, call: recorded, run, knows: undefined, inFlightMs, recall: true });
      if (meant.how !== 'recorded') throw new Error(`an answer of long ago is not known: ${meant.how}`);
    },
  };
}

function turned<T>(list: readonly T[], by: number): T[] {
  const at = Math.abs(by) % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

export function journalReport(figures: readonly JournalFigures[]): string {
  const rows = databases.flatMap((database) => {
    const [few, many] = figures.filter((one) => one.database === database);
    if (few === undefined || many === undefined) return [];
    return transactions.map((name): Cell[] => {
      const [small, large] = [few.timesMs[name], many.timesMs[name]];
      return [
        ...[database, name, median(small), percentile(small, 0.99), median(large), percentile(large, 0.99)],
        ...[ratioOfRounds(large, small), many.load],
      ];
    });
  });
  const numbers = [...new Set(figures.map(({ rows: number }) => number))].map((number) => number.toLocaleString('en'));
  const heads = numbers.flatMap((number) => [`${number} rows: median ms`, 'p99 ms']);
  const times = ['journal', 'transaction', ...heads, 'ratio (median of the pairs)', 'load'];
  return [markdownTable(times, rows), sizeTable(figures)].join('\n\n');
}

function sizeTable(figures: readonly JournalFigures[]): string {
  return markdownTable(
    ['journal', 'rows of effects', 'rows of references', 'GB, with indexes', 'bytes an effect', 'filled in, s'],
    figures
      .filter(({ rows }) => rows > fewRows)
      .map(({ database, rows, bytes, fillSeconds }) => [
        ...[database, rows, referencesAmong(rows), bytes / 1e9, bytes / rows, fillSeconds],
      ]),
  );
}
