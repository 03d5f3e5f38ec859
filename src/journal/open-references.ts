/**
 * Sagas that have begun and not ended: those that run, and those that are lost, because Temporal has no open run of
 * them.
 *
 * A reference is open from when it is taken until an ending is written, and again when a later run begins. The index
 * contains open references only, so a search costs the same among millions of references as among hundreds.
 */
import { sql } from 'kysely';
import { workflowIdOf } from '../domain/identity';
import type { RunStatus } from '../domain/lost';
import { whatIsLacking } from './recovery-gap';
import { type Begin, endingOf, iso, livePivot, ofSaga, own, type SagaKey, theJournal } from './rows';
import type { Ended, Journal } from './journal';

export interface OpenReference extends SagaKey {
  workflowId: string;
  firstSeenAt: string;
  touchedMs: number;
}

/** A slice, in the order of the keys. @param after the last one of the slice before. */
export async function openReferences(
  journal: Journal,
  after: SagaKey | undefined,
  limit: number,
): Promise<OpenReference[]> {
  const { workflow = '', reference = '' } = after ?? {};
  const rows = await journal.rows(sql<SagaKey & { seenMs: number; touchedMs: number }>`
    select workflow, reference, first_seen_ms as ${sql.ref('seenMs')}, touched_ms as ${sql.ref('touchedMs')} from reference
      where is_open is not null and (workflow, reference) > (${workflow}, ${reference})
      order by workflow, reference limit ${limit}`);
  return rows.map(({ seenMs, ...row }) => {
    return { ...row, workflowId: workflowIdOf(row.workflow, row.reference), firstSeenAt: iso(seenMs) };
  });
}

/** Asks Temporal how each of these sagas stands there, by workflow id; a hundred at most. */
export type LookUp = (workflowIds: readonly string[]) => Promise<ReadonlyMap<string, RunStatus>>;

/**
 * A slice of the sagas without an ending, each with how it stands in Temporal: those that are lost are among them.
 *
 * @returns `last`: the one to go on behind; undefined where there are no more
 */
export async function openSagas(
  journal: Journal,
  lookUp: LookUp,
  { after, limit }: { after: SagaKey | undefined; limit: number },
) {
  const open = await openReferences(journal, after, limit);
  const standing = await lookUp(open.map(({ workflowId }) => workflowId));
  const sagas = open.map((one) => ({ ...one, how: standing.get(one.workflowId) }));
  return { sagas, last: open.length < limit ? undefined : open.at(-1) };
}

/** Its order, change order or switch was placed, or may have been. */
export async function mayBePlaced(journal: Journal, key: SagaKey): Promise<boolean> {
  return (await journal.read((db) => livePivot(db, key))) !== undefined;
}

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

/**
 * Closes a reference whose saga has ended although no ending was written: a person skipped that. It changes nothing if
 * the reference was used since it was read.
 */
export function close(journal: Journal, { workflow, reference, touchedMs }: OpenReference): Promise<void> {
  return journal.inTransaction(async (tx) => {
    const seen = tx.updateTable('reference').where(ofSaga({ workflow, reference })).where('touched_ms', '=', touchedMs);
    await seen.set({ is_open: null }).execute();
  });
}
