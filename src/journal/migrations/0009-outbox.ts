import { sql, type Kysely } from 'kysely';
import { isPostgres } from '../dialects';

export async function up(db: Kysely<unknown>): Promise<void> {
  const postgres = isPostgres(db);
  const integer = postgres ? 'bigint' : 'integer';

  await db.schema
    .createTable('outbox')
    .addColumn('seq', integer, (column) =>
      postgres ? column.generatedAlwaysAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('route', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull())
    .addColumn('workflow_id', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('kind', 'text')
    .addColumn('account', 'text')
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_ms', integer, (column) => column.notNull())
    .addColumn('since_ms', integer, (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('next_ms', integer, (column) => column.notNull())
    .addColumn('delivered_ms', integer)
    .addColumn('dead_ms', integer)
    .addColumn('failure', 'text')
    // An event that is written again changes nothing.
    .addUniqueConstraint('one_row_for_an_event_and_route', ['id', 'route'])
    .execute();

  // Among millions of delivered rows, the indexes have only what is open, what is dead, and what is still to be deleted.
  await sql`create index outbox_due on outbox (namespace, route, next_ms) where delivered_ms is null and dead_ms is null`.execute(
    db,
  );
  await sql`create index outbox_of_saga on outbox (namespace, route, workflow_id, seq) where delivered_ms is null and dead_ms is null`.execute(
    db,
  );
  await sql`create index outbox_dead on outbox (namespace, route, dead_ms) where dead_ms is not null`.execute(db);
  await sql`create index outbox_delivered on outbox (delivered_ms) where delivered_ms is not null`.execute(db);
}
