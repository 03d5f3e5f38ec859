/** A run begins under a reference, or is told how that has ended. */
import { type Begin, endingOf, own } from './acquire';
import type { Ended, Journal } from './journal';
import { whatIsLacking } from './restore/recovery-gap';
import { type SagaKey, theJournal } from './rows';

export type Begun =
  /** `isAfterAnother`: another run owned it, or a turn was over. */
  | { how: 'begun'; number: number; isAfterAnother?: boolean }
  | Ended
  /** The journal is or may be an older copy: how the reference has ended it may not know. */
  | { how: 'restored'; why: string }
  /** Another run has begun since, or the reference is not known. */
  | { how: 'not-owned' };

/** As {@link own}. @throws JournalUnreadable */
export async function begin(journal: Journal, key: SagaKey, by: Begin): Promise<Begun> {
  // An ending that is being written is waited for: the next statement sees it.
  const begun = await journal.locked(key, async (tx, taken) => {
    const number = await own(tx, key, by);
    const isAfterAnother = taken?.owner?.startsWith(`${by.run}/`) !== true;
    if (number !== undefined) return { how: 'begun' as const, number, isAfterAnother };
    const ended = await endingOf(tx, key, by);
    if (ended === undefined) return { how: 'not-owned' as const };
    const known = { taken: true, cursor: undefined };
    const why = await whatIsLacking(tx, await theJournal(tx), journal.failover, known);
    return why === undefined ? { how: 'ended' as const, ended } : { how: 'restored' as const, why };
  });
  return begun.how === 'ended' ? journal.endedBy(begun.ended, by.run) : begun;
}
