/**
 * The journal's schema: numbered steps, applied by one command under a lock, and checked when a worker starts. A file
 * is migrated when it is opened; a database on a server only by `order-saga journal migrate`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Migrator, sql, type Kysely, type Migration } from 'kysely';
import { isPostgres, openDatabase, type JournalAddress } from './dialects';
import { asUnavailable, JournalSchemaError } from './errors';
import * as first from './migrations/0001-journal';
import type { JournalTables } from './schema';

/** The schema's number is their count. A released name never changes. */
const migrations: Record<string, Migration> = { '0001-journal': first };

export const schemaNumber = Object.keys(migrations).length;

/** A migration may wait for another one, and may build an index. */
const migrationMs = 600_000;

/**
 * Migrates the schema to this release's; a second call does nothing. Concurrent calls wait for each other.
 *
 * @returns the numbers before and after
 * @throws JournalSchemaError for a journal of a newer release; JournalUnavailable
 */
export async function migrate(address: JournalAddress): Promise<{ from: number; to: number }> {
  const db = openDatabase(address, { statementMs: migrationMs, lockMs: migrationMs });
  try {
    const from = await schemaOf(db);
    if (from > schemaNumber) throw tooNew(from);
    if (from === schemaNumber) return { from, to: from };
    const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
    const { error } = await migrator.migrateToLatest();
    // Two processes may open a new file at once: SQLite has no lock to wait for, so the second one waits for the
    // result.
    if (error !== undefined && !(await becomesCurrent(db))) throw error as Error;
    return { from, to: schemaNumber };
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await db.destroy();
  }
}

/** Checks that a worker can write, and that commits are durable. @throws JournalSchemaError, JournalUnavailable */
export async function checkJournal(db: Kysely<JournalTables>): Promise<void> {
  await checkSchema(db);
  try {
    if (isPostgres(db)) await checkServer(db);
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** @throws JournalSchemaError, with the command that fixes it; JournalUnavailable */
export async function checkSchema(db: Kysely<JournalTables>): Promise<void> {
  const found = await schemaOf(db).catch((error: unknown) => {
    throw asUnavailable(error);
  });
  if (found > schemaNumber) throw tooNew(found);
  if (found < schemaNumber) {
    throw new JournalSchemaError(
      `the journal is of schema ${found}, and this release needs ${schemaNumber}: run \`order-saga journal migrate\``,
    );
  }
}

async function checkServer(db: Kysely<JournalTables>): Promise<void> {
  const { rows } = await sql<{ fsync: string; readonly: string; commit: string }>`
    select current_setting('fsync') as fsync, current_setting('transaction_read_only') as readonly,
      current_setting('synchronous_commit') as commit`.execute(db);
  const [settings] = rows;
  if (settings?.readonly === 'on') {
    throw new JournalSchemaError(
      'the journal’s database is read-only: is it a standby? Set JOURNAL_URL to the primary',
    );
  }
  if (settings?.fsync === 'off') {
    throw new JournalSchemaError(
      'the journal’s database runs with fsync = off: it would lose orders when its machine loses power. Turn fsync on',
    );
  }
}

/** The number of the schema; 0 where there is none yet. */
export async function schemaOf(db: Kysely<JournalTables>): Promise<number> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return 0;
  const { rows } = await sql<{ count: number }>`select count(*) as count from kysely_migration`.execute(db);
  return rows[0]?.count ?? 0;
}

function tooNew(found: number): JournalSchemaError {
  return new JournalSchemaError(
    `the journal is of schema ${found}, and this release knows ${schemaNumber}: run the release that made it, or a newer one`,
  );
}

/** A file belongs to this machine alone, so it is created and migrated here. */
export async function openCheckedDatabase(address: JournalAddress): Promise<Kysely<JournalTables>> {
  if ('file' in address) await migrate(address);
  const db = openDatabase(address);
  try {
    await checkJournal(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function becomesCurrent(db: Kysely<JournalTables>): Promise<boolean> {
  for (let looks = 0; looks < 20; looks += 1) {
    await pause(100);
    if ((await schemaOf(db).catch(() => 0)) === schemaNumber) return true;
  }
  return false;
}
