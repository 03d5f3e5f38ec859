/** Checks that the keys are the journal's: with others of the same id, new rows could never be read with the old. */
import { CannotStart } from '../config';
import type { Journal } from '../journal/journal';
import { DecryptionError } from '../security/payload-codec';

/** One row that was altered does not stop a worker. */
const looksAt = 5;

/** @param warn gets a sentence where the key may be lost for good. @throws CannotStart; JournalUnavailable */
export async function checkJournalKeys(journal: Journal, warn: (message: string) => void): Promise<void> {
  const errors: DecryptionError[] = [];
  for (const sealed of await journal.newestRequests(looksAt)) {
    try {
      await journal.sealing.unseal(sealed);
      return;
    } catch (error) {
      if (error instanceof DecryptionError) errors.push(error);
    }
  }
  const [newest] = errors;
  if (newest === undefined) return;
  const wrong = errors.find(({ hasKey }) => hasKey);
  if (wrong === undefined) {
    warn(`the journal’s newest requests are ${newest.message}: their sagas wait until it is`);
    return;
  }
  throw new CannotStart(
    `the journal’s newest requests are ${wrong.message}: set PAYLOAD_KEYS to the keys of the time when they were written; ` +
      'if those are lost for good, give the new key another id',
  );
}
