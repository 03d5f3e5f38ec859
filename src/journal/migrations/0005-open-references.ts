import type { Kysely } from 'kysely';

/** References of before are not marked: whether their sagas have ended is seen to by nobody but who looks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('reference').addColumn('open_in', 'text').execute();
  // Only of what is open, and of nothing that changes while it is: a few hundred entries among millions of rows.
  await db.schema
    .createIndex('open_reference')
    .on('reference')
    .columns(['open_in', 'workflow', 'reference'])
    .where('open_in', 'is not', null)
    .execute();
}
