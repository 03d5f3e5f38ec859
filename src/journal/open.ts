/** Opens a journal: for a worker, and for a person who asks. */
import { existsSync } from 'node:fs';
import { openDatabase, type JournalAddress } from './dialects';
import { asUnavailable, JournalUnavailable } from './errors';
import { askAboutFailovers, type Failover, type FailoverRule } from './database-identity';
import { Journal } from './journal';
import { checkJournal, checkSchema, openCheckedDatabase, schemaOf } from './migrate';
import type { Sealing } from './store';

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
