/**
 * All tables of the first release. What {@link JournalTables} means by each column: ../schema.ts.
 */
import { randomUUID } from 'node:crypto';
import { sql, type ColumnDefinitionBuilder, type Kysely } from 'kysely';
import { identityHere, isPostgres, nowMs } from '../dialects';

/** What the two databases call alike things. */
interface Types {
  integer: 'bigint' | 'integer';
  number: 'double precision' | 'real';
  sequence: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

const ofPostgres: Types = {
  integer: 'bigint',
  number: 'double precision',
  sequence: (column) => column.generatedAlwaysAsIdentity().primaryKey(),
};

const ofSqlite: Types = {
  integer: 'integer',
  number: 'real',
  sequence: (column) => column.primaryKey().autoIncrement(),
};

export async function up(db: Kysely<unknown>): Promise<void> {
  const types = isPostgres(db) ? ofPostgres : ofSqlite;
  await makeJournal(db, types);
  await makeReference(db, types);
  await makeEffect(db, types);
  await makePurchase(db, types);
  await makeServer(db, types);
  await makeEnding(db, types);
  await makeTurn(db, types);
  await makeCorrection(db, types);
  await makeConfirmation(db, types);
}

async function makeJournal(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await db.schema
    .createTable('journal')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('epoch', integer, (column) => column.notNull())
    .addColumn('raised_ms', integer, (column) => column.notNull())
    .addColumn('restored_ms', integer)
    .addColumn('doubts_new', 'integer', (column) => column.notNull())
    .addColumn('identity', 'text')
    .execute();
  if (isPostgres(db)) await makeIdentity(db);
  await sql`
    insert into journal (id, epoch, raised_ms, doubts_new, identity)
    values (${randomUUID()}, ${nowMs(db)}, 0, 0, ${identityHere(db)})`.execute(db);
}

/**
 * Null at a standby, and where the server has no such functions or does not allow them: as a function of ours, because
 * an error would end the transaction that asks. The control file is not asked for the timeline: after a promotion it
 * lags until the next checkpoint.
 */
async function makeIdentity(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function journal_identity() returns text language plpgsql as $$
    begin
      if pg_is_in_recovery() then
        return null;
      end if;
      return (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
    exception
      when undefined_function or insufficient_privilege or feature_not_supported then
        return null;
    end
    $$`.execute(db);
}

async function makeReference(db: Kysely<unknown>, { integer }: Types): Promise<void> {
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
    .addColumn('open_in', 'text')
    .addColumn('namespace', 'text')
    .addColumn('runs', 'text')
    .addColumn('begun', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('owner', 'text')
    .addPrimaryKeyConstraint('reference_pk', ['workflow', 'reference'])
    .execute();
  // Contains open references only, and no column that changes while they are open: a few hundred entries among millions
  // of rows.
  await db.schema
    .createIndex('open_reference')
    .on('reference')
    .columns(['open_in', 'workflow', 'reference'])
    .where('open_in', 'is not', null)
    .execute();
  // For a sweep, which goes through the youngest references. The time when one was first seen never changes.
  await db.schema
    .createIndex('reference_by_age')
    .on('reference')
    .columns(['first_seen_ms', 'workflow', 'reference'])
    .execute();
}

async function makeEffect(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await db.schema
    .createTable('effect')
    .addColumn('seq', integer, sequence)
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('mutate', 'compensate', 'pivot')`))
    .addColumn('activity', 'text', (column) => column.notNull())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('about', 'text', (column) => column.notNull())
    .addColumn('note', 'text')
    .addColumn('sent', 'text')
    .addColumn('cart_item_id', integer)
    .addColumn('vm_object_id', integer)
    .addColumn('epoch', integer, (column) => column.notNull())
    .addColumn('meant_ms', integer, (column) => column.notNull())
    .addColumn('in_flight_ms', integer, (column) => column.notNull())
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
    .addColumn('cancelled_ms', integer)
    .addColumn('cancelled', 'text')
    .addColumn('is_first', integer)
    .addForeignKeyConstraint('effect_of_reference', ['workflow', 'reference'], 'reference', ['workflow', 'reference'])
    .execute();

  // The promise of this service as one constraint: a second order, change order or switch cannot be written down, so
  // none is sent.
  await sql`
    create unique index at_most_one_pivot on effect (workflow, reference)
      where kind = 'pivot' and (outcome is null or outcome in ('done', 'unknown'))`.execute(db);
  // Two calls that find no row of their step at the same moment: one is written.
  await sql`
    create unique index one_first_call on effect (workflow, reference, step) where is_first is not null`.execute(db);
  // For questions over all references: by age, and by what became of it, where few are of that kind.
  await sql`create index pivot_by_age on effect (meant_ms, id) where kind = 'pivot'`.execute(db);
  await sql`create index pivot_by_fate on effect ((case when cancelled_ms is not null then 'cancelled'
    when outcome = 'done' then 'placed' when outcome is null or outcome = 'unknown' then 'unknown'
    else 'not-placed' end), meant_ms, id) where kind = 'pivot'`.execute(db);
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
  // For ids that the provider has given again.
  await sql`create index effect_by_item on effect (cart_item_id, seq) where cart_item_id is not null`.execute(db);
}

async function makePurchase(db: Kysely<unknown>, { integer, number }: Types): Promise<void> {
  await db.schema
    .createTable('purchase')
    .addColumn('effect', 'text', (column) => column.primaryKey().references('effect.id'))
    .addColumn('account', 'text')
    .addColumn('same', 'text', (column) => column.notNull())
    .addColumn('servers', number)
    .addColumn('items', number)
    .addColumn('total', number)
    .addColumn('currency', 'text')
    .addColumn('estimate', number)
    .addColumn('estimated_in', 'text')
    .addColumn('meant_ms', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('purchase_by_what').on('purchase').columns(['same', 'meant_ms']).execute();
  await db.schema
    .createIndex('purchase_by_account')
    .on('purchase')
    .columns(['account', 'meant_ms', 'effect'])
    .execute();
}

async function makeServer(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await db.schema
    .createTable('server')
    .addColumn('vm_object_id', integer, (column) => column.notNull())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('seen_ms', integer, (column) => column.notNull())
    .addColumn('firewalls', 'text', (column) => column.notNull())
    .addColumn('open_since_ms', integer)
    .addColumn('closed_ms', integer)
    .addColumn('closed', 'text')
    .addPrimaryKeyConstraint('server_pk', ['vm_object_id', 'workflow', 'reference'])
    .execute();
  await db.schema.createIndex('server_by_reference').on('server').columns(['workflow', 'reference']).execute();
  await sql`create index server_open on server (open_since_ms) where open_since_ms is not null and closed_ms is null`.execute(
    db,
  );
}

async function makeEnding(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await db.schema
    .createTable('ending')
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('ended_by', 'text', (column) => column.notNull())
    .addColumn('ended_ms', integer, (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('report', 'text', (column) => column.notNull())
    .addColumn('resource', 'text')
    .addColumn('word', 'text')
    .addPrimaryKeyConstraint('ending_pk', ['workflow', 'reference', 'run'])
    .addForeignKeyConstraint('ending_of_reference', ['workflow', 'reference'], 'reference', ['workflow', 'reference'])
    .execute();
  // For a sweep: a saga that found everything as it should be has no call that says what it wanted.
  await db.schema
    .createIndex('ending_by_resource')
    .on('ending')
    .columns(['resource', 'ended_ms'])
    .where('resource', 'is not', null)
    .execute();
}

async function makeTurn(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await db.schema
    .createTable('turn')
    .addColumn('seq', integer, sequence)
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('resource', 'text', (column) => column.notNull())
    .addColumn('workflow', 'text', (column) => column.notNull())
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull())
    .addColumn('since_ms', integer, (column) => column.notNull())
    .addColumn('begun_ms', integer)
    // Set when the saga has ended: a turn is kept while a call of it may still be in flight.
    .addColumn('ended_ms', integer)
    .addUniqueConstraint('one_place_for_a_saga', ['workflow', 'reference'])
    .execute();
  await db.schema.createIndex('turn_by_resource').on('turn').columns(['resource', 'seq']).execute();

  // One saga at a time for a server and for a subscription.
  await sql`create unique index one_turn_at_a_time on turn (resource) where begun_ms is not null`.execute(db);
}

async function makeCorrection(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await db.schema
    .createTable('correction')
    .addColumn('seq', integer, sequence)
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

async function makeConfirmation(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await db.schema
    .createTable('confirmation')
    .addColumn('seq', integer, sequence)
    .addColumn('at_ms', integer, (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('said', 'text', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .execute();
}
