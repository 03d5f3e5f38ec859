/** The rows of a saga in the journal: how they are found, locked and written. */
import {
  type InsertObject,
  type Kysely,
  type RawBuilder,
  type Selectable,
  sql,
  type Transaction,
  type UpdateObject,
} from 'kysely';
import type { About, EffectCall, JournalCursor } from '../domain/effects';
import type { WorkflowName } from '../domain/identity';
import { identityHere, nowMs } from './database/dialects';
import { type JournalTables, tables } from './database/schema';

export interface SagaKey {
  workflow: WorkflowName;
  reference: string;
}

export type Effect = Selectable<JournalTables['effect']>;
export type EndingRow = Selectable<JournalTables['ending']>;
export type CorrectionRow = Selectable<JournalTables['correction']>;
/** A reference's request, and its corrections, in order: all of them sealed. */
export interface Requested {
  taken: Pick<Reference, 'request'> | undefined;
  corrections: readonly Pick<CorrectionRow, 'correction'>[];
}
export type Reference = Selectable<JournalTables['reference']>;

export interface JournalRow extends Selectable<JournalTables['journal']> {
  /** As `identity`, but of the database that answers now; null where it does not say. */
  here: string | null;
  /** The place of the youngest row of a call, and its id. */
  top: number | null;
  young: string | null;
  /** The database's clock, in milliseconds since 1970: a number that stands still. */
  now: number;
}

/** The journal, as far as rules go by it. */
export type Moment = Pick<JournalRow, 'epoch' | 'raised_ms' | 'now'>;

export type Columns<Table extends keyof JournalTables> = UpdateObject<JournalTables, Table>;
export type Db = Kysely<JournalTables>;
export type Tx = Transaction<JournalTables>;

/** A condition: the rows of a saga, in any table that has its key. */
export function ofSaga({ workflow, reference }: SagaKey): RawBuilder<boolean> {
  return sql<boolean>`(workflow = ${workflow} and reference = ${reference})`;
}

/** A condition: of a pivot, that it was placed, or may have been. */
export const mayHaveTakenEffect = sql<boolean>`(outcome is null or outcome in ('done', 'unknown'))`;

/** Nobody knows yet what came of the call. */
export const isUnanswered = (outcome: Effect['outcome']) => outcome === null || outcome === 'unknown';
/** As {@link mayHaveTakenEffect}. */
export const mayHaveHappened = (outcome: Effect['outcome']) => isUnanswered(outcome) || outcome === 'done';

/** A call of a repeatable step with an unknown outcome. */
export function isDoubtful({ kind, outcome }: Pick<Effect, 'kind' | 'outcome'>): boolean {
  return kind === 'mutate' && isUnanswered(outcome);
}

export const isSameSaga = (one: SagaKey, other: SagaKey) =>
  one.workflow === other.workflow && one.reference === other.reference;

/** When a call that is done was answered, or a person said so. */
export const doneAt = ({ answered_ms, decided_ms, intended_ms }: Effect) =>
  iso(answered_ms ?? decided_ms ?? intended_ms);

/** Milliseconds since 1970, by the database's clock: a number that stands still. */
export async function timeNow(db: Db): Promise<number> {
  return (await db.selectNoFrom(nowMs(db).as('now')).executeTakeFirstOrThrow()).now;
}

/** @param rows those of a table, or what is behind "from" */
export async function countOf(db: Db, rows: RawBuilder<unknown>): Promise<number> {
  const counted = await sql<{ count: number }>`select count(*) as count from ${rows}`.execute(db);
  return counted.rows[0]?.count ?? 0;
}

export const effects = (db: Db) => db.selectFrom('effect').selectAll();

/** The pivot that was placed, or may have been. */
export const pivotIn = <Row extends Pick<Effect, 'kind' | 'outcome'>>(rows: readonly Row[]) =>
  rows.find(({ kind, outcome }) => kind === 'pivot' && mayHaveHappened(outcome));

export function livePivot(db: Db, key: SagaKey): Promise<Effect | undefined> {
  return effects(db).where(ofSaga(key)).where('kind', '=', 'pivot').where(mayHaveTakenEffect).executeTakeFirst();
}

/** All rows of the saga, the oldest first. */
export function effectsOf(db: Db, key: SagaKey): Promise<Effect[]> {
  return effects(db).where(ofSaga(key)).orderBy('seq').execute();
}

export function effectOf(db: Db, id: string): Promise<Effect | undefined> {
  return effects(db).where('id', '=', id).executeTakeFirst();
}

export async function updateEffect(tx: Tx, id: string, columns: Columns<'effect'>): Promise<void> {
  await tx.updateTable('effect').set(columns).where('id', '=', id).execute();
}

/** People's corrections of the request, in order. */
export function correctionsOf(db: Db, key: SagaKey): Promise<CorrectionRow[]> {
  return db.selectFrom('correction').selectAll().where(ofSaga(key)).orderBy('seq').execute();
}

/**
 * What the journal has of a saga, whose reference is locked.
 *
 * A row of the future was intended while the database's clock was ahead. While it has no answer, it counts as intended now,
 * when it is first seen: the wait is never longer than the time in flight. Others keep their time, by which they stand
 * before or after what else was written then.
 *
 * @returns its rows, the oldest first
 */
export async function look(tx: Tx, key: SagaKey): Promise<{ journal: JournalRow; rows: Effect[] }> {
  const journal = await theJournal(tx);
  const { now } = journal;
  const rows = await effectsOf(tx, key);
  for (const row of rows.filter(({ outcome, intended_ms }) => isUnanswered(outcome) && intended_ms > now)) {
    row.intended_ms = now;
    await updateEffect(tx, row.id, { intended_ms: now });
  }
  if (journal.raised_ms > now) {
    journal.raised_ms = now;
    await tx.updateTable('journal').set({ raised_ms: now }).execute();
  }
  return { journal, rows };
}

/** Milliseconds until no worker can still be sending it, counted from when it was intended or the journal was restored. */
export function leftInFlight(
  { intended_ms, in_flight_ms }: Pick<Effect, 'intended_ms' | 'in_flight_ms'>,
  { raised_ms, now }: Moment,
): number {
  return Math.max(0, Math.min(now, Math.max(intended_ms, raised_ms)) + in_flight_ms - now);
}

/** Milliseconds until no call of a saga can still be sent or take effect. */
export async function inFlightOf(tx: Tx, key: SagaKey): Promise<number> {
  const { journal, rows } = await look(tx, key);
  return Math.max(0, ...rows.filter(({ outcome }) => isUnanswered(outcome)).map((row) => leftInFlight(row, journal)));
}

/** Now; but each time is another one, so that who has looked at it sees that it was used since. */
export const touched = (tx: Db) =>
  sql<number>`case when touched_ms < ${nowMs(tx)} then ${nowMs(tx)} else touched_ms + 1 end`;

/** @returns undefined where the reference is not known */
export function lock(tx: Tx, key: SagaKey): Promise<Reference | undefined> {
  const locking = tx.updateTable('reference').set({ touched_ms: touched(tx) });
  return locking.where(ofSaga(key)).returningAll().executeTakeFirst();
}

export async function theJournal(tx: Db): Promise<JournalRow> {
  const { rows } = await sql<JournalRow>`
    select journal.*, ${identityHere(tx)} as here, ${nowMs(tx)} as now, (select max(seq) from effect) as top,
      (select id from effect where seq = (select max(seq) from effect)) as young from journal`.execute(tx);
  return (rows as [JournalRow])[0];
}

export function referenceOf(db: Db, key: SagaKey): Promise<Reference | undefined> {
  return db.selectFrom('reference').selectAll().where(ofSaga(key)).executeTakeFirst();
}

/** Changes nothing where it is there. */
export async function insertReference(tx: Tx, key: SagaKey, run: string, epoch: number): Promise<Reference> {
  const now = nowMs(tx);
  const times = { first_seen_ms: now, touched_ms: now };
  const row = { ...key, ...times, account: null, request: null, first_run: run, runs: ` ${run} `, epoch };
  // One that is not there locks out nobody: another call of it may be written at the same moment.
  const inserted = tx.insertInto('reference').values(row);
  await inserted.onConflict((conflict) => conflict.columns(['workflow', 'reference']).doNothing()).execute();
  return tx.selectFrom('reference').selectAll().where(ofSaga(key)).executeTakeFirstOrThrow();
}

/** A call, as it is written into a row. */
export interface WrittenCall {
  call: EffectCall;
  run: string;
  inFlightMs: number;
  /** Sealed. */
  note?: string | null;
  /** Digests of the secrets that are sent by their names. */
  sent?: SentDigests | undefined;
}

/** A call that was intended, as the worker that made it knows it. */
export interface IntendedCall extends Pick<WrittenCall, 'call' | 'run' | 'inFlightMs'> {
  cursor: JournalCursor & { row: string };
}

/** By the secret's name. */
export type SentDigests = Record<string, readonly string[]>;

/**
 * Writes a call's row. PostgreSQL has to be told the type of each value that a select gives.
 *
 * @param from the rest of the select: where it finds nothing, nothing is written
 */
export async function insertWhere(
  db: Db,
  { workflow, reference }: SagaKey,
  { call: { about, ...call }, run, inFlightMs, note = null, sent }: WrittenCall,
  row: Pick<Effect, 'id' | 'epoch'> & Partial<Pick<Effect, 'outcome' | 'failure' | 'is_first'>>,
  from = sql`where true`,
): Promise<Effect | undefined> {
  const columns = {
    ...{ workflow, reference, ...call, ...row, run, note },
    about: JSON.stringify(about),
    sent: sent === undefined ? null : JSON.stringify(sent),
    cart_item_id: about.cartItemId ?? null,
    vm_object_id: about.vmObjectId ?? null,
    intended_ms: nowMs(db),
    in_flight_ms: inFlightMs,
  } satisfies InsertObject<JournalTables, 'effect'>;
  const typed = Object.entries(columns).map(([name, value]) => {
    const [type = ''] = /^[a-z]+/.exec(tables.effect[name as keyof typeof columns]) ?? [];
    return sql`cast(${value} as ${sql.raw(type)})`;
  });
  const names = Object.keys(columns).map((name) => sql.ref(name));
  const { rows } = await sql<Effect>`
    insert into effect (${sql.join(names)}) select ${sql.join(typed)} ${from} returning *`.execute(db);
  return rows[0];
}

export async function insertEffect(...written: Parameters<typeof insertWhere>): Promise<Effect> {
  const row = await insertWhere(...written);
  if (row === undefined) throw new Error('a row was not written');
  return row;
}

/** Without what a row does not have: it is null there, and absent in what is told of it. */
export function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const there = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(there) as { [K in keyof T]?: NonNullable<T[K]> };
}

export function aboutOf({ about }: Pick<Effect, 'about'>): About {
  return JSON.parse(about) as About;
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
