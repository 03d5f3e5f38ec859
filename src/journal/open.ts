/**
 * The journal as a whole: opened, for a worker and for a person who asks; its schema, in numbered steps that one command
 * applies under a lock; and how it is. A file is migrated when it is opened; a database on a server only by
 * `order-saga journal migrate`.
 */
import { existsSync } from 'node:fs';
import { Migrator, sql, type Migration } from 'kysely';
import { isPostgres, openDatabase, type JournalAddress } from './database/dialects';
import { asUnavailable, JournalSchemaError, JournalUnavailable } from './database/errors';
import { Journal } from './journal';
import { askAboutFailovers, whyRestored, type Failover, type FailoverRule } from './restore/recovery-gap';
import * as first from './database/migrations/0001-journal';
import { countOf, iso, theJournal, type Db } from './rows';
import type { Sealing, Store } from './store';

/**
 * A file is created and migrated; a database on a server must have this release's schema.
 *
 * @throws JournalSchemaError, JournalUnavailable
 */
export async function openJournal(
  address: JournalAddress,
  sealing: Sealing,
  failover: FailoverRule = askAboutFailovers,
): Promise<Journal> {
  // A file belongs to this machine alone, so it is created and migrated here.
  if ('file' in address && (await migrate(address)).from === 0)
    failover.warn(
      `a new journal was made in ${address.file}: if there was one before, stop all workers and put it back`,
    );
  return new Journal(await checked(openDatabase(address), checkJournal), sealing, failover);
}

/**
 * A journal is of one namespace, the first worker's: sagas of another one would count as lost.
 *
 * @param writes false: nothing is written down where no worker has been there yet
 * @throws JournalSchemaError where it is another namespace's; JournalUnavailable
 */
export async function claim(journal: Store, namespace: string, { writes = true } = {}): Promise<void> {
  if (writes)
    await journal.inTransaction((tx) =>
      tx.updateTable('journal').set({ namespace }).where('namespace', 'is', null).execute(),
    );
  const { namespace: its } = await journal.read(theJournal);
  if (its === null || its === namespace) return;
  throw new JournalSchemaError(
    `the journal is that of namespace ${its}, not of ${namespace}: set TEMPORAL_NAMESPACE to it, or give this one a journal of its own`,
  );
}

/** Counting the rows of a large journal takes longer than a worker's statement may. */
const patientStatementMs = 60_000;

/**
 * Opens a journal for a person who asks: nothing is created or migrated. To read only, a standby is enough.
 *
 * @throws JournalSchemaError; JournalUnavailable, also for a file that is not there
 */
export async function openToAsk(
  address: JournalAddress,
  sealing: Sealing,
  { writes, failover }: { writes: boolean; failover: Failover },
): Promise<Journal> {
  // Opening would create it, and a mistyped name would look like an empty journal.
  if ('file' in address && !existsSync(address.file)) throw new JournalUnavailable('there is no such file');
  const opened = openDatabase(address, { statementMs: patientStatementMs });
  const db = await checked(opened, writes ? checkJournal : checkSchema);
  return new Journal(db, sealing, { ...askAboutFailovers, how: failover });
}

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
    if (error !== undefined) throw error as Error;
    return { from, to: schemaNumber };
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await db.destroy();
  }
}

/** Checks that a worker can write, and that commits are durable. @throws JournalSchemaError */
async function checkJournal(db: Db): Promise<void> {
  await checkSchema(db);
  if (isPostgres(db)) await checkServer(db);
}

/** @throws JournalSchemaError, with the command that fixes it */
async function checkSchema(db: Db): Promise<void> {
  const found = await schemaOf(db);
  if (found > schemaNumber) throw tooNew(found);
  if (found < schemaNumber) {
    throw new JournalSchemaError(
      `the journal is of schema ${found}, and this release needs ${schemaNumber}: run \`order-saga journal migrate\``,
    );
  }
}

async function checkServer(db: Db): Promise<void> {
  const { rows } = await sql<{ fsync: string; readonly: string }>`
    select current_setting('fsync') as fsync, current_setting('transaction_read_only') as readonly`.execute(db);
  if (rows[0]?.readonly === 'on') {
    throw new JournalSchemaError(
      'the journal’s database is read-only: is it a standby? Set JOURNAL_URL to the primary',
    );
  }
  if (rows[0]?.fsync === 'off') {
    throw new JournalSchemaError(
      'the journal’s database runs with fsync = off: it would lose orders when its machine loses power. Turn fsync on',
    );
  }
}

/** The number of the schema; 0 where there is none yet. */
async function schemaOf(db: Db): Promise<number> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return 0;
  return countOf(db, sql`kysely_migration`);
}

function tooNew(found: number): JournalSchemaError {
  return new JournalSchemaError(
    `the journal is of schema ${found}, and this release knows ${schemaNumber}: run the release that made it, or a newer one`,
  );
}

/** Closes it where the check fails. */
async function checked(db: Db, check: (db: Db) => Promise<void>): Promise<Db> {
  try {
    await check(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw asUnavailable(error);
  }
}

/** How soon it answers, the wait for a connection included, and whether it was restored. */
export async function healthOf(journal: Store) {
  const began = performance.now();
  const took = () => (performance.now() - began) / 1000;
  try {
    const row = await journal.inTransaction(theJournal);
    return { reachable: true, answerSeconds: took(), restored: whyRestored(row, journal.failover.how) !== undefined };
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error;
    return { reachable: false, answerSeconds: took(), restored: false };
  }
}

/** A database on a server does not say where it is: its restore is not noticed by that. */
export async function isSilent(journal: Store): Promise<boolean> {
  return isPostgres(journal.db) && (await journal.inTransaction(theJournal)).here === null;
}

export async function countsOf(journal: Store) {
  return journal.read(async (db) => {
    const row = await theJournal(db);
    const { id, epoch, raised_ms, restored_ms, doubts_new, identity, here } = row;
    const restored = whyRestored(row, journal.failover.how);
    return {
      id,
      /** The time at which the journal was created or last restored. */
      epoch: iso(epoch),
      raisedAt: raised_ms > 0 ? iso(raised_ms) : undefined,
      /** When a worker found that it was restored, if nobody has run `journal restored` since. */
      restoredAt: restored_ms === null ? undefined : iso(restored_ms),
      /** Why a person has to say what became of it: a sentence. */
      restored,
      /** The cluster and the timeline that were last known to hold it, and those of the database that answers. */
      identity: { known: identity, here },
      newReferences: doubts_new === 1 ? ('ask' as const) : ('trust' as const),
      references: await countOf(db, sql`reference`),
      pivots: {
        intended: await countOf(db, sql`effect where kind = 'pivot' and outcome is null`),
        unknown: await countOf(db, sql`effect where kind = 'pivot' and outcome = 'unknown'`),
      },
    };
  });
}
