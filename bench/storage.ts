/**
 * What a saga leaves in the databases of a real server and in the journal: a PostgreSQL of its own for all of them
 * (deploy/stack), the tables before and after so many sagas.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startStack, type Stack } from '../deploy/stack/stack';
import type { Built } from './built';
import { closedLoop } from './closed-loop';
import { ourRunner } from './contestants';
import { markdownTable, type Cell } from './markdown';
import { load } from './process-figures';
import { provisionRequest } from './requests';
import { Stand } from './stand';

/** Of each so many are run before it is counted: tables and indexes begin with pages that are mostly empty. */
const warmUp = 100;
const atOnce = 20;
/** Tables with a smaller share are one row together. */
const shownBytes = 100;

export interface StorageFigures {
  kind: 'plain' | 'encrypted';
  sagas: number;
  sagasPerSecond: number;
  /** By `database.table`, indexes included. */
  bytesPerSaga: Record<string, number>;
  /** Of the journal's tables, for each saga: rows, and what a vacuum has to take away again. */
  journalPerSaga: Record<string, RowVersions>;
  load: number;
}

interface RowVersions {
  inserted: number;
  updated: number;
  /** Updates in the row's own page, without a new entry in any index. */
  inPlace: number;
}

export interface StorageOptions {
  built: Built;
  sagas: number;
  say: (line: string) => void;
}

export async function measureStorage({ built, sagas, say }: StorageOptions): Promise<StorageFigures[]> {
  const figures: StorageFigures[] = [];
  for (const kind of ['plain', 'encrypted'] as const) {
    const stack = await startStack();
    try {
      const stand = await Stand.start(built, { address: stack.address, journalUrl: stack.journalUrl });
      try {
        await stand.startWorker(kind);
        const { run } = ourRunner(stand, kind);
        const job = () => run(provisionRequest({ items: 2, firewalls: true })).then(() => undefined);
        await closedLoop(warmUp, atOnce, job);
        const before = await tableBytes(stack);
        const versionsBefore = await journalVersions(stack);
        const { seconds } = await closedLoop(sagas, atOnce, job);
        const versionsAfter = await journalVersions(stack);
        const after = await tableBytes(stack);
        const grown = Object.entries(after).map(([table, bytes]) => [table, (bytes - (before[table] ?? 0)) / sagas]);
        const bytesPerSaga = Object.fromEntries(grown) as StorageFigures['bytesPerSaga'];
        const journalPerSaga = perSaga(versionsBefore, versionsAfter, sagas);
        figures.push({ kind, sagas, sagasPerSecond: sagas / seconds, bytesPerSaga, journalPerSaga, load: load() });
        say(`storage: ${kind} is done`);
      } finally {
        await stand.close();
      }
    } finally {
      await stack.stop();
    }
  }
  return figures;
}

/** Without what is only there until the next vacuum. */
async function tableBytes(stack: Stack): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const database of ['temporal', 'temporal_visibility', 'journal']) {
    await stack.sql(database, 'vacuum full');
    const rows = await stack.sql(database, 'select relname, pg_total_relation_size(relid) from pg_stat_user_tables');
    for (const row of rows.split('\n')) {
      const [table = '', bytes] = row.split('\t');
      sizes[`${database}.${table}`] = Number(bytes);
    }
  }
  return sizes;
}

async function journalVersions(stack: Stack): Promise<Record<string, RowVersions>> {
  // A connection tells what it did when it has been idle for a while, or has ended.
  await pause(12_000);
  const columns = 'relname, n_tup_ins, n_tup_upd, n_tup_hot_upd';
  const rows = await stack.sql('journal', `select ${columns} from pg_stat_user_tables`);
  const versions = rows.split('\n').map((row) => {
    const [table = '', ...counted] = row.split('\t');
    const [inserted = NaN, updated = NaN, inPlace = NaN] = counted.map(Number);
    return [table, { inserted, updated, inPlace }] as const;
  });
  return Object.fromEntries(versions);
}

function perSaga(
  before: Record<string, RowVersions>,
  after: Record<string, RowVersions>,
  sagas: number,
): Record<string, RowVersions> {
  const grown = Object.entries(after).map(([table, { inserted, updated, inPlace }]) => {
    const from = before[table] ?? { inserted: 0, updated: 0, inPlace: 0 };
    const each = {
      inserted: inserted - from.inserted,
      updated: updated - from.updated,
      inPlace: inPlace - from.inPlace,
    };
    return [table, { inserted: each.inserted / sagas, updated: each.updated / sagas, inPlace: each.inPlace / sagas }];
  });
  return Object.fromEntries(grown) as Record<string, RowVersions>;
}

export function storageReport(figures: readonly StorageFigures[]): string {
  return [bytesTable(figures), versionsTable(figures)].join('\n\n');
}

/** Whether payloads are encrypted makes no difference to the number of rows. */
function versionsTable([figures]: readonly StorageFigures[]): string {
  return markdownTable(
    ['table of the journal', 'rows a saga', 'updates a saga', 'of them in place'],
    Object.entries(figures?.journalPerSaga ?? {})
      .filter(([, { inserted }]) => inserted > 0)
      .map(([table, { inserted, updated, inPlace }]) => [table, inserted, updated, inPlace]),
  );
}

function bytesTable(figures: readonly StorageFigures[]): string {
  const tables = [...new Set(figures.flatMap(({ bytesPerSaga }) => Object.keys(bytesPerSaga)))];
  const of = (table: string) => figures.map(({ bytesPerSaga }) => bytesPerSaga[table] ?? 0);
  const total = figures.map(({ bytesPerSaga }) => Object.values(bytesPerSaga).reduce((sum, bytes) => sum + bytes, 0));
  const shown = tables
    .filter((table) => Math.max(...of(table)) >= shownBytes)
    .sort((a, b) => (of(b)[0] ?? 0) - (of(a)[0] ?? 0));
  const rest = total.map((all, index) => all - shown.reduce((sum, table) => sum + (of(table)[index] ?? 0), 0));
  const rows: Cell[][] = [
    ...shown.map((table): Cell[] => [table, ...of(table)]),
    ['all others', ...rest],
    ['together', ...total],
    ['a million sagas, GB', ...total.map((bytes) => bytes / 1_000)],
  ];
  const heads = figures.map(({ kind, sagas }) => `${kind}, bytes a saga (of ${sagas})`);
  return markdownTable(['table', ...heads], rows);
}
