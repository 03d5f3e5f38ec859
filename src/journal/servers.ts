/**
 * Servers that orders have brought: which order, since when they are known, and which of them lack firewalls that were
 * asked for, as far as is known. A row stays: who closed it, and why, stands in it.
 *
 * ```text
 *   placed ──ids unknown──▶ one row of id 0, open
 *      │                        │ the ids become known
 *      └──ids known──▶ a row for each, open ──assigned · set by another saga · a person says so──▶ closed
 *                                   ▲                                          │
 *                                   └── an ending says that it lacks some ─────┘ unless a person has closed it
 * ```
 */
import { type RawBuilder, sql } from 'kysely';
import type { About, EffectCall, PivotNote } from '../domain/effects';
import { accountName, type WorkflowName } from '../domain/identity';
import type { Leftover } from '../domain/outcomes';
import type { OfOther } from '../domain/servers';
import type { Report } from '../domain/results';
import { nowMs, statementBegunMs } from './database/dialects';
import {
  aboutOf,
  type Columns,
  countOf,
  type Db,
  type Effect,
  iso,
  livePivot,
  mayHaveTakenEffect,
  ofSaga,
  type Reference,
  type SagaKey,
  type Tx,
} from './rows';
import { isUniqueViolation } from './database/errors';
import type { JournalTables, PurchaseTable, WantedFirewalls } from './database/schema';
import type { Store, Verdict } from './store';

export type ServerRow = JournalTables['server'];

/** Stands for all servers of an order whose ids nobody knows. */
export const unnamed = 0;

/** A condition: the server lacks firewalls, as far as is known. */
const isOpen = sql<boolean>`(open_since_ms is not null and closed_ms is null)`;
export const lacksSome = (row: ServerRow) => row.open_since_ms !== null && row.closed_ms === null;

/**
 * An order was placed.
 *
 * @param ids of its servers, as far as they are known
 * @param isSecond another one stands: nobody knows its servers by these
 */
export async function notePlaced(
  tx: Tx,
  key: SagaKey,
  { firewalls = [], vmObjectIds }: About,
  ids: unknown,
  { isSecond = false } = {},
): Promise<void> {
  if (key.workflow !== 'provisionServers') return;
  const named = Array.isArray(ids) && ids.length > 0 ? (ids as number[]) : vmObjectIds;
  if (named === undefined) {
    if (!(await isThere(tx, ofSaga(key)))) await bringUnnamed(tx, key, firewalls);
  } else if (named.length > 0 && isSecond) await bring(tx, key, named, firewalls);
  else if (named.length > 0) {
    await name(tx, key, named, firewalls);
    const ofAnother = sql`vm_object_id in (${sql.join(named)}) and ${isOfOther(key)}`;
    const isMore = named.length < ((await serversBrought(tx, key)) ?? 0);
    if (isMore || (await isThere(tx, ofAnother))) await bringUnnamed(tx, key, firewalls);
  }
}

/** At most, by the rules of then. */
export async function serversBrought(tx: Tx, key: SagaKey): Promise<number | null | undefined> {
  const { rows } = await sql<Pick<PurchaseTable, 'servers'>>`
    select servers from purchase join effect on effect.id = purchase.effect
      where ${ofSaga(key)} and ${mayHaveTakenEffect}`.execute(tx);
  return rows[0]?.servers;
}

const isThere = async (db: Db, which: RawBuilder<unknown>) =>
  (await idsFrom(db, sql`server where ${which} limit 1`)).length > 0;

/** A condition: another order has the server. The index `one_order_of_a_server` has the same words. */
const isOfOther = ({ reference }: SagaKey) =>
  sql<boolean>`(workflow = 'provisionServers' and vm_object_id <> 0 and left_ms is null and reference <> ${reference})`;

/** A condition: no person has said that it is not the order's. */
export const isOfOrder = sql<boolean>`(left_ms is null or corrected is null)`;

/** Those whose order the provider has cancelled are free. */
export async function ofOthers(db: Db, key: SagaKey, ids: readonly number[]): Promise<OfOther[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Pick<ServerRow, 'vm_object_id' | 'reference'>>`
    select vm_object_id, reference from server where vm_object_id in (${sql.join(ids)})
      and (${isOfOther(key)} or (${ofSaga(key)} and not ${isOfOrder})) order by vm_object_id`.execute(db);
  return rows.map(({ vm_object_id: vmObjectId, reference }) => {
    return { vmObjectId, ...(reference === key.reference ? {} : { reference }) };
  });
}

/**
 * Those that another saga changed before the order was intended, or that the directory listed before that, unless a
 * person has said that they are the order's. A server of an order that was cancelled since is free.
 */
async function olderThan(journal: Store, db: Db, key: SagaKey, ids: readonly number[]): Promise<number[]> {
  const pivot = await livePivot(db, key);
  if (pivot === undefined || ids.length === 0) return [];
  const changed = await idsFrom(
    db,
    sql`effect where vm_object_id in (${sql.join(ids)}) and intended_ms < ${pivot.intended_ms}
      and coalesce(outcome, '') <> 'not-done' and not ${ofSaga(key)} and not ${hasLeft(sql`and corrected is null`)}`,
  );
  const { listedBefore = [] }: Partial<PivotNote> = (await journal.noteOf(pivot.note)) ?? {};
  const older = ids.filter((id) => listedBefore.includes(id) || changed.includes(id));
  if (older.length === 0) return [];
  const own = await idsFrom(db, sql`server where ${ofSaga(key)} and corrected is not null and left_ms is null`);
  return older.filter((id) => !own.includes(id));
}

/** A condition for a row of `effect`: its saga had its server as one of an order, and has it no more. */
const hasLeft = (why = sql``) => sql`exists (select 1 from server where server.workflow = effect.workflow
  and server.reference = effect.reference and server.vm_object_id = effect.vm_object_id and left_ms is not null ${why})`;

/** @param from the rest of a query for them */
async function idsFrom(db: Db, from: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<Pick<ServerRow, 'vm_object_id'>>`select vm_object_id from ${from}`.execute(db);
  return rows.map(({ vm_object_id: id }) => id);
}

/**
 * The one way by which ids become those of an order's servers, whoever names them: these are all that it has then. An
 * index lets no two orders have the same one, so one that loses against another order at the same moment fails there.
 * Only a person who corrects the ids of an order may name a server that is older than it.
 *
 * @returns those that are none of its servers; then it gets none, and loses those that are older
 */
export async function claim(
  journal: Store,
  tx: Tx,
  key: SagaKey,
  ids: readonly number[],
  firewalls: readonly number[],
): Promise<OfOther[]> {
  const others = await ofOthers(tx, key, ids);
  const rest = ids.filter((id) => !others.some(({ vmObjectId }) => vmObjectId === id));
  const older = await olderThan(journal, tx, key, rest);
  others.push(...older.map((vmObjectId): OfOther => ({ vmObjectId, isOlder: true })));
  const wrongs = tx.deleteFrom('server').where(ofSaga(key)).where('closed', 'is', null);
  const lost = older.length > 0 ? await wrongs.where('vm_object_id', 'in', older).executeTakeFirst() : undefined;
  if (lost && lost.numDeletedRows > 0 && !(await isThere(tx, sql`${ofSaga(key)} and left_ms is null`))) {
    await bringUnnamed(tx, key, firewalls);
  }
  if (others.length > 0 || ids.length === 0) return others;
  await name(tx, key, ids, firewalls, { onConflict: sql`(vm_object_id, workflow, reference) do nothing` });
  await sql`delete from server where ${ofSaga(key)} and vm_object_id not in (${sql.join(ids)})
    and closed is null and corrected is null and not ${hasLate(key)}`.execute(tx);
  return [];
}

/** The ids of an order's servers are known by now. A second call changes nothing, and neither do ids of another order. */
export async function name(
  tx: Tx,
  key: SagaKey,
  ids: readonly number[],
  firewalls: readonly number[],
  how: Bringing = {},
): Promise<void> {
  if (ids.length === 0) return;
  await bring(tx, key, ids, firewalls, how);
  await dropUnnamed(tx, key);
}

async function dropUnnamed(tx: Tx, key: SagaKey): Promise<void> {
  await sql`delete from server
    where ${ofSaga(key)} and vm_object_id = ${unnamed} and closed_ms is null`.execute(tx);
}

/** A row for all servers of the order that nobody knows, where it is to have firewalls. */
export async function bringUnnamed(
  tx: Tx,
  key: SagaKey,
  firewalls: readonly number[],
  how: Bringing = {},
): Promise<void> {
  if (firewalls.length > 0) await bring(tx, key, [unnamed], firewalls, how);
}

interface Bringing {
  /** What is done with a server that is there. */
  onConflict?: RawBuilder<unknown>;
  /** Sealed. */
  corrected?: string;
}

async function bring(
  tx: Tx,
  { workflow, reference }: SagaKey,
  ids: readonly number[],
  firewalls: readonly number[],
  { onConflict = sql`do nothing`, corrected }: Bringing = {},
): Promise<void> {
  const seen_ms = nowMs(tx);
  const lacking = { firewalls: JSON.stringify(firewalls), open_since_ms: firewalls.length > 0 ? seen_ms : null };
  const rows = ids.map((id) => ({ vm_object_id: id, workflow, reference, seen_ms, ...lacking, corrected }));
  await tx
    .insertInto('server')
    .values(rows)
    .modifyEnd(sql`on conflict ${onConflict}`)
    .execute();
}

/** The ids of a `Placement`: from the provider's answer, a person, or a search. */
export function idsIn(answer: unknown): unknown {
  const placement = answer as { vmObjectIds?: unknown; value?: { vmObjectIds?: unknown } } | undefined;
  return placement?.vmObjectIds ?? placement?.value?.vmObjectIds;
}

/**
 * Firewalls of a server that was ordered are about to be assigned, or a person has assigned them.
 *
 * @returns the order that has it, where another one does; then nothing is written
 */
export async function noteIntended(
  tx: Tx,
  key: SagaKey,
  call: Pick<EffectCall, 'activity' | 'about'>,
): Promise<OfOther | undefined> {
  const { vmObjectId, firewalls = [] } = call.about;
  if (!isProtecting(key, call) || vmObjectId === undefined) return undefined;
  await bring(tx, key, [vmObjectId], firewalls);
  const open_since_ms = sql<number>`coalesce(open_since_ms, ${nowMs(tx)})`;
  const noted = update(tx, key, vmObjectId, { firewalls: JSON.stringify(firewalls), open_since_ms });
  const { numUpdatedRows } = await noted.where('left_ms', 'is', null).executeTakeFirst();
  if (numUpdatedRows === 0n) return (await ofOthers(tx, key, [vmObjectId]))[0];
  await dropUnnamed(tx, key);
  return undefined;
}

/** They are assigned. An answer about others, which a correction has replaced since, says nothing of these. */
export async function noteAssigned(db: Db, key: SagaKey, call: Pick<EffectCall, 'activity' | 'about'>): Promise<void> {
  const { vmObjectId, firewalls = [] } = call.about;
  if (!isProtecting(key, call) || vmObjectId === undefined) return;
  const closed = update(db, key, vmObjectId, { closed_ms: nowMs(db) }).where('closed_ms', 'is', null);
  await closed.where('firewalls', '=', JSON.stringify(firewalls)).execute();
}

/**
 * These servers are not the order's any more: they lack nothing, and their ids are free.
 *
 * @param which all of them where the provider has cancelled the order
 * @param corrected sealed: the person who has taken them from it
 */
export async function release(tx: Tx, key: SagaKey, which = sql<boolean>`true`, corrected?: string): Promise<void> {
  const closed_ms = sql<number>`coalesce(closed_ms, ${nowMs(tx)})`;
  const released = tx.updateTable('server').set({ closed_ms, left_ms: nowMs(tx), corrected });
  await released.where(ofSaga(key)).where('left_ms', 'is', null).where(which).execute();
}

function update(db: Db, key: SagaKey, vmObjectId: number, columns: Columns<'server'>) {
  return db.updateTable('server').set(columns).where(ofSaga(key)).where('vm_object_id', '=', vmObjectId);
}

/** Firewalls that a bought server is to have are assigned. */
export function isProtecting({ workflow }: SagaKey, { activity }: Pick<EffectCall, 'activity'>): boolean {
  return workflow === 'provisionServers' && activity === 'assignFirewalls';
}

/**
 * A saga has ended whose order stands: the servers that lack firewalls by its report are open, all others are closed. It
 * changes nothing that a person has closed, and none of a second order that a late answer has shown.
 */
export async function noteEnded(
  tx: Tx,
  key: SagaKey,
  outcome: string,
  { leftovers = [], known }: Partial<Pick<Report, 'leftovers' | 'known'>>,
): Promise<void> {
  if (key.workflow !== 'provisionServers') return;
  // A server may be named twice.
  const lacking = new Map<number, number[]>();
  for (const left of leftovers) {
    if (left.kind !== 'server-unprotected') continue;
    const { vmObjectId = unnamed, firewalls } = left;
    lacking.set(vmObjectId, [...new Set([...(lacking.get(vmObjectId) ?? []), ...firewalls])]);
  }
  const opens = sql`(vm_object_id, workflow, reference) do update set firewalls = excluded.firewalls, closed_ms = null, open_since_ms = case when server.closed_ms is null
    then coalesce(server.open_since_ms, ${nowMs(tx)}) else ${nowMs(tx)} end where server.closed is null and server.left_ms is null`;
  const others = await ofOthers(tx, key, [...lacking.keys()]);
  for (const [id, firewalls] of lacking) {
    if (others.every(({ vmObjectId }) => vmObjectId !== id))
      await bring(tx, key, [id], firewalls, { onConflict: opens });
  }
  if (outcome !== 'done' && outcome !== 'partly') return;
  const own = [unnamed, ...((known?.['vmObjectIds'] ?? []) as number[])];
  const isLacking = lacking.size > 0 ? sql`vm_object_id in (${sql.join([...lacking.keys()])})` : sql`false`;
  await sql`update server set closed_ms = ${nowMs(tx)} where ${ofSaga(key)} and closed_ms is null
    and (not ${hasLate(key)} or vm_object_id in (${sql.join(own)})) and not (${isLacking})`.execute(tx);
}

const hasLate = (key: SagaKey) =>
  sql<boolean>`exists (select 1 from effect where ${ofSaga(key)} and kind = 'pivot' and late is not null)`;

/**
 * A change of firewalls is done: no server lacks any longer what it names, whatever an order had asked for.
 *
 * @param resource the server, as a turn names it
 * @param leftovers what it has not come to
 */
export async function noteWanted(
  tx: Tx,
  resource: string,
  wanted: WantedFirewalls,
  leftovers: readonly Leftover[],
): Promise<void> {
  const vmObjectId = Number(/^server (\d+)$/.exec(resource)?.[1] ?? unnamed);
  const missed = leftovers.flatMap((left) => (left.kind === 'firewalls' ? left.firewalls : []));
  const named = (id: number) =>
    ('exactly' in wanted || wanted.assign.includes(id) || wanted.unassign.includes(id)) && !missed.includes(id);
  const rows = tx.selectFrom('server').selectAll().where('vm_object_id', '=', vmObjectId).where(isOpen);
  for (const { firewalls, ...row } of await rows.execute()) {
    const lacks = (JSON.parse(firewalls) as number[]).filter((id) => !named(id));
    const columns = lacks.length > 0 ? { firewalls: JSON.stringify(lacks) } : { closed_ms: nowMs(tx) };
    await update(tx, row, vmObjectId, columns).execute();
  }
}

/** An order has brought the server within so many milliseconds. */
export function isNewServer(journal: Store, vmObjectId: number, withinMs: number): Promise<boolean> {
  const since = sql`${statementBegunMs(journal.db)} - ${withinMs}`;
  return journal.read((db) => isThere(db, sql`vm_object_id = ${vmObjectId} and seen_ms > ${since}`));
}

/** The provider has cancelled each order that has brought the server. */
export async function isCancelled(journal: Store, vmObjectId: number): Promise<boolean> {
  const rows = await journal.rows(sql<Pick<Effect, 'cancelled_ms'>>`
    select cancelled_ms from server join effect using (workflow, reference)
      where server.vm_object_id = ${vmObjectId} and ${isOfOrder} and kind = 'pivot' and outcome = 'done'`);
  return rows.length > 0 && rows.every(({ cancelled_ms: ms }) => ms !== null);
}

/**
 * Servers in a directory's list that are none of an order: those that another reference has, that one changed before the
 * order was intended, or that were listed before that. And rivals: orders that are as young, and whose servers are not
 * all known.
 *
 * @param listed by the directory
 * @param youngMs for so long the servers of an order may not be listed yet
 * @param account where the directory lists those of one account only
 * @throws JournalUnreadable
 */
export async function notItsServers(
  journal: Store,
  key: SagaKey,
  listed: readonly number[],
  { youngMs, account }: { youngMs: number; account: string | undefined },
): Promise<{ ids: number[]; rivals: SagaKey[] }> {
  return journal.inTransaction(async (tx) => {
    const intendedMs = (await livePivot(tx, key))?.intended_ms ?? 0;
    const ordered = await idsFrom(
      tx,
      sql`server where vm_object_id in (${sql.join([unnamed, ...listed])}) and ${isOfOrder} and not ${ofSaga(key)}`,
    );
    const older = await olderThan(journal, tx, key, listed);
    const { rows: rivals } = await sql<SagaKey>`
      select other.workflow, other.reference from reference as other
        join effect on effect.workflow = other.workflow and effect.reference = other.reference
        left join purchase on purchase.effect = effect.id
        where other.workflow = ${key.workflow} and other.reference <> ${key.reference}
          and other.touched_ms > ${intendedMs - youngMs} and effect.intended_ms > ${intendedMs - youngMs}
          and effect.kind = 'pivot' and ${mayHaveTakenEffect}
          ${account === undefined ? sql`` : sql`and coalesce(purchase.account, ${accountName(account)}) = ${accountName(account)}`}
          and (select count(*) from server where server.workflow = other.workflow
            and server.reference = other.reference and vm_object_id <> ${unnamed})
            < coalesce(purchase.servers, ${Number.MAX_SAFE_INTEGER})`.execute(tx);
    return { ids: [...ordered, ...older], rivals };
  });
}

/**
 * The ids of the servers of an order that was placed are learnt.
 *
 * @returns as {@link claim}
 */
export async function claimServers(journal: Store, key: SagaKey, ids: readonly number[]): Promise<OfOther[]> {
  const claiming = () =>
    journal.locked(key, async (tx) => {
      const pivot = await livePivot(tx, key);
      if (pivot?.cancelled_ms !== null) return ofOthers(tx, key, ids);
      return claim(journal, tx, key, ids, aboutOf(pivot).firewalls ?? []);
    });
  return claiming().catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    return claiming();
  });
}

/** All of these are its servers, as the journal has it, and none is older than the order. */
export function hasServers(journal: Store, key: SagaKey, ids: readonly number[]): Promise<boolean> {
  return journal.read(async (db) => {
    const own = await serversOf(db, key);
    return ids.every((id) => own.includes(id)) && (await olderThan(journal, db, key, ids)).length === 0;
  });
}

/** The ids of an order's servers, as far as they are known. */
export function serversOf(db: Db, key: SagaKey): Promise<number[]> {
  const named = sql`server where ${ofSaga(key)} and vm_object_id <> ${unnamed}`;
  return idsFrom(db, sql`${named} and ${isOfOrder} order by vm_object_id`);
}

/** Servers that sagas which have ended have worked on, or were to work on. */
const serversOfEnded = sql`
  select vm_object_id from effect join reference using (workflow, reference)
    where vm_object_id is not null and is_open is null
  union select vm_object_id from server join reference using (workflow, reference)
    where vm_object_id <> ${unnamed} and open_since_ms is not null and is_open is null`;

/** How many they are. */
export function countServers(journal: Store): Promise<number> {
  return journal.read((db) => countOf(db, sql`(${serversOfEnded}) as known`));
}

/** Those behind an id, then those up to it, each in the order of their ids. */
export function serversInTurn(journal: Store, { after, most }: { after: number; most: number }): Promise<number[]> {
  const isBefore = sql`case when vm_object_id > ${after} then 0 else 1 end`;
  const from = sql`(${serversOfEnded}) as known order by ${isBefore}, vm_object_id limit ${most}`;
  return journal.read((db) => idsFrom(db, from));
}

export interface SharedServer {
  vmObjectId: number;
  references: string[];
}

/**
 * Servers that several orders have: the rows of one may have been lost, and come again, after a restore. An order that has
 * assigned firewalls to a server has it, too.
 */
export async function sharedServers(journal: Store, limit: number): Promise<SharedServer[]> {
  const rows = await journal.rows(sql<{ vm_object_id: number; reference: string; other: string }>`
    select vm_object_id, min(reference) as reference, max(reference) as other from (
      select vm_object_id, reference from server
        where workflow = 'provisionServers' and vm_object_id <> ${unnamed} and left_ms is null
      union select vm_object_id, reference from effect where workflow = 'provisionServers' and kind = 'mutate'
        and activity = 'assignFirewalls' and vm_object_id is not null and ${mayHaveTakenEffect} and not ${hasLeft()}
    ) as known group by vm_object_id having count(*) > 1 order by vm_object_id limit ${limit}`);
  return rows.map(({ vm_object_id: vmObjectId, reference, other }) => ({ vmObjectId, references: [reference, other] }));
}

/** A server that lacks firewalls, as far as is known. */
export interface OpenServer {
  /** Absent where nobody knows the ids of the order's servers. */
  vmObjectId?: number;
  workflow: WorkflowName;
  reference: string;
  firewalls: number[];
  since: string;
  /** The state of the saga that ordered it, as the journal has it. */
  saga: 'open' | 'ended';
}

/** @param key those of this order */
export async function openServers(journal: Store, key?: SagaKey): Promise<OpenServer[]> {
  const rows = await journal.rows(sql<ServerRow & Pick<Reference, 'is_open'>>`
    select server.*, is_open from server join reference using (workflow, reference)
      where ${isOpen} ${key === undefined ? sql`` : sql`and ${ofSaga(key)}`} order by open_since_ms`);
  return rows.map(({ vm_object_id, workflow, reference, firewalls, open_since_ms, is_open }) => ({
    ...(vm_object_id === unnamed ? {} : { vmObjectId: vm_object_id }),
    ...{ workflow, reference, firewalls: JSON.parse(firewalls) as number[] },
    since: iso(open_since_ms ?? 0),
    saga: is_open === null ? 'ended' : 'open',
  }));
}

/**
 * A person says that a server needs nothing more, perhaps because it is gone; with a reference, those of the order that
 * are open, also where their ids are not known.
 *
 * @returns how many rows; they keep who said so. One that no order has brought gets a row of a saga that has changed it
 */
export async function closeServers(
  journal: Store,
  which: { vmObjectId: number } | { reference: string },
  verdict: Verdict,
): Promise<number> {
  const closed = await journal.sealing.seal(verdict);
  return journal.inTransaction(async (tx) => {
    const closing = tx.updateTable('server').set({ closed, closed_ms: nowMs(tx) });
    if ('reference' in which) {
      const those = closing.where('reference', '=', which.reference).where(isOpen);
      return Number((await those.executeTakeFirst()).numUpdatedRows);
    }
    const { vmObjectId } = which;
    await sql`insert into server (vm_object_id, workflow, reference, seen_ms, firewalls)
      select vm_object_id, workflow, reference, 0, '[]' from effect where vm_object_id = ${vmObjectId}
        and not exists (select 1 from server where vm_object_id = ${vmObjectId}) limit 1`.execute(tx);
    const those = closing.where('vm_object_id', '=', vmObjectId).where('closed', 'is', null);
    return Number((await those.executeTakeFirst()).numUpdatedRows);
  });
}

/** A person has closed it. */
export function isClosed(journal: Store, vmObjectId: number): Promise<boolean> {
  return journal.read((db) => isThere(db, sql`vm_object_id = ${vmObjectId} and closed is not null`));
}
