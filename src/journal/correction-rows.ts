/** Corrections of a request by people, one row each. The request itself stays as it was first asked. */
import type { Insertable, Kysely, Selectable } from 'kysely';
import { nowMs } from './dialects';
import type { JournalTables } from './schema';

type Key = Pick<CorrectionRow, 'workflow' | 'reference'>;
export type CorrectionRow = Selectable<JournalTables['correction']>;

/** A second call with the same id changes nothing. */
export async function insertCorrection(
  db: Kysely<JournalTables>,
  row: Omit<Insertable<JournalTables['correction']>, 'seq' | 'at_ms'>,
): Promise<void> {
  await db
    .insertInto('correction')
    .values({ ...row, at_ms: nowMs(db) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** @returns the corrections in the order in which they were made */
export function correctionsOf(db: Kysely<JournalTables>, { workflow, reference }: Key): Promise<CorrectionRow[]> {
  return db
    .selectFrom('correction')
    .selectAll()
    .where((where) => where.and({ workflow, reference }))
    .orderBy('seq')
    .execute();
}
