/** The journal of a story: in a PostgreSQL of its own, which can be killed and comes back, or in a file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openJournal } from '../../../src/journal/open';
import { createSealing } from '../../../src/security/sealing';
import { PostgresServer, whyNoPostgres, type Cluster } from '../../support/postgres';
import { rowsIn, type Row } from '../../support/rows-and-ledger';
import type { Closers } from './closers';

export interface JournalPlace {
  url: string;
  /** Undefined for a file. */
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
