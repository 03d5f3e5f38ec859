/** The whole journal: whether it answers, how soon, whether it was restored, or may have been, and counts of its rows. */
import { definedOnly } from '../domain/defined-only';
import { isPostgres } from './dialects';
import { JournalUnavailable } from './errors';
import type { Store } from './store';
import { whyRestored } from './lost-time';
import { type Effect, hasNoAnswer, iso, theJournal } from './rows';

export interface JournalHealth {
  reachable: boolean;
  /** Seconds for one small transaction, the wait for a connection included. */
  answerSeconds: number;
  /** `order-saga journal restored` has not been run since. False where it does not answer. */
  restored: boolean;
}

export async function healthOf(journal: Store): Promise<JournalHealth> {
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
export async function isSilent(journal: Store): Promise<boolean> {
  return isPostgres(journal.db) && (await journal.inTransaction(theJournal)).here === null;
}

export interface JournalCounts {
  id: string;
  /** The time at which the journal was created or last restored. */
  epoch: string;
  /** When the epoch was last raised, if ever. */
  raisedAt?: string;
  /** When a worker found that the journal was restored, if nobody has run `journal restored` since. */
  restoredAt?: string;
  /** Why a person has to say what became of it: a sentence. */
  restored?: string;
  /**
   * The cluster and the timeline that were last known to hold it, and those of the database that answers; null where it
   * does not say.
   */
  identity: { known: string | null; here: string | null };
  newReferences: 'ask' | 'trust';
  references: number;
  /** Orders, change orders and switches without an outcome yet, and with an unknown outcome. */
  pivots: { meant: number; unknown: number };
}

export async function countsOf(journal: Store): Promise<JournalCounts> {
  return journal.read(async (db) => {
    const row = await theJournal(db);
    const { id, epoch, raised_ms, restored_ms, doubts_new, identity, here } = row;
    const restored = whyRestored(row, journal.failover.how);
    const { references } = await db
      .selectFrom('reference')
      .select((select) => select.fn.countAll<number>().as('references'))
      .executeTakeFirstOrThrow();
    const pivots = await db
      .selectFrom('effect')
      .select((select) => ['outcome', select.fn.countAll<number>().as('count')])
      .where('kind', '=', 'pivot')
      .where(hasNoAnswer)
      .groupBy('outcome')
      .execute();
    const countOf = (outcome: Effect['outcome']) => pivots.find((row) => row.outcome === outcome)?.count ?? 0;
    return {
      id,
      epoch: iso(epoch),
      ...(raised_ms > 0 ? { raisedAt: iso(raised_ms) } : {}),
      ...(restored_ms === null ? {} : { restoredAt: iso(restored_ms) }),
      ...definedOnly({ restored }),
      identity: { known: identity, here },
      newReferences: doubts_new === 1 ? 'ask' : 'trust',
      references,
      pivots: { meant: countOf(null), unknown: countOf('unknown') },
    };
  });
}
