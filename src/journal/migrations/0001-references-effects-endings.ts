import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { isPostgres, nowMs } from '../dialects';

export async function up(db: Kysely<unknown>): Promise<void> {
  const postgres = isPostgres(db);
  const integer = postgres ? 'bigint' : 'integer';

  await db.schema
    .createTable('journal')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('epoch', integer, (column) => column.notNull())
    .addColumn('raised_ms', integer, (column) => column.notNull())
    .addColumn('put_back_ms', integer)
    .addColumn('doubts_new', 'integer', (column) => column.notNull())
    .execute();
  await sql`insert into journal (id, epoch, raised_ms, doubts_new) values (${randomUUID()}, ${nowMs(db)}, 0, 0)`.execute(
    db,
  );

  await db.schema
    .createTable('reference')
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('account', 'text')
    .addColumn('request', 'text')
    .addColumn('first_seen_ms', integer, (column) => column.notNull())
    .addColumn('first_run', 'text', (column) => column.notNull())
    .addColumn('epoch', integer, (column) => column.notNull())
    .addColumn('touched_ms', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('reference_pk', ['workflow', 'reference'])
    .execute();

  await db.schema
    .createTable('effect')
    .addColumn('seq', integer, (column) =>
      postgres ? column.generatedAlwaysAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('mutate', 'compensate', 'pivot')`))
    .addColumn('activity', 'text', (column) => column.notNull())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('about', 'text', (column) => column.notNull())
    .addColumn('note', 'text')
    .addColumn('cart_item_id', integer)
    .addColumn('vm_object_id', integer)
    .addColumn('epoch', integer, (column) => column.notNull())
    .addColumn('meant_ms', integer, (column) => column.notNull())
    .addColumn('in_air_ms', integer, (column) => column.notNull())
    .addColumn('outcome', 'text', (column) =>
      column.check(sql`outcome in ('done', 'not-done', 'unknown', 'undone', 'denied')`),
    )
    .addColumn('answered_ms', integer)
    .addColumn('failure', 'text')
    .addColumn('answer', 'text')
    .addColumn('undone_by', 'text')
    .addColumn('decided_ms', integer)
    .addColumn('decided', 'text')
    .addColumn('late', 'text')
    .addForeignKeyConstraint('effect_of_reference', ['workflow', 'reference'], 'reference', ['workflow', 'reference'])
    .execute();

  // The promise of this service as one constraint: a second order, change order or switch cannot be written down, so none is sent.
  await sql`
    create unique index at_most_one_pivot on effect (workflow, reference)
      where kind = 'pivot' and (outcome is null or outcome in ('done', 'unknown'))`.execute(db);
  await db.schema
    .createIndex('effect_by_step')
    .on('effect')
    .columns(['workflow', 'reference', 'step', 'seq'])
    .execute();
  // For changes of a server by all references.
  await db.schema
    .createIndex('effect_by_server')
    .on('effect')
    .columns(['vm_object_id', 'seq'])
    .where('vm_object_id', 'is not', null)
    .execute();

  await db.schema
    .createTable('ending')
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('ended_by', 'text', (column) => column.notNull())
    .addColumn('ended_ms', integer, (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('report', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ending_pk', ['workflow', 'reference', 'run'])
    .addForeignKeyConstraint('ending_of_reference', ['workflow', 'reference'], 'reference', ['workflow', 'reference'])
    .execute();
}
