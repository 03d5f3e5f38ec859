/**
 * The two databases that a journal may live in, and what differs between them: how it is opened, and what time it is. All
 * queries are the same.
 *
 * - PostgreSQL, for everything that is run for real.
 * - A file (SQLite), for a first evening, for demo and tests: write-ahead log, full sync, several processes on one machine.
 *   Its driver blocks the process for the fraction of a millisecond that a commit takes.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, PostgresAdapter, PostgresDialect, sql, type QueryExecutorProvider, type RawBuilder } from 'kysely';
import File from 'libsql';
import { types } from 'pg';
import { asUnavailable } from './errors';
import { FileDialect, writeAhead } from './file-dialect';
import { lendConnections } from './lent-connections';
import type { JournalTables } from './schema';

export type JournalAddress = { postgres: string } | { file: string };

/**
 * A call of the provider waits for the journal, and nothing is sent once `SEND_WITHIN_MS` have passed: so the journal is given up
 * well before an activity is.
 */
const connectTimeoutMs = 2_000;
const statementTimeoutMs = 2_500;
const lockTimeoutMs = 2_000;
const busyTimeoutMs = 2_500;

/** At most so many calls mean or write at once, for each worker; the others wait for a connection. */
const connectionsMax = 16;

export interface OpenOptions {
  /** Milliseconds for one statement. Longer for a migration than for a call. @default 2_500 */
  statementMs?: number;
  /** Milliseconds that a statement waits for a lock: less than it may take. @default 2_000 */
  lockMs?: number;
}

/** Opens no connection to PostgreSQL yet; a file is opened, and made where there is none. @throws JournalUnavailable */
export function openDatabase(
  address: JournalAddress,
  { statementMs = statementTimeoutMs, lockMs = lockTimeoutMs }: OpenOptions = {},
): Kysely<JournalTables> {
  if ('file' in address) return openFile(address.file);
  const pool = lendConnections(
    {
      connectionString: address.postgres,
      application_name: 'order-saga',
      max: connectionsMax,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementMs,
      lock_timeout: lockMs,
      // The server's word comes first; this is for a server that says nothing any more.
      query_timeout: statementMs + 500,
      idle_in_transaction_session_timeout: statementMs + 2_500,
      keepAlive: true,
      types: { getTypeParser: numbersForBigints },
    },
    durableCommits,
  );
  return new Kysely({ dialect: new PostgresDialect({ pool }) });
}

/** A commit that is only promised is not what "written down before it is sent" means. */
const durableCommits =
  "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')";

type Oid = Parameters<typeof types.getTypeParser>[0];

/** Milliseconds, sequence numbers and ids of the provider fit a number. */
const numbersForBigints = ((oid: Oid, format: 'text') =>
  oid === types.builtins.INT8 ? Number : (types.getTypeParser(oid, format) as unknown)) as typeof types.getTypeParser;

function openFile(path: string): Kysely<JournalTables> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Requests and answers are in it, in the clear where there are no keys. A file that is there keeps its mode.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const database = new File(path, { timeout: busyTimeoutMs });
    writeAhead(database, busyTimeoutMs);
    for (const pragma of ['synchronous = FULL', 'foreign_keys = ON']) database.exec(`pragma ${pragma}`);
    return new Kysely({ dialect: new FileDialect({ database, busyMs: busyTimeoutMs }) });
  } catch (error) {
    throw asUnavailable(error);
  }
}

export function isPostgres(db: QueryExecutorProvider): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The database's own time, in milliseconds since 1970, as it moves on within a transaction. */
export function nowMs(db: QueryExecutorProvider): RawBuilder<number> {
  return isPostgres(db)
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}

/** Until the transaction ends, for whoever locks the same name. A file is locked as a whole when the transaction begins. */
export async function lockName(tx: Kysely<JournalTables>, name: string): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
