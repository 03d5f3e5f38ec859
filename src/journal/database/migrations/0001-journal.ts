/** All tables of the first release, with their constraints and indexes. */
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { identityHere, isPostgres, nowMs } from '../dialects';
import { sequence, tables } from '../schema';

const ofReference = 'foreign key (workflow, reference) references reference (workflow, reference)';
const constraints: Partial<Record<string, readonly string[]>> = {
  reference: ['primary key (workflow, reference)'],
  effect: [ofReference],
  server: ['primary key (vm_object_id, workflow, reference)'],
  ending: ['primary key (workflow, reference, run)', ofReference],
  turn: ['unique (workflow, reference)'],
  approval: [ofReference],
};

const indexes = [
  // Contains open references only, and no column that changes while they are open: a few hundred entries among millions
  // of rows.
  'index open_reference on reference (workflow, reference) where is_open is not null',
  // For a sweep, which goes through the youngest references. The time when one was first seen never changes.
  'index reference_by_age on reference (first_seen_ms, workflow, reference)',
  // The promise of this service as one constraint: a second order, change order or switch cannot be written down, so
  // none is sent.
  `unique index at_most_one_pivot on effect (workflow, reference)
    where kind = 'pivot' and (outcome is null or outcome in ('done', 'unknown'))`,
  // Two calls that find no row of their step at the same moment: one is written.
  'unique index one_first_call on effect (workflow, reference, step) where is_first is not null',
  // For questions over all references: by age, and by what became of it, where few are of that kind.
  "index pivot_by_age on effect (intended_ms, id) where kind = 'pivot'",
  `index pivot_by_fate on effect ((case when cancelled_ms is not null then 'cancelled'
    when outcome = 'done' or late is not null then 'placed' when outcome is null or outcome = 'unknown' then 'unknown'
    else 'not-placed' end), intended_ms, id) where kind = 'pivot'`,
  'index effect_by_step on effect (workflow, reference, step, seq)',
  // For changes of a server by all references.
  'index effect_by_server on effect (vm_object_id, seq) where vm_object_id is not null',
  // For ids that the provider has given again.
  'index effect_by_item on effect (cart_item_id, seq) where cart_item_id is not null',
  'index purchase_by_what on purchase (same, intended_ms)',
  'index purchase_by_account on purchase (account, intended_ms, effect)',
  // A server is of one order, whoever names its id.
  `unique index one_order_of_a_server on server (vm_object_id)
    where workflow = 'provisionServers' and vm_object_id <> 0 and left_ms is null`,
  'index server_by_reference on server (workflow, reference)',
  'index server_open on server (open_since_ms) where open_since_ms is not null and closed_ms is null',
  // For a sweep: a saga that found everything as it should be has no call that says what it wanted.
  'index ending_by_resource on ending (resource, ended_ms) where resource is not null',
  'index turn_by_resource on turn (resource, seq)',
  // One saga at a time for a server and for a subscription.
  'unique index one_turn_at_a_time on turn (resource) where begun_ms is not null',
  'index correction_by_reference on correction (workflow, reference, seq)',
  'index wait_by_reference on wait (workflow, reference, seq)',
  'index deed_by_reference on deed (workflow, reference, seq)',
  'index approval_by_reference on approval (workflow, reference, seq)',
  'index approval_use_by_effect on approval_use (effect)',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  const numbered = isPostgres(db)
    ? 'bigint generated always as identity primary key'
    : 'integer primary key autoincrement';
  for (const [table, columns] of Object.entries(tables)) {
    const lines = Object.entries<string>(columns).map(([name, definition]) => {
      return `${name} ${definition === sequence ? numbered : definition}`;
    });
    await sql.raw(`create table ${table} (${[...lines, ...(constraints[table] ?? [])].join(', ')})`).execute(db);
  }
  for (const index of indexes) await sql.raw(`create ${index}`).execute(db);
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
