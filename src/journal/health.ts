/** Whether the journal answers, how soon, and whether it knows that it was put back to an older copy. */
import { JournalUnavailable } from './errors';
import type { Journal } from './journal';
import { theJournal } from './rows';

export interface JournalHealth {
  reachable: boolean;
  /** Seconds for one small transaction, the wait for a connection included. */
  answerSeconds: number;
  /** `order-saga journal restored` has not been run since. False where it does not answer. */
  putBack: boolean;
}

export async function healthOf(journal: Journal): Promise<JournalHealth> {
  const began = performance.now();
  const took = () => (performance.now() - began) / 1000;
  try {
    const { put_back_ms } = await journal.inTransaction(theJournal);
    return { reachable: true, answerSeconds: took(), putBack: put_back_ms !== null };
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error;
    return { reachable: false, answerSeconds: took(), putBack: false };
  }
}
