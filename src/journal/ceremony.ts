/** What a person does with the whole journal after it was put back to an older copy. */
import { nowMs } from './dialects';
import { theJournal } from './rows';
import type { Journal } from './journal';

export type NewReferences = 'ask' | 'trust';

/**
 * Raises the epoch: references from before are in doubt from now on, and a person is asked before each pivot of them. The workers go on.
 *
 * @param newReferences `ask`: a person is also asked about references that are new here, because they may be from the lost time
 * @returns the new epoch, and whether a worker had noticed that the journal was put back
 * @throws JournalUnavailable
 */
export async function restored(
  journal: Journal,
  newReferences: NewReferences,
): Promise<{ epoch: string; noticed: string | undefined }> {
  return journal.inTransaction(async (tx) => {
    // Written first, as a lock: two concurrent calls raise the epoch one after the other.
    await tx
      .updateTable('journal')
      .set({ doubts_new: newReferences === 'ask' ? 1 : 0 })
      .execute();
    const before = await theJournal(tx);
    const { now } = await tx.selectNoFrom(nowMs(tx).as('now')).executeTakeFirstOrThrow();
    const epoch = Math.max(now, before.epoch + 1);
    await tx.updateTable('journal').set({ epoch, raised_ms: now, put_back_ms: null }).execute();
    const noticed = before.put_back_ms === null ? undefined : new Date(before.put_back_ms).toISOString();
    return { epoch: new Date(epoch).toISOString(), noticed };
  });
}

/** Ends the doubt about new references. @returns false where there was none. @throws JournalUnavailable */
export async function trustNewReferences(journal: Journal): Promise<boolean> {
  return journal.inTransaction(async (tx) => {
    const updated = await tx
      .updateTable('journal')
      .set({ doubts_new: 0 })
      .where('doubts_new', '=', 1)
      .executeTakeFirst();
    return updated.numUpdatedRows > 0n;
  });
}
