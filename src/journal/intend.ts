/**
 * The one writer of calls that are about to be sent: it decides (decide.ts) by what the journal has, and writes the row
 * where that still stands.
 *
 * ```text
 *   first call of a step ── taken for granted: nothing stands against it ─┐ nothing is written where that is not so
 *                                                                       write ──▶ send
 *   any other call, and then ── lock the reference, look ── decide ───────┘
 *                                                             └──▶ the recorded answer, or why it is not sent
 * ```
 *
 * A first call takes one statement. It locks the reference's row for sharing: steps side by side do not wait for one
 * another; a begin, and whoever locks the row, waits for them. If the statement had to wait for such a lock, it has read
 * the state from before: so it also demands that nobody has used the row since it began. Of two first calls of a step at
 * the same moment, which see no row, an index lets one be written.
 */
import { beginOf } from './acquire';
import { type RawBuilder, sql } from 'kysely';
import type { JournalCursor } from '../domain/effects';
import { describeOther } from '../domain/servers';
import { approvalsOf, useUp } from './approvals';
import { cursorAt, decide, type Intended, type Intent, type Seen } from './decide';
import { identityHere, isPostgres } from './database/dialects';
import { type Buying, whatSpeaksAgainst, writePurchase } from './purchases';
import { insertDoubt, whatIsLacking } from './restore/recovery-gap';
import {
  correctionsOf,
  type Db,
  doneAt,
  type Effect,
  insertWhere,
  isSameSaga,
  iso,
  lock,
  look,
  ofSaga,
  type Requested,
  type SagaKey,
  type Tx,
} from './rows';
import { noteIntended } from './servers';
import { ofStep } from './state';
import type { Store } from './store';
import { turnOf } from './turns';

/** An intent, ready to be written. */
export type Noted = Omit<Intent, 'note'> & {
  note: string | null;
  store: Store;
  /** For a pivot: by the request that the reference was taken with, and its corrections. */
  boughtBy?: (requested: Requested) => Promise<Buying | undefined>;
};

/** `top`: the place of the row that was written. Of a pivot in doubt, its row: it is described outside of the transaction. */
export type Written = (Exclude<Intended, { how: 'unknown' }> | { how: 'unknown'; pivot: Effect }) & { top?: number };

/** Of a run that has begun: only calls of its own step, and undos at its server, stand against it. */
type First = Noted & { cursor: JournalCursor };

export const mayBeFirst = (intent: Noted): intent is First =>
  intent.call.kind === 'mutate' && intent.cursor?.fence !== undefined;

/** @returns undefined where nothing was written: something stands against it */
export async function intendFirst(db: Db, intent: First, row: string): Promise<Written | undefined> {
  const { workflow, reference, run, cursor, store, call } = intent;
  const { step, about } = call;
  const owner = beginOf(run, cursor.fence);
  const isThere = (id: string | undefined) =>
    id === undefined ? sql`` : sql`and exists (select 1 from effect e where e.id = ${id})`;
  const from = sql`from reference r, journal j
    where r.workflow = ${workflow} and r.reference = ${reference} and r.owner = ${owner}
      and j.id = ${cursor.journal} and j.epoch = ${cursor.epoch} and j.restored_ms is null
      and j.identity is not distinct from ${identityHere(db)}
      ${isThere(cursor.row)} ${isThere(store.failover.witness?.row)}
      and not exists (select 1 from effect e where e.workflow = r.workflow and e.reference = r.reference
        and (e.step = ${step} or (e.kind = 'compensate' and e.vm_object_id = cast(${about.vmObjectId ?? null} as bigint))))
      and r.touched_ms = (select touched_ms from reference where ${ofSaga(intent)}) ${isNoted(intent)} ${isPostgres(db) ? sql`for share of r` : sql``}
    on conflict do nothing`;
  return write(db, intent, row, { id: cursor.journal, epoch: cursor.epoch }, { isFirst: true, doubts: 0 }, from);
}

/** A server that an order has brought is known to lack what is assigned to it. */
function isNoted({ workflow, call: { about } }: First): RawBuilder<unknown> {
  const { vmObjectId, firewalls = [] } = about;
  if (workflow !== 'provisionServers' || vmObjectId === undefined) return sql``;
  return sql`and exists (select 1 from server s where s.workflow = r.workflow and s.reference = r.reference
    and s.vm_object_id = cast(${vmObjectId} as bigint) and s.firewalls = ${JSON.stringify(firewalls)} and s.open_since_ms is not null and s.left_ms is null)`;
}

export async function intendLocked(tx: Tx, intent: Noted, row: string): Promise<Written> {
  const { call, cursor, store, rules } = intent;
  const key = { workflow: intent.workflow, reference: intent.reference };
  const taken = await lock(tx, key);
  const { journal, rows } = await look(tx, key);
  const known = { taken: taken !== undefined, cursor, rows };
  const lacks = await whatIsLacking(tx, journal, store.failover, known);
  if (lacks !== undefined) return { how: 'restored', why: lacks };
  const corrections = call.kind === 'pivot' ? await correctionsOf(tx, key) : [];
  const others = await othersOf(tx, key, itemsIn(intent, rows));
  const turn = intent.countsByHand && intent.turn !== undefined ? await turnOf(tx, key) : undefined;
  const decided = decide({ journal, taken, rows, corrections, others, turn }, intent);
  const buys = () => intent.boughtBy?.({ taken, corrections });
  if (decided.how === 'in-doubt') {
    // The doubt names no items: those that the call names now may have been added since.
    const pivot = await insertDoubt(tx, key, journal, { ...intent, call: { ...call, about: {} } });
    const bought = await buys();
    if (bought) await writePurchase(tx, pivot.id, bought);
    return { how: 'unknown', pivot };
  }
  if (decided.how === 'recorded') {
    const { doubts, row: found } = decided;
    const [answer, at] = [await store.answerOf(found), doneAt(found)];
    return { how: 'recorded', cursor: cursorAt(journal, found.id, cursor), answer, at, run: found.run, doubts };
  }
  if (decided.how !== 'write') return decided;
  const bought = await buys();
  const approvals = bought && (await approvalsOf(store, tx, key, bought.agreed));
  const notNow = bought && rules && (await whatSpeaksAgainst(tx, key, bought, rules, approvals?.concerns));
  if (notNow) return notNow;
  const other = await noteIntended(tx, key, call);
  if (other) return { how: 'changed', why: describeOther(other) };
  const written = await write(tx, intent, row, journal, decided);
  if (written === undefined) throw new Error(`${call.step} was not written`);
  if (bought) await writePurchase(tx, row, bought);
  if (approvals) await useUp(tx, row, approvals);
  return written;
}

/** @param from the rest of a select: where it finds nothing, nothing is written */
async function write(
  db: Db,
  intent: Noted,
  row: string,
  journal: { id: string; epoch: number },
  { isFirst, doubts, repeats }: { isFirst: boolean; doubts: number; repeats?: true | undefined },
  from?: RawBuilder<unknown>,
): Promise<Written | undefined> {
  const columns = { id: row, epoch: journal.epoch, is_first: isFirst ? 1 : null };
  const written = await insertWhere(db, intent, intent, columns, from);
  return written && { how: 'send', cursor: cursorAt(journal, row, intent.cursor), doubts, repeats, top: written.seq };
}

/** Items that the call names, or that its step has made. */
function itemsIn({ call }: Noted, rows: Seen['rows']): number[] {
  const { cartItemId, cartItems = [] } = call.about;
  const made = call.kind === 'mutate' ? ofStep(rows, call).map((row) => row.cart_item_id) : [];
  return [cartItemId, ...cartItems, ...made].filter((id) => typeof id === 'number');
}

/** The provider has given an id again: what a younger row of any reference names is not this saga's any more. */
async function othersOf(tx: Tx, key: SagaKey, ids: readonly number[]): Promise<Seen['others']> {
  const others = new Map<number, { of: string; at: string }>();
  if (ids.length === 0) return others;
  const named = tx.selectFrom('effect').select(['workflow', 'reference', 'cart_item_id', 'intended_ms']);
  const rows = await named.where('cart_item_id', 'in', ids).where('kind', '=', 'mutate').orderBy('seq').execute();
  for (const { cart_item_id: id, intended_ms, ...saga } of rows) {
    if (id === null) continue;
    if (isSameSaga(saga, key)) others.delete(id);
    else others.set(id, { of: saga.reference, at: iso(intended_ms) });
  }
  return others;
}
