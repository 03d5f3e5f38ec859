/**
 * Which sagas have begun and not ended: those that run, and those that are lost, of which Temporal knows no run that goes on.
 *
 * A reference is open from when it is taken until an ending is written, in the namespace that its run is of; and again from when a later
 * run takes it, or one that was reset means anything. The index has the open ones only, so that looking through them costs as much
 * among millions of references as among hundreds.
 */
import { sql } from 'kysely';
import { iso, livePivot, lock, type Journal, type SagaKey } from './journal';

export interface OpenReference extends SagaKey {
  firstSeenAt: string;
  firstRun: string;
  touchedMs: number;
}

/** In the order of their keys. @param after the last one of the slice before. @throws JournalUnavailable */
export function openReferences(
  journal: Journal,
  namespace: string,
  after: SagaKey | undefined,
  limit: number,
): Promise<OpenReference[]> {
  return journal.inTransaction(async (tx) => {
    const question = tx
      .selectFrom('reference')
      .select(['workflow', 'reference', 'first_seen_ms', 'first_run', 'touched_ms'])
      .where('open_in', '=', namespace)
      .orderBy('workflow')
      .orderBy('reference')
      .limit(limit);
    const rows = await (
      after === undefined
        ? question
        : // With the namespace, or the database might look by the key of all references instead.
          question.where(
            sql<boolean>`(open_in, workflow, reference) > (${namespace}, ${after.workflow}, ${after.reference})`,
          )
    ).execute();
    return rows.map(({ workflow, reference, first_seen_ms, first_run, touched_ms }) => ({
      workflow,
      reference,
      firstSeenAt: iso(first_seen_ms),
      firstRun: first_run,
      touchedMs: touched_ms,
    }));
  });
}

/** Whether an order, change order or switch of it was placed, or may have been. @throws JournalUnavailable */
export function mayBePlaced(journal: Journal, { workflow, reference }: SagaKey): Promise<boolean> {
  return journal.inTransaction(async (tx) => (await livePivot(tx, { workflow, reference })) !== undefined);
}

/** Another run works under a reference that was taken before. @throws JournalUnavailable */
export function open(journal: Journal, key: SagaKey, namespace: string): Promise<void> {
  return journal.inTransaction(async (tx) => {
    await lock(tx, key);
    await tx
      .updateTable('reference')
      .set({ open_in: namespace })
      .where((where) => where.and({ ...key }))
      .execute();
  });
}

/**
 * Its saga has ended in order, though nobody wrote that down: a person skipped it. Nothing happens where anything was done since it was
 * read.
 *
 * @throws JournalUnavailable
 */
export function close(journal: Journal, { workflow, reference, touchedMs }: OpenReference): Promise<void> {
  return journal.inTransaction(async (tx) => {
    await tx
      .updateTable('reference')
      .set({ open_in: null })
      .where((where) => where.and({ workflow, reference, touched_ms: touchedMs }))
      .execute();
  });
}
