/**
 * A journal that was restored from an older copy, or whose database is another one: how that is noticed, and what is in
 * doubt because of it. The epoch is the time at which an operator has confirmed it last (`journal restored`); rows and references
 * of an older epoch may lack what was written in the lost time.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { EffectCall, JournalCursor } from '../../domain/effects';
import { nowMs } from '../database/dialects';
import {
  type Effect,
  effectOf,
  insertEffect,
  insertReference,
  iso,
  type JournalRow,
  livePivot,
  type IntendedCall,
  type Moment,
  type Reference,
  referenceOf,
  type SagaKey,
  theJournal,
  type Tx,
  type WrittenCall,
} from '../rows';
import type { Witness } from './witness';

/**
 * Compares the journal with what a run's history knows, and its database with the one that held it last. If rows are
 * missing, the journal was restored from an older copy, and nobody here knows what else was in the lost part; if the
 * database is another one, it may have been.
 *
 * @param cursor what the run's history knows
 * @param rows all of the saga, where they were read already
 * @returns a sentence; undefined where nothing is missing, or where a person has run `journal restored` since
 */
export async function whatIsLacking(
  tx: Tx,
  journal: JournalRow,
  failover: FailoverRule,
  { taken, cursor, rows = [] }: { taken: boolean; cursor: JournalCursor | undefined; rows?: readonly Effect[] },
): Promise<string | undefined> {
  const isThere = async (row: string) => rows.some(({ id }) => id === row) || (await effectOf(tx, row)) !== undefined;
  if (cursor !== undefined && !isSeenToSince(journal, cursor.epoch)) {
    const isAnother = cursor.journal !== journal.id;
    const there = taken && (cursor.row === undefined || (await isThere(cursor.row)));
    if (isAnother || !there || cursor.epoch !== journal.epoch) {
      await markRestored(tx, cursor.epoch);
      return isAnother
        ? 'this is not the journal that the saga began with'
        : 'the journal lacks what this saga wrote into it: it was restored from an older copy';
    }
  }
  const missing = await failover.witness?.epochOfMissing(journal, isThere);
  if (missing !== undefined) {
    await markRestored(tx, missing);
    return 'the journal lacks rows that this worker has seen: it was restored from an older copy';
  }
  const why = whyRestored(journal, failover.how);
  if (why === undefined) await follow(tx, journal, failover);
  failover.witness?.look(tx, journal);
  return why;
}

/** @returns a sentence, until a person has said what became of the journal */
export function whyRestored(journal: JournalRow, how: Failover): string | undefined {
  if (journal.restored_ms === null) return whyElsewhere(journal, how);
  return `the journal was found to be an older copy on ${iso(journal.restored_ms)}`;
}

/** The epoch was raised since: rows of the older epoch may be missing, and are in doubt. */
function isSeenToSince(journal: JournalRow, epoch: number): boolean {
  return journal.raised_ms > 0 && journal.epoch > epoch;
}

/** The epoch of a new reference; 0 (in doubt from the start) where it may be one that was lost. */
export function epochOfNew({ epoch, doubts_new }: Pick<JournalRow, 'epoch' | 'doubts_new'>): number {
  return doubts_new === 1 ? 0 : epoch;
}

/** Writes a row for a pivot that may have been sent in the lost time. A person is asked about it. */
export async function insertDoubt(tx: Tx, key: SagaKey, { epoch }: Moment, intended: WrittenCall): Promise<Effect> {
  const doubt = { id: randomUUID(), epoch, outcome: 'unknown', failure: restoredFailure } as const;
  return insertEffect(tx, key, intended, doubt);
}

/**
 * @returns since when the reference is in doubt; undefined where nothing was lost, or its fate in the lost time is
 * known
 */
export function inDoubt(
  { taken, rows }: { taken: Pick<Reference, 'epoch' | 'first_run'> | undefined; rows: readonly Effect[] },
  { epoch, raised_ms }: Moment,
): { at: string; run: string } | undefined {
  if (taken === undefined || taken.epoch === epoch) return undefined;
  if (rows.some((row) => row.kind === 'pivot' && row.epoch === epoch)) return undefined;
  return { at: iso(raised_ms), run: taken.first_run };
}

/** False for an item that was added after the journal was restored: it is in no order of the lost time. */
export function mayBeOfLostTime(rows: readonly Effect[], { epoch, raised_ms }: Moment, item: number): boolean {
  const isLater = (row: Effect) => row.kind === 'mutate' && row.cart_item_id === item && row.epoch === epoch;
  return raised_ms > 0 && !rows.some(isLater);
}

/** The row may stand for another order, from the lost time, with unknown items. */
export function isOfAny({ failure, decided_ms, epoch }: Effect, journal: Moment): boolean {
  return (
    failure === restoredFailure || (epoch < journal.epoch && decided_ms !== null && decided_ms >= journal.raised_ms)
  );
}

/** The failure of a row that stands for a pivot of the lost time. */
export const restoredFailure = 'JournalRestored';

/**
 * The row of a call that was answered is gone: the journal was restored in between. The row is written again, so that
 * its outcome is not lost as well; and the call counts as in flight like a new one.
 *
 * @returns for a pivot, the row that has taken its place, if any: one that a person was asked about, or another call
 */
export async function insertLost(
  tx: Tx,
  key: SagaKey,
  { call, run, cursor, inFlightMs }: IntendedCall,
): Promise<Effect> {
  const { epoch } = cursor;
  await noteLoss(tx, epoch);
  await insertReference(tx, key, run, epoch);
  const live = call.kind === 'pivot' ? await livePivot(tx, key) : undefined;
  if (live !== undefined) return live;
  return insertEffect(tx, key, { call, run, inFlightMs }, { id: cursor.row, epoch });
}

/** A pivot of which only is known that it may have been sent. */
export const lostPivot: EffectCall = { step: 'lost', kind: 'pivot', activity: '', about: {} };

/** The row that a person was asked about is gone: the journal only knows that the person has seen what was placed. */
export async function insertSeen(tx: Tx, key: SagaKey, row: string): Promise<void> {
  await noteLossOf(tx, key);
  await insertReference(tx, key, '', 0);
  const call = { call: lostPivot, run: '', inFlightMs: 0 };
  await insertEffect(tx, key, call, { id: row, epoch: 0, failure: restoredFailure });
}

/** The row of a question is gone. */
export async function noteLossOf(tx: Tx, key: SagaKey): Promise<void> {
  await noteLoss(tx, (await referenceOf(tx, key))?.epoch ?? 0);
}

/** A row of this epoch is gone: unless the epoch was raised since, the journal was restored. */
async function noteLoss(tx: Tx, epoch: number): Promise<void> {
  if (!isSeenToSince(await theJournal(tx), epoch)) await markRestored(tx, epoch);
}

/**
 * @param known the epoch of the run that noticed it: the next epoch must be greater, even if the database's clock is
 * behind
 */
async function markRestored(tx: Tx, known: number): Promise<void> {
  await sql`update journal set restored_ms = coalesce(restored_ms, ${nowMs(tx)}),
    epoch = case when epoch < ${known} then ${known} else epoch end`.execute(tx);
}

/** `lossless`: a later timeline of the same cluster has lost nothing, because every commit waits for the standby. */
export type Failover = 'ask' | 'lossless';

export interface FailoverRule {
  how: Failover;
  /** Is told of a failover that was taken for lossless. */
  warn: (message: string) => void;
  witness?: Witness | undefined;
}

export const askAboutFailovers: FailoverRule = { how: 'ask', warn: () => undefined };

type Identities = Pick<JournalRow, 'identity' | 'here'>;

/** @returns a sentence where a person has to say what became of the journal */
export function whyElsewhere({ identity, here }: Identities, how: Failover): string | undefined {
  if (identity === null || identity === here) return undefined;
  if (here === null) {
    return `the journal’s database does not say any more which one it is: it was on timeline ${describeIdentity(identity)}. Is it another one, or may this user not ask?`;
  }
  const [before, now] = [partsOf(identity), partsOf(here)];
  const isSameCluster = before.cluster === now.cluster;
  // A failover begins a later timeline: an earlier one is another copy.
  const isLater = isSameCluster && now.timeline > before.timeline;
  if (isLater && how === 'lossless') return undefined;
  const was = isSameCluster ? before.timeline : `timeline ${describeIdentity(identity)}`;
  return `the journal’s database was restored or failed over: it is on timeline ${describeIdentity(here)}, and was on ${was}`;
}

/** To be called only where {@link whyElsewhere} has no objection. Concurrent calls write and tell it once. */
async function follow(tx: Tx, { identity, here }: Identities, { warn }: FailoverRule): Promise<void> {
  if (here === null || identity === here) return;
  const { numAffectedRows } = await sql`
    update journal set identity = ${here} where identity is not distinct from ${identity}`.execute(tx);
  if (identity === null || numAffectedRows === 0n) return;
  warn(
    `the journal’s database failed over to timeline ${describeIdentity(here)}: by JOURNAL_FAILOVER nothing was lost, and sagas go on`,
  );
}

/** As after “timeline”. */
export function describeIdentity(identity: string): string {
  const { cluster, timeline } = partsOf(identity);
  return `${timeline} of cluster ${cluster}`;
}

function partsOf(identity: string) {
  const [cluster, timeline = ''] = identity.split('/');
  return { cluster, timeline: Number.parseInt(timeline, 16) };
}
