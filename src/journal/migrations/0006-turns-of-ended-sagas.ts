import type { Kysely } from 'kysely';
import { isPostgres } from '../dialects';

/** A turn is kept after its saga has ended while a call of that saga may still be in the air. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('turn')
    .addColumn('ended_ms', isPostgres(db) ? 'bigint' : 'integer')
    .execute();
}
