import type { Kysely } from 'kysely';

/** Older references are not marked: only a person can find out whether their sagas have ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('reference').addColumn('open_in', 'text').execute();
  // Contains open references only, and no column that changes while they are open: a few hundred entries among millions of rows.
  await db.schema
    .createIndex('open_reference')
    .on('reference')
    .columns(['open_in', 'workflow', 'reference'])
    .where('open_in', 'is not', null)
    .execute();
}
