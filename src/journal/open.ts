/** How a journal is opened by whoever uses it. */
import { existsSync } from 'node:fs';
import { openDatabase, type JournalAddress } from './dialects';
import { asUnavailable, JournalUnavailable } from './errors';
import { Journal } from './journal';
import { checkJournal, checkSchema, openCheckedDatabase, schemaOf } from './migrate';
import type { Sealing } from './sealing';

/**
 * A file is made and brought up to date on the way; a database on a server must be of this release's schema.
 *
 * @throws JournalSchemaError, JournalUnavailable
 */
export async function openJournal(address: JournalAddress, sealing: Sealing): Promise<Journal> {
  return new Journal(await openCheckedDatabase(address), sealing);
}

/** Counting the rows of a large journal takes longer than a call may. */
const patientStatementMs = 60_000;

/**
 * For a person who asks: nothing is made, and nothing is brought up to date on the way. Whoever only reads may do so at a standby.
 *
 * @throws JournalSchemaError; JournalUnavailable, also for a file that is not there
 */
export async function openToAsk(
  address: JournalAddress,
  sealing: Sealing,
  { writes }: { writes: boolean },
): Promise<Journal> {
  const db = openExisting(address);
  try {
    await (writes ? checkJournal(db) : checkSchema(db));
    return new Journal(db, sealing);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** @returns the number of its schema; 0 where there is none yet. @throws JournalUnavailable, as above */
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
  // Opened, it would be made: a name that was mistyped would look like a journal that knows nothing.
  if ('file' in address && !existsSync(address.file)) throw new JournalUnavailable('there is no such file');
  return openDatabase(address, { statementMs: patientStatementMs });
}
