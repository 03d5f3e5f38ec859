import type { Kysely } from 'kysely';

/** So that an ending that is written late does not close a reference that a later run has opened. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('reference').addColumn('runs', 'text').execute();
}
