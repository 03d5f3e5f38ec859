/**
 * The rules by which a call may be sent, or not: a pure function of what the journal has of a saga. What stands in other
 * references, limits for one, is asked by the writer (intend.ts).
 */
import { beginOf } from './acquire';
import type { EffectCall, JournalCursor, OpenPivot, PivotNote } from '../domain/effects';
import type { NotNow } from '../domain/spending';
import type { PurchaseRules } from './purchases';
import { inDoubt, isOfAny, mayBeOfLostTime } from './restore/recovery-gap';
import {
  aboutOf,
  type Effect,
  isDoubtful,
  isUnanswered,
  iso,
  type JournalRow,
  leftInFlight,
  type Moment,
  pivotIn,
  type Reference,
  type SagaKey,
  type WrittenCall,
} from './rows';
import { doubtsBeside, goneOf, madeBy, ofStep, takenBackOf } from './state';
import type { Turn } from './turns';

/**
 * A run's question before it sends a call. Only the begin that owns the reference may intend one. `inFlightMs`: by the settings of the worker that intends it now. */
export interface Intent extends SagaKey, Omit<WrittenCall, 'note'> {
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

export type Intended =
  /** `repeats`: the same call was sent before, and nobody knows its outcome. */
  | { how: 'send'; cursor: JournalCursor & { row: string }; doubts: number; repeats?: true | undefined }
  | { how: 'recorded'; cursor: JournalCursor; answer: unknown; at: string; run: string; doubts: number }
  | ({ how: 'unknown' } & OpenPivot)
  | { how: 'restored'; why: string }
  | Refused
  | NotNow;

/** A call may still be in flight for so long: ask again then. */
export interface UnderWay {
  how: 'under-way';
  row: string;
  leftMs: number;
}

type Refused =
  | UnderWay
  /** Another begin owns the reference. */
  | { how: 'not-owned' }
  /** The world has changed since the run looked: it has to begin again. */
  | { how: 'changed'; why: string }
  /** The item is in an order that was placed, or may have been. */
  | { how: 'ordered'; placed: boolean; at: string; run: string }
  /** The item's id is that of an item of this reference, which is younger. */
  | { how: 'anothers'; of: string; at: string }
  /** It was placed, and the provider has cancelled it, as a person said then. */
  | { how: 'cancelled'; at: string };

/** What the journal has of a saga, as far as it bears on a call. */
export interface Seen {
  journal: Moment;
  taken: Pick<Reference, 'owner' | 'epoch' | 'first_run'> | undefined;
  /** All of the saga, the oldest first. */
  rows: readonly Effect[];
  /** Those of a pivot's request. */
  corrections: readonly unknown[];
  /** Items that are another reference's by now: the provider has given their ids again. */
  others: ReadonlyMap<number, { of: string; at: string }>;
  /** The saga's. */
  turn: Pick<Turn, 'id' | 'begun_ms'> | undefined;
}

export type Decided =
  | Refused
  | { how: 'recorded'; row: Effect; doubts: number }
  | { how: 'unknown'; pivot: Effect }
  /** A pivot may have been sent in the recovery gap: a row of that is written first. */
  | { how: 'in-doubt' }
  | { how: 'write'; isFirst: boolean; doubts: number; repeats: true | undefined };

export function decide(seen: Seen, intent: Omit<Intent, 'note'>): Decided {
  const { call, recall = false } = intent;
  const { journal, others } = seen;
  const { run, cursor } = intent;
  // By this begin, in this epoch: after a restore the numbers of begins come again.
  const isOwned = cursor?.epoch === journal.epoch && seen.taken?.owner === beginOf(run, cursor.fence);
  if (!isOwned) return { how: 'not-owned' };
  const rows = ofStep(seen.rows, call);
  const recorded = (found: Effect) =>
    ({ how: 'recorded', row: found, doubts: doubtsBeside(found.id, rows, recall) }) as const;
  // An undo of something that is gone is recorded already: no other reason counts.
  const gone = call.kind === 'compensate' ? goneOf(rows, call.about.cartItemId ?? -1) : undefined;
  if (gone) return recorded(gone);
  const refused = whyNot(seen, call);
  if (refused) return refused;
  // This also counts for a placed pivot: the number of its servers follows from all corrections.
  if (call.kind === 'pivot' && seen.corrections.length > (intent.corrections ?? 0))
    return { how: 'changed', why: 'the request was corrected since' };
  const pivot = pivotIn(rows);
  if (pivot && pivot.cancelled_ms !== null) return { how: 'cancelled', at: iso(pivot.cancelled_ms) };
  if (pivot)
    return pivot.outcome === 'done' ? recorded(pivot) : (underWay(pivot, journal) ?? { how: 'unknown', pivot });
  if (call.kind === 'pivot' && inDoubt(seen, journal)) return { how: 'in-doubt' };
  const made = recall && call.kind !== 'compensate' ? madeBy(rows, call.about) : undefined;
  // An item whose id is another's by now is no answer: it is added again.
  if (made && !others.has(made.cart_item_id ?? -1)) return recorded(made);
  const byHand = intent.countsByHand ? doneByHand(rows, intent, seen.turn) : undefined;
  if (byHand) return recorded(byHand);
  const waits = underWay(recall ? rows.findLast(isDoubtful) : undefined, journal);
  if (waits) return waits;
  const added = call.about.cartItems?.filter((item) => seen.rows.some((one) => one.cart_item_id === item)) ?? [];
  const [another] = added.flatMap((item) => others.get(item)?.of ?? []);
  if (another !== undefined) return { how: 'changed', why: `a cart item has the id of one of ${another} by now` };
  const isSame = ({ kind, activity }: Effect) => kind === call.kind && activity === call.activity;
  const repeats = rows.some((row) => isSame(row) && isUnanswered(row.outcome)) ? true : undefined;
  const isFirst = call.kind === 'mutate' && rows.length === 0;
  return { how: 'write', isFirst, doubts: doubtsBeside(undefined, rows, recall), repeats };
}

/** Why other calls about the same things forbid this call now. */
function whyNot(seen: Seen, { kind, activity, about }: EffectCall): Refused | undefined {
  const { rows, journal, others } = seen;
  const { vmObjectId, cartItemId: item } = about;
  if (kind === 'compensate' && item !== undefined) {
    const another = others.get(item);
    if (another !== undefined) return { how: 'anothers', ...another };
    const order = pivotIn(rows);
    const mayBeOld = mayBeOfLostTime(rows, journal, item);
    const isNamed =
      order && (aboutOf(order).cartItems?.includes(item) === true || (mayBeOld && isOfAny(order, journal)));
    if (!isNamed) {
      const doubt = mayBeOld && order?.outcome !== 'done' ? inDoubt(seen, journal) : undefined;
      return doubt && { how: 'ordered', placed: false, ...doubt };
    }
    const placed = order.outcome === 'done';
    return underWay(order, journal) ?? { how: 'ordered', placed, at: iso(order.intended_ms), run: order.run };
  }
  if (kind === 'compensate') return changeInFlight(rows, journal, { vmObjectId, besides: activity });
  const steps = kind === 'pivot' ? takenBackOf(rows, about.cartItems ?? []) : [];
  if (steps.length > 0) return { how: 'changed', why: `${steps.join(', ')}: undone since then` };
  return vmObjectId === undefined ? undefined : changeInFlight(rows, journal, { vmObjectId, kind: 'compensate' });
}

/**
 * If two changes of one server overlap, the last one wins. So firewalls are undone only when no other change of the
 * server can still take effect, and a run changes them only when no undo of an earlier run can. A call that was given
 * up without an answer may still take effect.
 *
 * @param besides the activity of calls that may overlap, because they do the same
 * @param kind only calls of this kind
 */
export function changeInFlight(
  rows: readonly Effect[],
  journal: Moment,
  { vmObjectId, besides, kind }: { vmObjectId: number | undefined; besides?: string; kind?: 'compensate' | undefined },
): UnderWay | undefined {
  const isOfKind = (row: Effect) => (kind === undefined ? row.kind !== 'pivot' : row.kind === kind);
  // Unknown without a failure: it was answered, and nobody has declared what that means.
  const mayBeOut = ({ outcome, failure }: Effect) => outcome === null || (outcome === 'unknown' && failure !== null);
  const meets = (row: Effect) =>
    mayBeOut(row) && isOfKind(row) && aboutOf(row).vmObjectId === vmObjectId && row.activity !== besides;
  const row = rows.find((one) => meets(one) && leftInFlight(one, journal) > 0);
  return row && { how: 'under-way', row: row.id, leftMs: leftInFlight(row, journal) };
}

/** @returns undefined where the call has an answer, or nobody can be sending it any more */
export function underWay(row: Effect | undefined, journal: Moment): UnderWay | undefined {
  const leftMs = row?.outcome === null ? leftInFlight(row, journal) : 0;
  return row && leftMs > 0 ? { how: 'under-way', row: row.id, leftMs } : undefined;
}

/**
 * A call that was done by hand also counts for a later run, until the step makes another call, or another saga has a
 * turn.
 *
 * @param rows all rows of the step, the oldest first
 * @param mine the turn that the journal has of the saga
 */
function doneByHand(
  rows: readonly Effect[],
  { call, turn }: Pick<Intent, 'call' | 'turn'>,
  mine: Seen['turn'],
): Effect | undefined {
  const last = rows.at(-1);
  if (last?.outcome !== 'done' || !isByHand(last, call)) return undefined;
  if (turn === undefined) return last;
  const begunMs = mine?.id === turn ? mine.begun_ms : null;
  return begunMs !== null && begunMs <= Number(last.decided_ms) ? last : undefined;
}

/** The row says that a person has done exactly this call. It may be undone since. */
export function isByHand({ decided_ms, kind, about }: Effect, call: EffectCall): boolean {
  return decided_ms !== null && kind === call.kind && about === JSON.stringify(call.about);
}

/** What the run learns with a row. */
export function cursorAt(
  { id, epoch }: Pick<JournalRow, 'id' | 'epoch'>,
  row: string,
  before: JournalCursor | undefined,
): JournalCursor & { row: string } {
  return { journal: id, epoch, row, fence: before?.fence };
}
