/** The two databases that a journal lives in, as tests want them: fresh ones, and copies of older ones. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres, type JournalAddress } from '../../../src/journal/dialects';
import type { JournalTables } from '../../../src/journal/schema';
import { migrate } from '../../../src/journal/open';
import { describeWithPostgres } from '../../support/left-out';
import { PostgresServer } from '../../support/postgres';

export interface TestDatabases<Address extends JournalAddress = JournalAddress> {
  /** Where there is nothing yet. */
  place: () => Promise<Address>;
  /** An empty journal. */
  fresh: () => Promise<Address>;
  /** What a backup of this moment holds. Nobody may have the journal open. */
  copy: (address: JournalAddress) => Promise<Address>;
}

type Tests = (databases: TestDatabases) => void;

/** The same tests for a file and for PostgreSQL. */
export function describeEachDatabase(title: string, tests: Tests): void {
  describe(`${title}, in a file`, () => {
    tests(inFiles());
  });
  describeWithPostgres(`${title}, in PostgreSQL`, () => {
    tests(inPostgres());
  });
}

/** Rows of one column `n`, from 1: to fill tables with. */
export function numbersTo(db: Kysely<JournalTables>, most: number): RawBuilder<unknown> {
  return isPostgres(db)
    ? sql`select n from generate_series(1, ${sql.lit(most)}) as numbers (n)`
    : sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(most)}) select n from numbers`;
}

export function inFiles(): TestDatabases<{ file: string }> {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'order-saga-journal-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const place = async () => ({ file: join(folder, randomUUID(), 'journal.db') });
  return {
    place,
    fresh: async () => migrated(await place()),
    copy: async (address) => {
      if (!('file' in address)) throw new Error('this is no file');
      const file = `${address.file}.${randomUUID()}`;
      for (const part of ['', '-wal']) {
        if (existsSync(address.file + part)) copyFileSync(address.file + part, file + part);
      }
      return { file };
    },
  };
}

export function inPostgres(): TestDatabases<{ postgres: string }> {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });
  const place = async (more?: string) => ({ postgres: server.url({ database: await server.createDatabase(more) }) });
  return {
    place,
    fresh: async () => migrated(await place()),
    copy: async (address) => {
      if (!('postgres' in address)) throw new Error('this is no database on a server');
      return place(`template ${new URL(address.postgres).pathname.slice(1)}`);
    },
  };
}

async function migrated<Address extends JournalAddress>(address: Address): Promise<Address> {
  await migrate(address);
  return address;
}
