/** Opens a journal: for a worker, and for a person who asks. */
import { existsSync } from 'node:fs';
import { openDatabase, type JournalAddress } from './dialects';
import { asUnavailable, JournalSchemaError, JournalUnavailable } from './errors';
import { askAboutFailovers, type Failover, type FailoverRule } from './database-identity';
import { Journal } from './journal';
import { checkJournal, checkSchema, openCheckedDatabase, schemaOf } from './migrate';
import { theJournal } from './rows';
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
  return new Journal(await openCheckedDatabase(address), sealing, failover);
}

/**
 * A journal is of one namespace, the first worker's: what runs in another one would count as lost.
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
  const db = openExisting(address);
  try {
    await (writes ? checkJournal(db) : checkSchema(db));
    return new Journal(db, sealing, { ...askAboutFailovers, how: failover });
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/**
 * @returns the number of its schema; 0 where there is none yet. @throws JournalUnavailable, also for a file that is not
 * there
 */
export async function lookAtSchema(address: JournalAddress): Promise<number> {
  const db = openExisting(address);
  try {
    return await schemaOf(db);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    await db.destroy();
  }
}

function openExisting(address: JournalAddress): ReturnType<typeof openDatabase> {
  // Opening would create it, and a mistyped name would look like an empty journal.
  if ('file' in address && !existsSync(address.file)) throw new JournalUnavailable('there is no such file');
  return openDatabase(address, { statementMs: patientStatementMs });
}
