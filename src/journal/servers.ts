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
import type { Leftover } from '../domain/leftovers';
import type { OfOther } from '../domain/servers';
import type { Report } from '../domain/results';
import { make, nowMs, statementBegunMs, type Write } from './dialects';
import {
  aboutOf,
  type Columns,
  type Db,
  insertFrom,
  iso,
  livePivot,
  mayHaveTakenEffect,
  ofSaga,
  type Reference,
  type SagaKey,
  type Tx,
} from './rows';
import { isUniqueViolation } from './errors';
import type { JournalTables, WantedFirewalls } from './schema';
import type { Store, Verdict } from './store';

/** Stands for all servers of an order whose ids nobody knows. */
export const unnamed = 0;

/** A condition: the server lacks firewalls, as far as is known. */
const isOpen = sql<boolean>`(open_since_ms is not null and closed_ms is null)`;

/**
 * An order was placed.
 *
 * @param ids of its servers, as far as they are known
 * @param isSecond another one stands: nobody knows its servers by these
 */
export function placing(
  db: Db,
  key: SagaKey,
  { firewalls = [], vmObjectIds }: About,
  ids: unknown,
  { isSecond = false } = {},
): Write[] {
  if (key.workflow !== 'provisionServers') return [];
  const named = Array.isArray(ids) && ids.length > 0 ? (ids as number[]) : vmObjectIds;
  const bringUnnamed = (only: RawBuilder<unknown>) =>
    firewalls.length === 0 ? [] : [bringing(db, key, [unnamed], firewalls, { only })];
  if (named === undefined) return bringUnnamed(sql`not exists (select 1 from server where ${ofSaga(key)})`);
  const names = naming(db, key, named, firewalls);
  if (isSecond || named.length === 0) return names.slice(0, 1);
  const isOthers = sql<boolean>`exists (select 1 from server where vm_object_id in (${sql.join(named)}) and ${isOfOther(key)})`;
  return [...names, ...bringUnnamed(isOthers)];
}

/** A condition: another order has the server. The index `one_order_of_a_server` has the same words. */
const isOfOther = ({ reference }: SagaKey) =>
  sql<boolean>`(workflow = 'provisionServers' and vm_object_id <> 0 and left_ms is null and reference <> ${reference})`;

/** A condition: no person has said that it is not the order's. */
export const isOfOrder = sql<boolean>`(left_ms is null or corrected is null)`;

/** Those whose order the provider has cancelled are free. */
export async function ofOthers(db: Db, key: SagaKey, ids: readonly number[]): Promise<OfOther[]> {
  if (ids.length === 0) return [];
  const those = db
    .selectFrom('server')
    .select(['vm_object_id', 'reference'])
    .where('vm_object_id', 'in', [...ids]);
  const isNotOwn = sql<boolean>`(${ofSaga(key)} and not ${isOfOrder})`;
  const rows = await those
    .where((where) => where.or([isOfOther(key), isNotOwn]))
    .orderBy('vm_object_id')
    .execute();
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
  const isFree = sql<boolean>`exists (select 1 from server where server.workflow = effect.workflow
    and server.reference = effect.reference and server.vm_object_id = effect.vm_object_id
    and left_ms is not null and corrected is null)`;
  const calls = db
    .selectFrom('effect')
    .select('vm_object_id')
    .where('vm_object_id', 'in', [...ids]);
  const changed = await calls
    .where('intended_ms', '<', pivot.intended_ms)
    .where(sql<boolean>`coalesce(outcome, '') <> 'not-done' and not ${ofSaga(key)} and not ${isFree}`)
    .execute();
  const { listedBefore = [] }: Partial<PivotNote> = (await journal.noteOf(pivot.note)) ?? {};
  const has = (rows: { vm_object_id: number | null }[], id: number) => rows.some((row) => row.vm_object_id === id);
  const older = ids.filter((id) => listedBefore.includes(id) || has(changed, id));
  if (older.length === 0) return [];
  const said = db.selectFrom('server').select('vm_object_id').where('corrected', 'is not', null);
  const own = await said.where(ofSaga(key)).where('left_ms', 'is', null).execute();
  return older.filter((id) => !has(own, id));
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
  if (lost && lost.numDeletedRows > 0 && firewalls.length > 0) {
    const only = sql`not exists (select 1 from server where ${ofSaga(key)} and left_ms is null)`;
    await make(tx, [bringing(tx, key, [unnamed], firewalls, { only })]);
  }
  if (others.length > 0 || ids.length === 0) return others;
  await make(tx, naming(tx, key, ids, firewalls, { onConflict: sql`(vm_object_id, workflow, reference) do nothing` }));
  const wrong = tx
    .deleteFrom('server')
    .where(ofSaga(key))
    .where('vm_object_id', 'not in', [...ids]);
  const isSaid = sql<boolean>`(closed is not null or corrected is not null)`;
  await wrong.where((where) => where.not(where.or([isSaid, hasLate(key)]))).execute();
  return [];
}

/** The ids of an order's servers are known by now. A second call changes nothing, and neither do ids of another order. */
export function naming(
  db: Db,
  key: SagaKey,
  ids: readonly number[],
  firewalls: readonly number[],
  how: Bringing = {},
): Write[] {
  if (ids.length === 0) return [];
  const nameless = db.deleteFrom('server').where(ofSaga(key)).where('vm_object_id', '=', unnamed);
  const open = nameless.where('closed_ms', 'is', null);
  return [bringing(db, key, ids, firewalls, how), (where) => open.where(where)];
}

interface Bringing {
  only?: RawBuilder<unknown>;
  /** What is done with a server that is there. */
  onConflict?: RawBuilder<unknown>;
  /** Sealed. */
  corrected?: string;
}

export function bringing(
  db: Db,
  key: SagaKey,
  ids: readonly number[],
  firewalls: readonly number[],
  { only = sql`true`, onConflict = sql`do nothing`, corrected }: Bringing,
): Write {
  const { workflow, reference } = key;
  const row = {
    workflow,
    reference,
    seen_ms: nowMs(db),
    firewalls: JSON.stringify(firewalls),
    corrected: corrected ?? null,
  };
  const lacking = { vm_object_id: sql<number>`column1`, open_since_ms: firewalls.length > 0 ? nowMs(db) : null };
  const those = sql.join(ids.map((id) => sql`(cast(${id} as bigint))`));
  return (where) =>
    insertFrom(
      'server',
      { ...row, ...lacking },
      sql`from (values ${those}) as those where ${only} and ${where} on conflict ${onConflict}`,
    );
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
  const [other] = await ofOthers(tx, key, [vmObjectId]);
  if (other) return other;
  await make(tx, naming(tx, key, [vmObjectId], firewalls));
  const open_since_ms = sql<number>`coalesce(open_since_ms, ${nowMs(tx)})`;
  await update(tx, key, vmObjectId, { firewalls: JSON.stringify(firewalls), open_since_ms }).execute();
  return undefined;
}

/** They are assigned. An answer about others, which a correction has replaced since, says nothing of these. */
export function assigning(db: Db, key: SagaKey, call: Pick<EffectCall, 'activity' | 'about'>): Write[] {
  const { vmObjectId, firewalls = [] } = call.about;
  if (!isProtecting(key, call) || vmObjectId === undefined) return [];
  const closed = update(db, key, vmObjectId, { closed_ms: nowMs(db) }).where('closed_ms', 'is', null);
  return [(where) => closed.where('firewalls', '=', JSON.stringify(firewalls)).where(where)];
}

/** The provider has cancelled the order: nothing of it lacks anything, and its ids are free. @param ids only these */
export async function noteCancelled(tx: Tx, key: SagaKey, ids?: readonly number[]): Promise<void> {
  const closed_ms = sql<number>`coalesce(closed_ms, ${nowMs(tx)})`;
  const closed = tx.updateTable('server').set({ closed_ms, left_ms: nowMs(tx) });
  await closed
    .where(ofSaga(key))
    .where('left_ms', 'is', null)
    .$if(ids !== undefined, (rows) => rows.where('vm_object_id', 'in', ids ?? []))
    .execute();
}

function update(db: Db, key: SagaKey, vmObjectId: number, columns: Columns<'server'>) {
  return db.updateTable('server').set(columns).where(ofSaga(key)).where('vm_object_id', '=', vmObjectId);
}

/** Firewalls that a bought server is to have are assigned. */
function isProtecting({ workflow }: SagaKey, { activity }: Pick<EffectCall, 'activity'>): boolean {
  return workflow === 'provisionServers' && activity === 'assignFirewalls';
}

/**
 * A saga has ended whose order stands: the servers that lack firewalls by its report are open, all others are closed. It
 * changes nothing that a person has closed, and none of a second order that a late answer has shown.
 */
export function ending(
  db: Db,
  key: SagaKey,
  outcome: string,
  { leftovers = [], known }: Partial<Pick<Report, 'leftovers' | 'known'>>,
): Write[] {
  if (key.workflow !== 'provisionServers') return [];
  // A server may be named twice: a statement writes each of them once, with all that it lacks.
  const lacking = new Map<number, number[]>();
  for (const left of leftovers) {
    if (left.kind !== 'server-unprotected') continue;
    const { vmObjectId = unnamed, firewalls } = left;
    lacking.set(vmObjectId, [...new Set([...(lacking.get(vmObjectId) ?? []), ...firewalls])]);
  }
  const opens = sql`(vm_object_id, workflow, reference) do update set firewalls = excluded.firewalls, closed_ms = null, open_since_ms = case when server.closed_ms is null
    then coalesce(server.open_since_ms, ${nowMs(db)}) else ${nowMs(db)} end where server.closed is null and server.left_ms is null`;
  const isFree = (id: number) =>
    sql`not exists (select 1 from server where vm_object_id = ${id} and ${isOfOther(key)})`;
  const opening = [...lacking].map(([id, firewalls]) =>
    bringing(db, key, [id], firewalls, { only: isFree(id), onConflict: opens }),
  );
  if (outcome !== 'done' && outcome !== 'partly') return opening;
  const open = [...lacking.keys()];
  const own = [unnamed, ...((known?.['vmObjectIds'] ?? []) as number[])];
  const closing = db
    .updateTable('server')
    .set({ closed_ms: nowMs(db) })
    .where(ofSaga(key))
    .where('closed_ms', 'is', null)
    .where((where) => where.or([where.not(hasLate(key)), where('vm_object_id', 'in', own)]));
  const others = open.length > 0 ? closing.where('vm_object_id', 'not in', open) : closing;
  return [...opening, (where) => others.where(where)];
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
  return journal.read(async (db) => {
    const rows = db.selectFrom('server').select('seen_ms').where('vm_object_id', '=', vmObjectId);
    const since = sql<number>`${statementBegunMs(db)} - ${withinMs}`;
    return (await rows.where('seen_ms', '>', since).limit(1).execute()).length > 0;
  });
}

/** The provider has cancelled each order that has brought the server. */
export async function isCancelled(journal: Store, vmObjectId: number): Promise<boolean> {
  const { rows } = await journal.read((db) =>
    sql<{ cancelled_ms: number | null }>`
      select cancelled_ms from server join effect using (workflow, reference)
        where server.vm_object_id = ${vmObjectId} and ${isOfOrder} and kind = 'pivot' and outcome = 'done'`.execute(db),
  );
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
    const servers = tx
      .selectFrom('server')
      .select('vm_object_id')
      .where('vm_object_id', 'in', [unnamed, ...listed]);
    const ordered = await servers
      .where(isOfOrder)
      .where(sql<boolean>`not ${ofSaga(key)}`)
      .execute();
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
    return { ids: [...ordered.map(({ vm_object_id: id }) => id), ...older], rivals };
  });
}

/**
 * The ids of the servers of an order that was placed are learnt.
 *
 * @returns as {@link claim}
 */
export async function claimServers(journal: Store, key: SagaKey, ids: readonly number[]): Promise<OfOther[]> {
  const claiming = () =>
    journal.inTransaction(async (tx) => {
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
export async function serversOf(db: Db, key: SagaKey): Promise<number[]> {
  const rows = db.selectFrom('server').select('vm_object_id').where(ofSaga(key)).where('vm_object_id', '<>', unnamed);
  return (await rows.where(isOfOrder).orderBy('vm_object_id').execute()).map(({ vm_object_id: id }) => id);
}

/** Servers that sagas which have ended have worked on, or were to work on. */
const serversOfEnded = sql`
  select vm_object_id from effect join reference using (workflow, reference)
    where vm_object_id is not null and is_open is null
  union select vm_object_id from server join reference using (workflow, reference)
    where vm_object_id <> ${unnamed} and open_since_ms is not null and is_open is null`;

/** How many they are. */
export async function countServers(journal: Store): Promise<number> {
  const { rows } = await journal.read((db) =>
    sql<{ servers: number }>`select count(*) as servers from (${serversOfEnded}) as known`.execute(db),
  );
  return rows[0]?.servers ?? 0;
}

/** Those behind an id, then those up to it, each in the order of their ids. */
export async function serversInTurn(
  journal: Store,
  { after, most }: { after: number; most: number },
): Promise<number[]> {
  const { rows } = await journal.read((db) =>
    sql<{ vm_object_id: number }>`
      select vm_object_id from (${serversOfEnded}) as known
        order by case when vm_object_id > ${after} then 0 else 1 end, vm_object_id limit ${most}`.execute(db),
  );
  return rows.map(({ vm_object_id }) => vm_object_id);
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
  const isLost = sql`exists (select 1 from server where server.workflow = effect.workflow
    and server.reference = effect.reference and server.vm_object_id = effect.vm_object_id and left_ms is not null)`;
  const { rows } = await journal.read((db) =>
    sql<{ vm_object_id: number; reference: string; other: string }>`
      select vm_object_id, min(reference) as reference, max(reference) as other from (
        select vm_object_id, reference from server
          where workflow = 'provisionServers' and vm_object_id <> ${unnamed} and left_ms is null
        union select vm_object_id, reference from effect where workflow = 'provisionServers' and kind = 'mutate'
          and activity = 'assignFirewalls' and vm_object_id is not null and ${mayHaveTakenEffect} and not ${isLost}
      ) as known group by vm_object_id having count(*) > 1 order by vm_object_id limit ${limit}`.execute(db),
  );
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

export async function openServers(journal: Store): Promise<OpenServer[]> {
  const { rows } = await journal.read((db) =>
    sql<JournalTables['server'] & Pick<Reference, 'is_open'>>`
      select server.*, is_open from server join reference using (workflow, reference)
        where ${isOpen} order by open_since_ms`.execute(db),
  );
  return rows.map(({ vm_object_id, workflow, reference, firewalls, open_since_ms, is_open }) => ({
    ...(vm_object_id === unnamed ? {} : { vmObjectId: vm_object_id }),
    workflow,
    reference,
    firewalls: JSON.parse(firewalls) as number[],
    since: iso(open_since_ms ?? 0),
    saga: is_open === null ? 'ended' : 'open',
  }));
}

/** Those that a person has closed, given or taken. */
export function saidOf(tx: Tx, key: SagaKey) {
  return tx
    .selectFrom('server')
    .select(['vm_object_id', 'closed', 'closed_ms', 'corrected', 'left_ms', 'seen_ms'])
    .where(ofSaga(key))
    .where((where) => where.or([where('closed', 'is not', null), where('corrected', 'is not', null)]))
    .orderBy('vm_object_id')
    .execute();
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
    const changed = tx.selectFrom('effect').select(['workflow', 'reference']).where('vm_object_id', '=', vmObjectId);
    const brought = tx.selectFrom('server').select('vm_object_id').where('vm_object_id', '=', vmObjectId);
    const [saga] = (await brought.execute()).length > 0 ? [] : await changed.limit(1).execute();
    const row = { vm_object_id: vmObjectId, seen_ms: 0, firewalls: '[]' };
    if (saga)
      await tx
        .insertInto('server')
        .values({ ...saga, ...row })
        .execute();
    const those = closing.where('vm_object_id', '=', vmObjectId).where('closed', 'is', null);
    return Number((await those.executeTakeFirst()).numUpdatedRows);
  });
}

/** A person has closed it. */
export async function isClosed(journal: Store, vmObjectId: number): Promise<boolean> {
  const said = (db: Db) => db.selectFrom('server').select('closed').where('vm_object_id', '=', vmObjectId);
  return (await journal.read((db) => said(db).where('closed', 'is not', null).limit(1).execute())).length > 0;
}
