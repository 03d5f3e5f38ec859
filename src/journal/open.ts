/** How a journal is opened by whoever uses it. */
import type { JournalAddress } from './dialects';
import { Journal } from './journal';
import { openCheckedDatabase } from './migrate';
import type { Sealing } from './sealing';

/**
 * A file is made and brought up to date on the way; a database on a server must be of this release's schema.
 *
 * @throws JournalSchemaError, JournalUnavailable
 */
export async function openJournal(address: JournalAddress, sealing: Sealing): Promise<Journal> {
  return new Journal(await openCheckedDatabase(address), sealing);
}
