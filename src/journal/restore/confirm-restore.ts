/**
 * A person's statements about the whole journal, as after it was restored from an older copy. Each writes, in its
 * transaction, a row that stays: who has said so, and why.
 */
import { sql } from 'kysely';
import { nowMs } from '../database/dialects';
import { unlessUnreadable } from '../database/errors';
import { whyElsewhere } from './recovery-gap';
import { type Db, iso, theJournal, type Tx } from '../rows';
import type { Store, Verdict } from '../store';
import type { ConfirmationName } from '../database/schema';

/** @param said sealed */
async function insertConfirmation(tx: Tx, what: ConfirmationName, said: string, details: object): Promise<void> {
  const row = { at_ms: nowMs(tx), what, said, details: JSON.stringify(details) };
  await tx.insertInto('confirmation').values(row).execute();
}

export interface Confirmation {
  at: string;
  what: ConfirmationName;
  details: Record<string, unknown>;
  /** Absent where it cannot be decrypted here. */
  said?: Verdict;
}

/** The last ones, the newest first. */
export async function confirmationsOf(journal: Store, limit: number): Promise<Confirmation[]> {
  const newest = (db: Db) => db.selectFrom('confirmation').selectAll().orderBy('seq', 'desc').limit(limit).execute();
  return Promise.all(
    (await journal.read(newest)).map(async ({ at_ms, what, details, said: sealed }) => {
      const said = (await unlessUnreadable(journal.unseal(sealed, what))) as Verdict | undefined;
      const read = JSON.parse(details) as Record<string, unknown>;
      return { at: iso(at_ms), what, details: read, said };
    }),
  );
}

/**
 * Raises the epoch: references from before are in doubt from now on, and a person is asked before each pivot of them.
 * The workers go on. The same holds for references that are new here, because they may be from the lost time, until
 * {@link trustNewReferences}.
 *
 * @returns the new epoch, whether a worker had noticed that the journal was restored, and whether its database is
 * another one
 */
export async function restored(
  journal: Store,
  said: Verdict,
): Promise<{ epoch: string; noticed: string | undefined; elsewhere: string | undefined }> {
  const sealed = await journal.sealing.seal(said);
  return journal.inTransaction(async (tx) => {
    // Written first, as a lock: two concurrent calls raise the epoch one after the other.
    await tx.updateTable('journal').set({ doubts_new: 1 }).execute();
    const before = await theJournal(tx);
    const { now } = before;
    const epoch = Math.max(now, before.epoch + 1);
    await tx.updateTable('journal').set({ epoch, raised_ms: now, restored_ms: null, identity: before.here }).execute();
    await insertConfirmation(tx, 'restored', sealed, { epoch: iso(epoch) });
    const noticed = before.restored_ms === null ? undefined : iso(before.restored_ms);
    return { epoch: iso(epoch), noticed, elsewhere: whyElsewhere(before, 'ask') };
  });
}

export type NothingLost =
  /** The database is what it was, or does not say what it is. */
  | { how: 'nothing-to-say' }
  | { how: 'accepted'; elsewhere: string }
  /** A history knows more than the journal: then something was lost. */
  | { how: 'refused'; noticed: string };

/**
 * Takes the journal's database for what it is now, without a new epoch: every commit is in it, as after the promotion
 * of a synchronous standby or a planned move.
 */
export async function nothingLost(journal: Store, said: Verdict): Promise<NothingLost> {
  const sealed = await journal.sealing.seal(said);
  return journal.inTransaction(async (tx): Promise<NothingLost> => {
    // Written first, as a lock: meanwhile no worker marks it.
    await sql`update journal set epoch = epoch`.execute(tx);
    const { restored_ms, identity, here } = await theJournal(tx);
    if (restored_ms !== null) return { how: 'refused', noticed: iso(restored_ms) };
    const elsewhere = whyElsewhere({ identity, here }, 'ask');
    if (elsewhere === undefined) return { how: 'nothing-to-say' };
    await tx.updateTable('journal').set({ identity: here }).execute();
    await insertConfirmation(tx, 'nothing-lost', sealed, { known: identity, here });
    return { how: 'accepted', elsewhere };
  });
}

/** Ends the doubt about new references. @returns false where there was none */
export async function trustNewReferences(journal: Store, said: Verdict): Promise<boolean> {
  const sealed = await journal.sealing.seal(said);
  return journal.inTransaction(async (tx) => {
    const trusts = tx.updateTable('journal').set({ doubts_new: 0 }).where('doubts_new', '=', 1);
    if ((await trusts.executeTakeFirst()).numUpdatedRows === 0n) return false;
    await insertConfirmation(tx, 'trust-new-references', sealed, {});
    return true;
  });
}
