import type { Kysely } from 'kysely';

/** For a sweep: a saga that found everything as it should be has no call that says what it wanted. Older endings say nothing. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('ending').addColumn('resource', 'text').execute();
  await db.schema.alterTable('ending').addColumn('word', 'text').execute();
  await db.schema
    .createIndex('ending_by_resource')
    .on('ending')
    .columns(['resource', 'ended_ms'])
    .where('resource', 'is not', null)
    .execute();
}
