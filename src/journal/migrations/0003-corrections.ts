import type { Kysely } from 'kysely';
import { isPostgres } from '../dialects';

export async function up(db: Kysely<unknown>): Promise<void> {
  const postgres = isPostgres(db);
  const integer = postgres ? 'bigint' : 'integer';

  await db.schema
    .createTable('correction')
    .addColumn('seq', integer, (column) =>
      postgres ? column.generatedAlwaysAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('correction', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('correction_by_reference')
    .on('correction')
    .columns(['workflow', 'reference', 'seq'])
    .execute();
}
