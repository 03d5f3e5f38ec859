import type { Kysely } from 'kysely';

/** For a sweep, which goes through the youngest references. The time when one was first seen never changes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('reference_by_age')
    .on('reference')
    .columns(['first_seen_ms', 'workflow', 'reference'])
    .execute();
}
