/**
 * All tables of the first release. What {@link JournalTables} means by each column: ../schema.ts.
 */
import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { identityHere, isPostgres, nowMs } from '../dialects';

/** What the two databases call alike things. */
const ofPostgres = {
  integer: sql`bigint`,
  number: sql`double precision`,
  sequence: sql`bigint generated always as identity primary key`,
};
const ofSqlite = { integer: sql`integer`, number: sql`real`, sequence: sql`integer primary key autoincrement` };

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

type Types = typeof ofPostgres;

async function makeJournal(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await sql`
    create table journal (
      id text primary key,
      epoch ${integer} not null,
      raised_ms ${integer} not null,
      restored_ms ${integer},
      doubts_new integer not null,
      identity text,
      namespace text)`.execute(db);
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
  await sql`
    create table reference (
      workflow text not null, reference text not null,
      account text,
      request text,
      first_seen_ms ${integer} not null,
      first_run text not null,
      epoch ${integer} not null,
      touched_ms ${integer} not null,
      is_open integer,
      runs text,
      begun integer not null default 0,
      owner text,
      primary key (workflow, reference))`.execute(db);
  // Contains open references only, and no column that changes while they are open: a few hundred entries among millions
  // of rows.
  await sql`create index open_reference on reference (workflow, reference) where is_open is not null`.execute(db);
  // For a sweep, which goes through the youngest references. The time when one was first seen never changes.
  await sql`create index reference_by_age on reference (first_seen_ms, workflow, reference)`.execute(db);
}

async function makeEffect(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await sql`
    create table effect (
      seq ${sequence},
      id text not null unique,
      workflow text not null, reference text not null,
      step text not null,
      kind text not null check (kind in ('mutate', 'compensate', 'pivot')),
      activity text not null,
      run text not null,
      about text not null,
      note text,
      sent text,
      cart_item_id ${integer},
      vm_object_id ${integer},
      epoch ${integer} not null,
      meant_ms ${integer} not null,
      in_flight_ms ${integer} not null,
      outcome text check (outcome in ('done', 'not-done', 'unknown', 'undone', 'denied')),
      answered_ms ${integer},
      failure text,
      answer text,
      undone_by text,
      decided_ms ${integer},
      decided text,
      late text,
      cancelled_ms ${integer},
      cancelled text,
      is_first integer,
      foreign key (workflow, reference) references reference (workflow, reference))`.execute(db);
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
    when outcome = 'done' or late is not null then 'placed' when outcome is null or outcome = 'unknown' then 'unknown'
    else 'not-placed' end), meant_ms, id) where kind = 'pivot'`.execute(db);
  await sql`create index effect_by_step on effect (workflow, reference, step, seq)`.execute(db);
  // For changes of a server by all references.
  await sql`create index effect_by_server on effect (vm_object_id, seq) where vm_object_id is not null`.execute(db);
  // For ids that the provider has given again.
  await sql`create index effect_by_item on effect (cart_item_id, seq) where cart_item_id is not null`.execute(db);
}

async function makePurchase(db: Kysely<unknown>, { integer, number }: Types): Promise<void> {
  await sql`
    create table purchase (
      effect text primary key references effect (id),
      account text,
      same text not null,
      servers ${number},
      items ${number},
      total ${number},
      currency text,
      estimate ${number},
      estimated_in text,
      meant_ms ${integer} not null)`.execute(db);
  await sql`create index purchase_by_what on purchase (same, meant_ms)`.execute(db);
  await sql`create index purchase_by_account on purchase (account, meant_ms, effect)`.execute(db);
}

async function makeServer(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await sql`
    create table server (
      vm_object_id ${integer} not null,
      workflow text not null, reference text not null,
      seen_ms ${integer} not null,
      firewalls text not null,
      open_since_ms ${integer},
      closed_ms ${integer},
      closed text,
      primary key (vm_object_id, workflow, reference))`.execute(db);
  await sql`create index server_by_reference on server (workflow, reference)`.execute(db);
  await sql`create index server_open on server (open_since_ms)
    where open_since_ms is not null and closed_ms is null`.execute(db);
}

async function makeEnding(db: Kysely<unknown>, { integer }: Types): Promise<void> {
  await sql`
    create table ending (
      workflow text not null, reference text not null,
      run text not null,
      ended_by text not null,
      ended_ms ${integer} not null,
      outcome text not null,
      report text not null,
      resource text,
      word text,
      primary key (workflow, reference, run),
      foreign key (workflow, reference) references reference (workflow, reference))`.execute(db);
  // For a sweep: a saga that found everything as it should be has no call that says what it wanted.
  await sql`create index ending_by_resource on ending (resource, ended_ms) where resource is not null`.execute(db);
}

async function makeTurn(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await sql`
    create table turn (
      seq ${sequence},
      id text not null unique,
      resource text not null,
      workflow text not null, reference text not null,
      since_ms ${integer} not null,
      begun_ms ${integer},
      ended_ms ${integer},
      unique (workflow, reference))`.execute(db);
  await sql`create index turn_by_resource on turn (resource, seq)`.execute(db);
  // One saga at a time for a server and for a subscription.
  await sql`create unique index one_turn_at_a_time on turn (resource) where begun_ms is not null`.execute(db);
}

async function makeCorrection(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await sql`
    create table correction (
      seq ${sequence},
      id text not null unique,
      workflow text not null, reference text not null,
      run text not null,
      step text not null,
      at_ms ${integer} not null,
      correction text not null)`.execute(db);
  await sql`create index correction_by_reference on correction (workflow, reference, seq)`.execute(db);
}

async function makeConfirmation(db: Kysely<unknown>, { integer, sequence }: Types): Promise<void> {
  await sql`
    create table confirmation (
      seq ${sequence},
      at_ms ${integer} not null,
      what text not null,
      said text not null,
      details text not null)`.execute(db);
}
