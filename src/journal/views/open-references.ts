/**
 * Sagas that have begun and not ended: those that run, and those that are lost, because Temporal has no open run of
 * them.
 *
 * A reference is open from when it is taken until an ending is written, and again when a later run begins. The index
 * contains open references only, so a search costs the same among millions of references as among hundreds.
 */
import { sql } from 'kysely';
import { workflowIdOf } from '../../domain/identity';
import type { RunStatus } from '../../domain/lost';
import { iso, livePivot, ofSaga, type SagaKey } from '../rows';
import type { Journal } from '../journal';

export interface OpenReference extends SagaKey {
  workflowId: string;
  firstSeenAt: string;
  touchedMs: number;
}

/** Asks Temporal how each of these sagas stands there, by workflow id; a hundred at most. */
export type LookUp = (workflowIds: readonly string[]) => Promise<ReadonlyMap<string, RunStatus>>;

/**
 * A slice of the sagas without an ending, in the order of the keys, each with how it stands in Temporal: those that are
 * lost are among them.
 *
 * @param after the last one of the slice before
 * @returns `last`: the one to go on behind; undefined where there are no more
 */
export async function openSagas(
  journal: Journal,
  lookUp: LookUp,
  { after, limit }: { after: SagaKey | undefined; limit: number },
) {
  const { workflow = '', reference = '' } = after ?? {};
  const rows = await journal.rows(sql<SagaKey & { seenMs: number; touchedMs: number }>`
    select workflow, reference, first_seen_ms as ${sql.ref('seenMs')}, touched_ms as ${sql.ref('touchedMs')} from reference
      where is_open is not null and (workflow, reference) > (${workflow}, ${reference})
      order by workflow, reference limit ${limit}`);
  const open = rows.map(({ seenMs, ...row }): OpenReference => {
    return { ...row, workflowId: workflowIdOf(row.workflow, row.reference), firstSeenAt: iso(seenMs) };
  });
  const standing = await lookUp(open.map(({ workflowId }) => workflowId));
  const sagas = open.map((one) => ({ ...one, how: standing.get(one.workflowId) }));
  return { sagas, last: open.length < limit ? undefined : open.at(-1) };
}

/** Its order, change order or switch was placed, or may have been. */
export async function mayBePlaced(journal: Journal, key: SagaKey): Promise<boolean> {
  return (await journal.read((db) => livePivot(db, key))) !== undefined;
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
