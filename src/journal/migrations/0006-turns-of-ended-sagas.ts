import type { Kysely } from 'kysely';
import { isPostgres } from '../dialects';

/** Of a turn that is kept although its saga has ended: a call of it may still be in the air. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('turn')
    .addColumn('ended_ms', isPostgres(db) ? 'bigint' : 'integer')
    .execute();
}
