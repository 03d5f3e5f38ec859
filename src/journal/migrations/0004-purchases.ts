import type { Kysely } from 'kysely';
import { isPostgres } from '../dialects';

export async function up(db: Kysely<unknown>): Promise<void> {
  const postgres = isPostgres(db);
  const integer = postgres ? 'bigint' : 'integer';
  const number = postgres ? 'double precision' : 'real';

  await db.schema
    .createTable('purchase')
    .addColumn('effect', 'text', (column) => column.primaryKey().references('effect.id'))
    .addColumn('account', 'text')
    .addColumn('same', 'text', (column) => column.notNull())
    .addColumn('servers', number)
    .addColumn('items', number)
    .addColumn('total', number)
    .addColumn('currency', 'text')
    .addColumn('meant_ms', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('purchase_by_what').on('purchase').columns(['same', 'meant_ms']).execute();
  await db.schema.createIndex('purchase_by_account').on('purchase').columns(['account', 'meant_ms']).execute();
}
