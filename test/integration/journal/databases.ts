/** The two databases that a journal lives in, as tests want them: fresh ones, and copies of older ones. */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres, type JournalAddress } from '../../../src/journal/database/dialects';
import type { JournalTables } from '../../../src/journal/database/schema';
import { migrate } from '../../../src/journal/open';
import { describeWithPostgres } from '../../support/left-out';
import { folderForFile } from '../../support/folder';
import { PostgresServer } from '../../support/postgres';

export interface TestDatabases {
  /** Nothing is there yet. */
  place: () => Promise<JournalAddress>;
  /** An empty journal. */
  fresh: () => Promise<JournalAddress>;
  /** A backup of this moment. Nobody may have the journal open. */
  copy: (address: JournalAddress) => Promise<JournalAddress>;
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

export function inFiles(): TestDatabases {
  const folder = folderForFile();
  const place = async () => ({ file: join(folder.path, randomUUID(), 'journal.db') });
  return {
    place,
    fresh: async () => {
      const address = await place();
      await migrate(address);
      return address;
    },
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

/** A server for the tests around, and databases on it. */
export function inPostgres() {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.stop());
  const place = async (more?: string) => ({ postgres: server.url({ database: await server.createDatabase(more) }) });
  let template: Promise<string> | undefined;
  const migrated = async () => {
    const database = await server.createDatabase();
    await migrate({ postgres: server.url({ database }) });
    return database;
  };
  /** A copy is there sooner than its migrations are made. @returns the name of a database with an empty journal */
  const freshDatabase = async () => {
    template ??= migrated();
    const database = await server.createDatabase(`template ${await template}`);
    // Each journal is one of its own.
    const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
    const own = `id = gen_random_uuid()::text, epoch = ${now}, identity = journal_identity()`;
    await server.ask(`update journal set ${own}`, { database });
    return database;
  };
  return {
    server: () => server,
    place,
    freshDatabase,
    fresh: async () => ({ postgres: server.url({ database: await freshDatabase() }) }),
    copy: async (address: JournalAddress) => {
      if (!('postgres' in address)) throw new Error('this is no database on a server');
      return place(`template ${new URL(address.postgres).pathname.slice(1)}`);
    },
  };
}
