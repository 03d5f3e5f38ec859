/** Whether the journal answers, how soon, and whether it was restored from an older copy, or may have been. */
import { isPostgres } from './dialects';
import { JournalUnavailable } from './errors';
import type { Journal } from './journal';
import { whyRestored } from './lost-time';
import { theJournal } from './rows';

export interface JournalHealth {
  reachable: boolean;
  /** Seconds for one small transaction, the wait for a connection included. */
  answerSeconds: number;
  /** `order-saga journal restored` has not been run since. False where it does not answer. */
  restored: boolean;
}

export async function healthOf(journal: Journal): Promise<JournalHealth> {
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

/**
 * Whether a database on a server does not say where it is, so that its restore is not noticed by that. @throws
 * JournalUnavailable
 */
export async function isSilent(journal: Journal): Promise<boolean> {
  return isPostgres(journal.db) && (await journal.inTransaction(theJournal)).here === null;
}
