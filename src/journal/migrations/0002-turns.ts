import { sql, type Kysely } from 'kysely';
import { isPostgres } from '../dialects';

export async function up(db: Kysely<unknown>): Promise<void> {
  const postgres = isPostgres(db);
  const integer = postgres ? 'bigint' : 'integer';

  await db.schema
    .createTable('turn')
    .addColumn('seq', integer, (column) =>
      postgres ? column.generatedAlwaysAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('resource', 'text', (column) => column.notNull())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull())
    .addColumn('since_ms', integer, (column) => column.notNull())
    .addColumn('begun_ms', integer)
    .addUniqueConstraint('one_place_for_a_saga', ['workflow', 'reference'])
    .execute();
  await db.schema.createIndex('turn_by_resource').on('turn').columns(['resource', 'seq']).execute();

  // One saga at a time for a server and for a subscription.
  await sql`create unique index one_turn_at_a_time on turn (resource) where begun_ms is not null`.execute(db);
}
