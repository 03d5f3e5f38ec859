/**
 * The two databases that a journal may use, and their differences: how it is opened, how the time is read, and
 * what a server says of itself. Queries are the same but where `isPostgres` is asked.
 *
 * - PostgreSQL, for production.
 * - A file (SQLite), for first steps, the demo and tests: write-ahead log, full sync, several processes on one machine.
 *   Its driver blocks the process for the fraction of a millisecond that a commit takes.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, PostgresAdapter, PostgresDialect, sql, type QueryExecutorProvider, type RawBuilder } from 'kysely';
import File from 'libsql';
import { types } from 'pg';
import { asUnavailable, JournalUnavailable } from './errors';
import { FileDialect } from './file-dialect';
import { lendConnections } from './lent-connections';
import type { JournalTables } from './schema';

export type JournalAddress = { postgres: string } | { file: string };

/**
 * A call of the provider waits for the journal, and after five seconds nothing is sent any more. So a query of the
 * journal ends well before the activity's limit.
 */
const connectTimeoutMs = 2_000;
const statementTimeoutMs = 2_500;
const lockTimeoutMs = 2_000;
const busyTimeoutMs = 2_500;

/** Per worker, so many calls use the journal at once; the others wait for a connection. */
export const connectionsMax = 16;

/**
 * Opens no connection to PostgreSQL yet; a file is opened, or created.
 *
 * @param statementMs for one statement; a migration needs more
 * @param lockMs that a statement waits for a lock; less than `statementMs`
 */
export function openDatabase(
  address: JournalAddress,
  { statementMs = statementTimeoutMs, lockMs = lockTimeoutMs } = {},
): Kysely<JournalTables> {
  if ('file' in address) return openFile(address.file);
  const pool = lendConnections(
    {
      connectionString: address.postgres,
      application_name: 'order-saga',
      max: connectionsMax,
      // A new one costs more than all that a saga asks. In an hour its plans are made anew, by what the tables are then.
      idleTimeoutMillis: 60_000,
      maxLifetimeSeconds: 3_600,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementMs,
      lock_timeout: lockMs,
      // The server's own limit comes first; this one is for a server that no longer answers.
      query_timeout: statementMs + 500,
      idle_in_transaction_session_timeout: statementMs + 2_500,
      keepAlive: true,
      types: { getTypeParser: numbersForBigints },
    },
    durableCommits,
  );
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}

/** A commit must be on disk before the call is sent; and a server that warns of one must be heard. */
const durableCommits =
  "set client_min_messages to 'warning'; select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')";

/** Milliseconds, sequence numbers and the provider's ids fit into a number. */
const numbersForBigints = ((oid: Parameters<typeof types.getTypeParser>[0], format: 'text') =>
  oid === types.builtins.INT8 ? Number : (types.getTypeParser(oid, format) as unknown)) as typeof types.getTypeParser;

/** One folder after the other: Node's own way turns for ever where none can be made, as below /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    // Another process may have made it meanwhile.
    if (code !== 'EEXIST') throw new JournalUnavailable(`the folder ${folder} cannot be made (${code})`);
  }
}

function openFile(path: string): Kysely<JournalTables> {
  try {
    makeFolder(dirname(path));
    // It contains requests and answers, unencrypted where there are no keys. An existing file keeps its mode.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const database = new File(path, { timeout: busyTimeoutMs });
    for (const pragma of ['synchronous = FULL', 'foreign_keys = ON']) database.exec(`pragma ${pragma}`);
    return new Kysely({ dialect: new FileDialect({ database, path, busyMs: busyTimeoutMs }) });
  } catch (error) {
    throw asUnavailable(error);
  }
}

export function isPostgres(db: QueryExecutorProvider): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The database's clock, in milliseconds since 1970. It goes on within a transaction. */
export function nowMs(db: QueryExecutorProvider): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}

/** The same clock as a statement began: PostgreSQL searches an index by it, and by no time that goes on meanwhile. */
export function statementBegunMs(db: QueryExecutorProvider): RawBuilder<number> {
  return isPostgres(db) ? sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint` : nowMs(db);
}

/**
 * The cluster and the timeline of the database that answers, now; null for a file, at a standby, and where it may not
 * be asked.
 */
export function identityHere(db: QueryExecutorProvider): RawBuilder<string | null> {
  return isPostgres(db) ? sql<string | null>`journal_identity()` : sql<null>`null`;
}

/** Locks a name until the transaction ends. A file is locked as a whole when the transaction begins. */
export async function lockName(tx: Kysely<JournalTables>, name: string): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
