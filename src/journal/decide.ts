/**
 * The rules by which a call may be sent, or not. Most calls are the first of their step, and nothing stands against
 * them: one statement asks all that, and writes. Otherwise one transaction reads the rows of the saga, decides, and
 * writes.
 */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { omitUndefined } from '../domain/omit-undefined';
import type { EffectCall, JournalCursor, OpenPivot, PivotNote } from '../domain/effects';
import { describeOther } from '../domain/servers';
import type { NotNow } from '../domain/spending';
import { approvalsOf, noApprovals, useUp } from './approvals';
import { identityHere, isPostgres, nowMs } from './dialects';
import {
  epochOfNew,
  inDoubt,
  insertDoubt,
  isOfAny,
  mayBeOfLostTime,
  restoredFailure,
  type SagaRows,
  whatIsLacking,
} from './recovery-gap';
import { type Buying, type PurchaseRules, whatSpeaksAgainst, writePurchase } from './purchases';
import {
  aboutOf,
  beginOf,
  correctionsOf,
  type Db,
  doneAt,
  type Effect,
  effectRow,
  effectsOf,
  insertEffect,
  insertFrom,
  insertReference,
  isDoubtful,
  isSameSaga,
  isUnanswered,
  iso,
  type JournalRow,
  leftInFlight,
  lock,
  mayHaveHappened,
  pivotIn,
  type Reference,
  type Requested,
  rowsOf,
  rowsOfStep,
  type SagaKey,
  theJournal,
  touchedOf,
  type Tx,
  updateEffect,
  type WrittenCall,
} from './rows';
import { noteAssigned, noteIntended } from './servers';
import { markUndone } from './state';
import type { Store, Verdict } from './store';
import { turnOf } from './turns';

/** A run's question before it sends a call. `inFlightMs`: by the settings of the worker that intends it now. */
export interface Intent extends SagaKey, Omit<WrittenCall, 'note'> {
  /** The reference is the run's own: only the begin that owns it may intend a call. */
  isOwn?: boolean | undefined;
  /** The run's history knows so much of the journal; undefined before the run has used it. */
  cursor: JournalCursor | undefined;
  /** If the step has already made something, return its recorded answer and send nothing. Always so for a pivot. */
  recall?: boolean | undefined;
  /** If a person has done the call by hand, send nothing. */
  countsByHand?: boolean | undefined;
  /** Is sealed. */
  note?: PivotNote | undefined;
  /** The saga's turn, if it has one: what a person did by hand counts within it. */
  turn?: string | undefined;
  /** For a pivot: how many corrections of the request the run knows. */
  corrections?: number | undefined;
  /** For a pivot: the operator's rules for purchases, over all references. */
  rules?: PurchaseRules | undefined;
}

/** An intent, ready to be written. */
export type Noted = Omit<Intent, 'note'> & {
  note: string | null;
  store: Store;
  /** For a pivot: by the request that the reference was taken with, and its corrections. */
  boughtBy?: (requested: Requested) => Promise<Buying | undefined>;
};

export type Intended =
  /** `repeats`: the same call was sent before, and nobody knows its outcome. */
  | { how: 'send'; cursor: JournalCursor & { row: string }; doubts: number; repeats?: true }
  | { how: 'recorded'; cursor: JournalCursor; answer: unknown; at: string; run: string; doubts: number }
  /** The first call may still be in flight for so long: ask again then. */
  | { how: 'under-way'; row: string; leftMs: number }
  | ({ how: 'unknown'; leftMs: number } & OpenPivot)
  /** Another begin owns the reference. */
  | { how: 'not-owned' }
  /** The world has changed since the run looked: it has to begin again. */
  | { how: 'changed'; why: string }
  /** The item is in an order that was placed, or may have been. */
  | { how: 'ordered'; placed: boolean; at: string; run: string }
  /** The item's id is that of an item of this reference, which is younger. */
  | { how: 'anothers'; of: string; at: string }
  | { how: 'restored'; why: string }
  /** It was placed, and the provider has cancelled it, as a person said then. */
  | { how: 'cancelled'; at: string }
  | NotNow;

/** `top`: the place of the row that was written. */
export type Decided = Intended & { top?: number };

/** A call of a step that can be undone, by a run that has begun: see {@link intendAtOnce}. */
type Plain = Noted & { cursor: JournalCursor };

export const isPlain = (intent: Noted): intent is Plain =>
  intent.call.kind === 'mutate' && intent.isOwn === true && intent.cursor?.fence !== undefined;

/**
 * Intends the first call of a step, in one statement: it is written only where the begin that intends it owns the
 * reference, the journal is what the run knows, and no earlier call says otherwise.
 *
 * It locks the reference's row: a begin waits for it. If it had to wait itself, it has read what was before: so the
 * reference must not have been used meanwhile. Of two calls of one begin at the same moment, which see no row, an index
 * lets one be written.
 *
 * @returns undefined where nothing was written, for whatever reason
 */
export async function intendAtOnce(db: Db, intent: Plain, row: string): Promise<Decided | undefined> {
  const { workflow, reference, run, call, cursor, store } = intent;
  const { step, about } = call;
  const isThere = (id: string | undefined) =>
    id === undefined ? sql`` : sql`and exists (select 1 from effect e where e.id = ${id})`;
  const from = sql`from reference r, journal j
    where r.workflow = ${workflow} and r.reference = ${reference} and r.owner = ${beginOf(run, cursor.fence)}
      and j.id = ${cursor.journal} and j.epoch = ${cursor.epoch} and j.restored_ms is null
      and j.identity is not distinct from ${identityHere(db)}
      ${isThere(cursor.row)} ${isThere(store.failover.witness?.row)}
      and not exists (select 1 from effect e where e.workflow = r.workflow and e.reference = r.reference
        and (e.step = ${step} or (e.kind = 'compensate' and e.vm_object_id = cast(${about.vmObjectId ?? null} as bigint))))
      and r.touched_ms = ${touchedOf(intent)} ${protects(intent)} ${isPostgres(db) ? sql`for share of r` : sql``}
    returning seq`;
  const first = effectRow(db, intent, intent, { id: row, epoch: cursor.epoch, is_first: 1 });
  const [written] = await rowsOf(db, insertFrom('effect', first, from).$castTo<Pick<Effect, 'seq'>>());
  return written && { how: 'send', cursor: { ...cursor, row }, top: written.seq, doubts: 0 };
}

/** A server that an order has brought is known to lack what is assigned to it. */
function protects({ workflow, call: { about } }: Plain): RawBuilder<unknown> {
  const { vmObjectId, firewalls = [] } = about;
  if (workflow !== 'provisionServers' || vmObjectId === undefined) return sql``;
  return sql`and exists (select 1 from server s where s.workflow = r.workflow and s.reference = r.reference
    and s.vm_object_id = cast(${vmObjectId} as bigint) and s.firewalls = ${JSON.stringify(firewalls)} and s.open_since_ms is not null and s.left_ms is null)`;
}

export async function decide(tx: Tx, intent: Noted, row: string): Promise<Decided> {
  const { isOwn, run, call, cursor, store } = intent;
  const key = { workflow: intent.workflow, reference: intent.reference };
  const taken = await lock(tx, key);
  const journal = await theJournal(tx);
  const all = await effectsOf(tx, key);
  const known = { taken: taken !== undefined, cursor, rows: all };
  const lacks = await whatIsLacking(tx, journal, store.failover, known);
  if (lacks !== undefined) return { how: 'restored', why: lacks };
  if (isOwn && !isOwned(taken, run, { journal, cursor })) return { how: 'not-owned' };
  const reference = taken ?? (await insertReference(tx, key, run, cursor?.epoch ?? epochOfNew(journal)));
  const saga = { taken: reference, rows: all };
  const rows = all.filter(({ kind, step }) => (call.kind === 'pivot' ? kind === 'pivot' : step === call.step));
  // An undo of something that is gone is recorded already: no other reason counts.
  const isGone = call.kind === 'compensate' && recall(rows, intent) !== undefined;
  const refused = isGone ? undefined : await whyNot(tx, key, journal, call, saga);
  if (refused !== undefined) return refused;

  const corrections = call.kind === 'pivot' ? await correctionsOf(tx, key) : [];
  // This also counts for a placed pivot: the number of its servers follows from all corrections.
  if (corrections.length > (intent.corrections ?? 0)) return { how: 'changed', why: 'the request was corrected since' };
  const buys = () => intent.boughtBy?.({ taken: reference, corrections });
  let pivot = pivotIn(rows);
  if (call.kind === 'pivot' && pivot === undefined) {
    // The doubt names no items: those that the call names now may have been added since.
    pivot = await insertDoubt(tx, key, journal, saga, { ...intent, call: { ...call, about: {} } });
    const bought = pivot && (await buys());
    if (pivot && bought) await writePurchase(tx, pivot.id, bought);
  }
  const found = pivot
    ? await whatBecameOf(tx, pivot, journal, store)
    : ((await stillOwn(tx, key, recall(rows, intent))) ??
      (intent.countsByHand ? await stillDoneByHand(tx, key, rows, intent) : undefined));
  if (found !== undefined) {
    if ('how' in found) return found;
    return {
      how: 'recorded',
      cursor: cursorAt(journal, found.id, cursor),
      answer: await store.answerOf(found),
      at: doneAt(found),
      run: found.run,
      doubts: doubtsBeside(found.id, rows, intent.recall),
    };
  }
  if (intent.recall) {
    const youngest = rows.findLast(isDoubtful);
    const leftMs = youngest?.outcome === null ? await leftInFlight(tx, youngest, journal) : 0;
    if (youngest && leftMs > 0) return { how: 'under-way', row: youngest.id, leftMs };
  }
  const added = call.about.cartItems?.filter((item) => all.some((row) => row.cart_item_id === item));
  const another = await itemOfAnother(tx, key, added ?? []);
  if (another !== undefined) return { how: 'changed', why: `a cart item has the id of one of ${another.of} by now` };
  const { rules } = intent;
  const bought = await buys();
  const approvals = bought && rules ? await approvalsOf(store, tx, key, bought.agreed) : noApprovals;
  const notNow = bought && rules && (await whatSpeaksAgainst(tx, key, bought, rules, approvals.concerns));
  if (notNow) return notNow;
  const first = call.kind === 'mutate' && rows.length === 0 ? { is_first: 1 } : {};
  const other = await noteIntended(tx, key, call);
  if (other) return { how: 'changed', why: describeOther(other) };
  const top = await insertEffect(tx, key, intent, { id: row, epoch: journal.epoch, ...first });
  if (bought) {
    await writePurchase(tx, row, bought);
    await useUp(tx, row, approvals);
  }
  return { ...sends(cursorAt(journal, row, cursor), rows, intent), top };
}

/** By this begin, in this epoch: after a restore the numbers of begins come again. */
function isOwned(
  taken: Reference | undefined,
  run: string,
  { journal, cursor }: { journal: JournalRow; cursor: Noted['cursor'] },
): boolean {
  return cursor?.epoch === journal.epoch && taken?.owner === beginOf(run, cursor.fence);
}

export function cursorAt({ id, epoch }: Pick<JournalRow, 'id' | 'epoch'>, row: string, cursor: Noted['cursor']) {
  return { journal: id, epoch, row, ...omitUndefined({ fence: cursor?.fence }) };
}

/** Why other calls about the same things forbid this call now. */
async function whyNot(
  tx: Tx,
  key: SagaKey,
  journal: JournalRow,
  { kind, activity, about }: EffectCall,
  saga: SagaRows,
): Promise<Exclude<Intended, { how: 'recorded' | 'send' }> | undefined> {
  const { rows } = saga;
  if (kind === 'compensate' && about.cartItemId !== undefined) {
    const item = about.cartItemId;
    const another = await itemOfAnother(tx, key, [item]);
    if (another !== undefined) return another;
    const order = pivotIn(rows);
    const mayBeOld = mayBeOfLostTime(rows, journal, item);
    const isNamed = order && (names(order, item) || (mayBeOld && isOfAny(order, journal)));
    if (!isNamed) {
      const doubt = mayBeOld && order?.outcome !== 'done' ? inDoubt(saga, journal) : undefined;
      return doubt && { how: 'ordered', placed: false, ...doubt };
    }
    const leftMs = order.outcome === null ? await leftInFlight(tx, order, journal) : 0;
    if (leftMs > 0) return { how: 'under-way', row: order.id, leftMs };
    return { how: 'ordered', placed: order.outcome === 'done', at: iso(order.intended_ms), run: order.run };
  }
  if (kind === 'compensate')
    return changeInFlight(tx, rows, journal, { vmObjectId: about.vmObjectId, besides: activity });
  const steps = kind === 'pivot' ? takenBackOf(rows, about.cartItems ?? []) : [];
  if (steps.length > 0) return { how: 'changed', why: `${steps.join(', ')}: undone since then` };
  const { vmObjectId } = about;
  return vmObjectId === undefined ? undefined : changeInFlight(tx, rows, journal, { vmObjectId, kind: 'compensate' });
}

/** The provider has given an id again: what a younger row of any reference names is not this saga's any more. */
async function itemOfAnother(
  tx: Tx,
  key: SagaKey,
  ids: readonly number[],
): Promise<Extract<Intended, { how: 'anothers' }> | undefined> {
  if (ids.length === 0) return undefined;
  const named = tx.selectFrom('effect').select(['workflow', 'reference', 'cart_item_id', 'intended_ms']);
  const rows = named.where('cart_item_id', 'in', ids).where('kind', '=', 'mutate').orderBy('seq');
  const youngest = new Map((await rows.execute()).map((row) => [row.cart_item_id, row]));
  const another = [...youngest.values()].find((row) => !isSameSaga(row, key));
  return another && { how: 'anothers', of: another.reference, at: iso(another.intended_ms) };
}

/** An item whose id is another's by now is no answer: it is added again. */
async function stillOwn(tx: Tx, key: SagaKey, found: Effect | undefined): Promise<Effect | undefined> {
  const isItem = found?.kind === 'mutate' && found.outcome === 'done' && found.cart_item_id !== null;
  return isItem && (await itemOfAnother(tx, key, [found.cart_item_id ?? 0])) ? undefined : found;
}

/**
 * Steps that made these items, and were undone, or are being undone. If the provider gave the same id again, only the
 * last time counts.
 */
function takenBackOf(all: readonly Effect[], items: readonly number[]): string[] {
  const steps = items.map((item) => {
    let takenBack: string | undefined;
    for (const { kind, step, outcome, cart_item_id: id } of all) {
      if (id !== item) continue;
      if (kind === 'mutate' && outcome === 'done') takenBack = undefined;
      else if (kind === 'mutate' ? outcome === 'undone' : mayHaveHappened(outcome)) takenBack = step;
    }
    return takenBack;
  });
  return [...new Set(steps.filter((step) => step !== undefined))];
}

/**
 * If two changes of one server overlap, the last one wins. So firewalls are undone only when no other change of the
 * server can still take effect, and a run changes them only when no undo of an earlier run can. A call that was given
 * up without an answer may still take effect.
 *
 * @param besides the activity of calls that may overlap, because they do the same
 * @param kind only calls of this kind
 */
export async function changeInFlight(
  tx: Tx,
  rows: readonly Effect[],
  journal: JournalRow,
  { vmObjectId, besides, kind }: { vmObjectId: number | undefined; besides?: string; kind?: 'compensate' | undefined },
): Promise<{ how: 'under-way'; row: string; leftMs: number } | undefined> {
  const isOfKind = (row: Effect) => (kind === undefined ? row.kind !== 'pivot' : row.kind === kind);
  // Unknown without a failure: it was answered, and nobody has declared what that means.
  const mayBeOut = ({ outcome, failure }: Effect) => outcome === null || (outcome === 'unknown' && failure !== null);
  const meets = (row: Effect) =>
    mayBeOut(row) && isOfKind(row) && aboutOf(row).vmObjectId === vmObjectId && row.activity !== besides;
  for (const row of rows.filter(meets)) {
    const leftMs = await leftInFlight(tx, row, journal);
    if (leftMs > 0) return { how: 'under-way', row: row.id, leftMs };
  }
  return undefined;
}

type Known = Effect | Exclude<Intended, { how: 'recorded' | 'send' }>;

/** @param pivot that was placed, or may have been */
async function whatBecameOf(tx: Tx, pivot: Effect, journal: JournalRow, store: Store): Promise<Known> {
  const { id: row, outcome, cancelled_ms: cancelledMs, note } = pivot;
  if (outcome === 'done') return cancelledMs === null ? pivot : { how: 'cancelled', at: iso(cancelledMs) };
  const leftMs = await leftInFlight(tx, pivot, journal);
  if (outcome === null && leftMs > 0) return { how: 'under-way', row, leftMs };
  return { how: 'unknown', ...openPivot(pivot), note: await store.noteOf(note), leftMs };
}

function names(order: Effect, item: number): boolean {
  return aboutOf(order).cartItems?.includes(item) ?? false;
}

export function openPivot({ id, intended_ms, run, in_flight_ms, failure }: Effect): Omit<OpenPivot, 'note'> {
  return { row: id, at: iso(intended_ms), run, inFlightMs: in_flight_ms, restored: failure === restoredFailure };
}

/**
 * Counts the other calls of a repeatable step that may have made something that is still there. Where a second call
 * makes a second thing, one that is done counts, too: what it made is surely gone only when its row is `undone`.
 *
 * @param row of the call that counts for the run
 * @param makesMore as `recall` in {@link Intent}
 */
function doubtsBeside(row: string, rows: readonly Effect[], makesMore = false): number {
  const mayBeThere = (other: Effect) =>
    isDoubtful(other) || (makesMore && other.kind === 'mutate' && other.outcome === 'done');
  return rows.filter((other) => other.id !== row && mayBeThere(other)).length;
}

/** @param rows of the step */
export function sends(
  cursor: JournalCursor & { row: string },
  rows: readonly Effect[],
  { call: { kind, activity }, recall: makesMore }: Pick<Intent, 'call' | 'recall'>,
): Extract<Intended, { how: 'send' }> {
  const isRepeated = rows.some((other) => {
    const isSame = other.id !== cursor.row && other.kind === kind && other.activity === activity;
    return isSame && isUnanswered(other.outcome);
  });
  const doubts = doubtsBeside(cursor.row, rows, makesMore);
  return { how: 'send', cursor, doubts, ...(isRepeated ? { repeats: true } : {}) };
}

/** The step's row with the answer, if what it made has not been undone. */
function recall(rows: readonly Effect[], { call, recall: wanted }: Pick<Noted, 'call' | 'recall'>): Effect | undefined {
  if (call.kind === 'compensate') {
    // A provider may give an id again: the last item that had it counts.
    const item = call.about.cartItemId ?? -1;
    const last = rows.findLast(({ kind, cart_item_id }) => kind === 'mutate' && cart_item_id === item);
    const gone = last?.outcome === 'undone' ? last : undefined;
    return gone && (rows.find(({ id }) => id === gone.undone_by) ?? gone);
  }
  if (!wanted) return undefined;
  // An item that was added before a correction is another item.
  const isSame = (row: Effect) => aboutOf(row).corrected === call.about.corrected;
  const made = rows.filter((row) => row.kind === 'mutate' && row.outcome === 'done' && isSame(row));
  const takesBack = ({ kind, seq, outcome, cart_item_id: item }: Effect, row: Effect) =>
    kind === 'compensate' && seq > row.seq && mayHaveHappened(outcome) && [null, item].includes(row.cart_item_id);
  return made.findLast((row) => !rows.some((other) => takesBack(other, row)));
}

/**
 * A person has done calls by hand at the provider: each row is `done`, and says who has said so and how they know. There
 * is none for a pivot: there a person only says what the outcome of a sent call was.
 */
interface ByHand {
  calls: readonly EffectCall[];
  run: string;
  verdict: Verdict;
  /** As in `Intent`. */
  cursor: JournalCursor | undefined;
}

/**
 * Writes down that a person has done these calls by hand, so they are not sent. A second call of the same run changes
 * nothing.
 *
 * @returns `restored`, and writes nothing, while the journal is an older copy and nobody has run `journal restored`
 */
export async function writeByHand(
  journal: Store,
  key: SagaKey,
  { calls, run, verdict, cursor }: ByHand,
): Promise<{ how: 'written'; cursor: JournalCursor } | { how: 'restored'; why: string }> {
  const decided = await journal.sealing.seal(verdict);
  // There was no call, so the recorded answer is null.
  const answer = await journal.sealing.seal(null);
  return journal.locked(key, async (tx, locked) => {
    const taken = locked !== undefined;
    const state = await theJournal(tx);
    const why = await whatIsLacking(tx, state, journal.failover, { taken, cursor });
    if (why !== undefined) return { how: 'restored', why };
    if (!taken) await insertReference(tx, key, run, cursor?.epoch ?? epochOfNew(state));
    const { id, epoch } = state;
    // This call stood still, and the run has gone on without it: the rows are there, whatever became of them since.
    const isOld = cursor?.fence !== undefined && cursor.epoch === epoch && cursor.fence < (locked?.fence ?? 0);
    let row: string | undefined;
    for (const call of calls) row = await writeOne(tx, key, { call, run, decided, answer, epoch }, isOld);
    return { how: 'written', cursor: { journal: id, epoch, ...omitUndefined({ row }) } };
  });
}

/** @returns the row's id */
async function writeOne(
  tx: Tx,
  key: SagaKey,
  { call, run, decided, answer, epoch }: Pick<Effect, 'run' | 'epoch' | 'decided' | 'answer'> & { call: EffectCall },
  isOld: boolean,
): Promise<string> {
  const rows = await rowsOfStep(tx, key, call);
  const said = rows.findLast((row) => row.run === run && isByHand(row, call));
  if (said && (isOld || (said === rows.at(-1) && said.outcome === 'done'))) return said.id;
  const row = randomUUID();
  await insertEffect(tx, key, { call, run, inFlightMs: 0 }, { id: row, epoch, outcome: 'done' });
  await updateEffect(tx, row, { answer, decided, decided_ms: nowMs(tx) });
  if (call.kind === 'compensate') await markUndone(tx, key, call, row);
  await noteIntended(tx, key, call);
  await noteAssigned(tx, key, call);
  return row;
}

/**
 * A call that was done by hand also counts for a later run, until the step makes another call, or another saga has a
 * turn.
 *
 * @param rows all rows of the step, the oldest first
 */
async function stillDoneByHand(
  tx: Tx,
  key: SagaKey,
  rows: readonly Effect[],
  { call, turn }: { call: EffectCall; turn?: string | undefined },
): Promise<Effect | undefined> {
  const last = rows.at(-1);
  if (last?.outcome !== 'done' || !isByHand(last, call)) return undefined;
  if (turn === undefined) return last;
  const mine = await turnOf(tx, key);
  const begunMs = mine?.id === turn ? mine.begun_ms : null;
  return begunMs !== null && begunMs <= Number(last.decided_ms) ? last : undefined;
}

/** The row says that a person has done exactly this call. It may be undone since. */
function isByHand({ decided_ms, kind, about }: Effect, call: EffectCall): boolean {
  return decided_ms !== null && kind === call.kind && about === JSON.stringify(call.about);
}
