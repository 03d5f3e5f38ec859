/**
 * The journal's hot path: a reference is taken; an effect is meant (written down) before it is sent, and completed after it was
 * answered. The rules, and why they hold: docs/journal.md. The constraint that nothing here can break: migrations/0001.
 *
 * ```text
 *   mean ──▶ none ──answered──▶ done ──a later effect──▶ undone
 *              │  └────────────▶ not-done
 *              └──▶ unknown ──a person, or a look──▶ done · denied
 * ```
 *
 * Every transaction writes the reference's row first, as a lock (in PostgreSQL on the row, in SQLite on the file): concurrent calls
 * of one reference decide one after the other.
 */
import { randomUUID } from 'node:crypto';
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely';
import type { About, AnsweredOutcome, EffectCall, JournalKnowledge, OpenPivot, PivotNote } from '../domain/effects';
import { correctedBy } from '../domain/corrections';
import type { WorkflowName } from '../domain/identity';
import { purchaseOf, type Concern } from '../domain/spending';
import { stillDoneByHand } from './by-hand-rows';
import { correctionsOf, countCorrections, insertCorrection, type CorrectionRow } from './correction-rows';
import { nowMs } from './dialects';
import { asUnavailable, isUniqueViolation, JournalUnavailable, JournalUnreadable } from './errors';
import { notPutBack } from './put-back-firewalls';
import { insertPurchase, concernAbout, type Bought, type PurchaseRules } from './purchases';
import type { JournalTables } from './schema';
import type { Sealing } from './sealing';
import { endTurn, hasTurn, type Place } from './turn-rows';

export interface SagaKey {
  workflow: WorkflowName;
  reference: string;
}

export interface Meaning extends SagaKey {
  call: EffectCall;
  run: string;
  /** The run's namespace: the reference is open there from now on. Undefined where the reference is another saga's. */
  namespace?: string | undefined;
  /** What the run's history knows of the journal; undefined before the run has used it. */
  knows: JournalKnowledge | undefined;
  /** After so long the worker that means it now can no longer be sending it. */
  inAirMs: number;
  /** If the step has already made something, return its recorded answer and send nothing. Always so for a pivot. */
  recall?: boolean;
  /** Steps that must not have been undone: what is sent now relies on them. */
  restsOn?: readonly string[];
  /** If a person has done the call by hand, send nothing; see by-hand.ts. */
  countsByHand?: boolean;
  /** Is sealed. */
  note?: PivotNote | undefined;
  /** The saga's turn, if it has one. After the turn is over, nothing is meant. */
  turn?: string | undefined;
  /** For a pivot: how many corrections of the request the run knows. */
  corrections?: number | undefined;
  /** For a pivot: the run has no agreed terms, so it gets only what is known of the pivot, and nothing is meant. */
  recallOnly?: boolean | undefined;
  /** For a pivot: the operator's rules for purchases, over all references. */
  rules?: PurchaseRules | undefined;
}

/** A meaning, ready to be written. */
type Noted = Omit<Meaning, 'note'> & {
  note: string | null;
  /** For a pivot. */
  boughtBy?: (tx: Tx) => Promise<Bought | undefined>;
};

export type Meant =
  | { how: 'send'; knows: JournalKnowledge & { row: string }; doubts: number }
  | { how: 'recorded'; knows: JournalKnowledge; answer: unknown; at: string; run: string; doubts: number }
  /** The first call may still be in the air for so long: ask again then. */
  | { how: 'under-way'; row: string; leftMs: number }
  | ({ how: 'unknown'; leftMs: number } & OpenPivot)
  /** These steps, on which it rests, were undone since. */
  | { how: 'undone'; steps: string[] }
  /** The item is in an order that was placed, or may have been. */
  | { how: 'ordered'; placed: boolean; at: string; run: string }
  | { how: 'put-back'; why: string }
  /** The request was corrected since: the run knows an older version. */
  | { how: 'corrected' }
  /** The saga's turn is over: another saga may have worked on the same server or subscription since. */
  | { how: 'turn-lost' }
  /** It may be meant, but not by a run without agreed terms. */
  | { how: 'no-terms' }
  /** A person has to agree first. */
  | { how: 'asks'; concern: Concern };

/** A call that was meant, as the worker that made it knows it. */
export interface MeantCall {
  call: EffectCall;
  run: string;
  /** As in {@link Meaning}, in case the row has to be written again. */
  inAirMs: number;
  knows: JournalKnowledge & { row: string };
}

export interface Answer {
  outcome: AnsweredOutcome;
  /** The failure's name where it failed. */
  failure?: string | undefined;
  /** The value of a call that is done; the failure's facts of a call that failed. */
  answer: unknown;
  /** The id of a cart item that was added. */
  cartItemId?: number | undefined;
}

/** The run that took a reference first, and its request. */
export interface FirstTaken {
  at: string;
  run: string;
  request: unknown;
  corrections: unknown[];
}

export interface SealedCorrection {
  correction: unknown;
  by?: string | undefined;
  note?: string | undefined;
}

export interface Corrected extends SealedCorrection {
  /** Random. */
  id: string;
  run: string;
  step: string;
}

export interface Verdict {
  by?: string | undefined;
  note: string;
}

type Effect = Selectable<JournalTables['effect']>;
type JournalRow = Selectable<JournalTables['journal']>;
export type Tx = Transaction<JournalTables>;

const mayHaveHappened = (outcome: Effect['outcome']) => outcome === null || outcome === 'unknown' || outcome === 'done';

export class Journal {
  constructor(
    readonly db: Kysely<JournalTables>,
    readonly sealing: Sealing,
  ) {}

  /**
   * Takes a reference for ever, or finds the run that took it.
   *
   * @param namespace the run's: the reference is open there until an ending is written
   * @returns the request that it was taken with first, undefined where only its effects are still known; and the corrections since, in
   * order
   * @throws JournalUnavailable, JournalUnreadable
   */
  async take(
    key: SagaKey,
    {
      account,
      request,
      run,
      namespace,
    }: { account: string | undefined; request: unknown; run: string; namespace?: string },
  ): Promise<{ knows: JournalKnowledge; first: FirstTaken | undefined }> {
    const sealed = await this.sealing.seal(request);
    const { journal, first, corrected } = await this.inTransaction(async (tx) => {
      const journal = await theJournal(tx);
      const now = nowMs(tx);
      const inserted = await tx
        .insertInto('reference')
        .values({
          ...key,
          account: account ?? null,
          request: sealed,
          first_seen_ms: now,
          first_run: run,
          epoch: epochOfNew(journal),
          touched_ms: now,
          open_in: namespace ?? null,
          runs: namespace === undefined ? null : ` ${run} `,
        })
        .onConflict((conflict) => conflict.columns(['workflow', 'reference']).doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows === 1n) return { journal, first: undefined, corrected: [] };
      // After the journal was put back, an effect or a doubt may have come before its reference: the request is filled in.
      await tx
        .updateTable('reference')
        .set({ account: account ?? null, request: sealed })
        .where((where) => where.and({ ...key }))
        .where('request', 'is', null)
        .execute();
      return { journal, first: await referenceOf(tx, key), corrected: await correctionsOf(tx, key) };
    });
    const knows = { journal: journal.id, epoch: journal.epoch };
    if (first === undefined) return { knows, first };
    const original = first.request === null ? undefined : await this.unseal(first.request, 'the first request');
    const corrections = await this.unsealAll(corrected);
    return { knows, first: { at: iso(first.first_seen_ms), run: first.first_run, request: original, corrections } };
  }

  /**
   * Writes a correction, before anything is sent with it. A second call with the same id changes nothing.
   *
   * @returns `placed`, and writes nothing, where the pivot happened, or may have: it was sent without the correction
   * @throws JournalUnavailable
   */
  async correct(key: SagaKey, { id, run, step, ...said }: Corrected): Promise<'written' | 'placed'> {
    const correction = await this.sealing.seal(said satisfies SealedCorrection);
    return this.inTransaction(async (tx) => {
      await lock(tx, key);
      if ((await livePivot(tx, key)) !== undefined) return 'placed';
      await insertCorrection(tx, { ...key, id, run, step, correction });
      return 'written';
    });
  }

  /** Whether the reference was ever taken, with a request. @throws JournalUnavailable */
  async isTaken(key: SagaKey): Promise<boolean> {
    const reference = await this.inTransaction((tx) => referenceOf(tx, key));
    return reference !== undefined && reference.request !== null;
  }

  /**
   * Writes down what is about to be sent, or says why it must not be sent.
   *
   * @throws JournalUnavailable, with the row's id where the row may have been written anyway; JournalUnreadable
   */
  async mean(meaning: Meaning): Promise<Meant> {
    const row = randomUUID();
    const { note } = meaning;
    const noted = {
      ...meaning,
      note: note === undefined ? null : await this.sealing.seal(note),
      boughtBy: (tx: Tx) => this.boughtBy(tx, meaning),
    };
    try {
      const decided = await this.decideTwiceAtMost(noted, row);
      if (decided.how === 'unknown') return { ...decided, note: await this.noteOf(decided.note) };
      if (decided.how !== 'recorded') return decided;
      const { effect, ...rest } = decided;
      return { ...rest, answer: await this.unseal(effect.answer ?? 'null', `the answer of ${effect.step}`) };
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) throw error;
      // The connection may have been lost after the commit: then the row exists.
      const written = await this.findWritten(meaning, row).catch(() => undefined);
      if (written) return written;
      throw new JournalUnavailable(error.why, { cause: error, row });
    }
  }

  private async unsealAll(rows: readonly CorrectionRow[]): Promise<unknown[]> {
    const corrections: unknown[] = [];
    for (const { correction } of rows) {
      corrections.push(((await this.unseal(correction, 'a correction')) as SealedCorrection).correction);
    }
    return corrections;
  }

  /**
   * What the call buys, by the journal's request and corrections; the run's own request does not count.
   *
   * @returns undefined where the call buys nothing, and where the request is no longer known
   */
  private async boughtBy(tx: Tx, { workflow, reference, rules, note }: Meaning): Promise<Bought | undefined> {
    if (rules === undefined) return undefined;
    const taken = await referenceOf(tx, { workflow, reference });
    const sealed = taken?.request ?? undefined;
    if (sealed === undefined) return undefined;
    const { planTypesMore, duplicateWithinMs, spendLimits } = rules;
    const unsealed = await this.unseal(sealed, 'the first request').catch((error: unknown) => {
      if (duplicateWithinMs > 0 || spendLimits.length > 0) throw error;
      return undefined;
    });
    if (unsealed === undefined) return undefined;
    const corrections = await this.unsealAll(await correctionsOf(tx, { workflow, reference }));
    const purchase = purchaseOf(workflow, correctedBy(corrections, workflow, unsealed), planTypesMore);
    if (purchase === undefined) return undefined;
    const { account, what, servers, items, currency } = purchase;
    const quote = note?.quote;
    return {
      account: account ?? null,
      digests: this.sealing.digests(what),
      servers: servers ?? null,
      items: items ?? null,
      total: quote?.total ?? null,
      currency: (quote?.currency ?? currency)?.toLowerCase() ?? null,
    };
  }

  /** The constraint is violated only where a lock has failed; then the rows are read once more. */
  private async decideTwiceAtMost(meaning: Noted, row: string): Promise<Decided> {
    try {
      return await this.inTransaction((tx) => decide(tx, meaning, row));
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      return this.inTransaction((tx) => decide(tx, meaning, row));
    }
  }

  /** Finds the row of a commit whose confirmation was lost. */
  private async findWritten({ workflow, reference, call, recall }: Meaning, row: string): Promise<Meant | undefined> {
    return this.inTransaction(async (tx) => {
      const key = { workflow, reference };
      // Waits for that commit, if the database is still working on it.
      await lock(tx, key);
      const found = await effectOf(tx, row);
      if (found === undefined) return undefined;
      const { id } = await theJournal(tx);
      const doubts = doubtsBeside(row, await rowsOfStep(tx, key, call), recall);
      return { how: 'send', knows: { journal: id, epoch: found.epoch, row }, doubts };
    });
  }

  /**
   * Completes a row. Writing the same outcome again does nothing.
   *
   * @returns `late` where it took effect although the journal says that it did not, or where another call has taken its place: the
   * answer is then kept as `late`
   * @throws JournalUnavailable
   */
  async answered(
    key: SagaKey,
    meant: MeantCall,
    { outcome, failure, answer, cartItemId }: Answer,
  ): Promise<'written' | 'late'> {
    const sealed = await this.sealing.seal(answer);
    return this.inTransaction(async (tx) => {
      await lock(tx, key);
      const { call, knows } = meant;
      const found = await effectOf(tx, knows.row);
      // Perhaps the row was never written. The call did nothing, so nothing is lost.
      if (found === undefined && outcome === 'not-done') return 'written';
      const row = found ?? (await insertLost(tx, key, meant));
      const says = whatAnswerSays(row, knows.row, outcome);
      if (says === 'nothing') return 'written';
      const answered = { outcome, answered_ms: nowMs(tx), answer: sealed };
      // A row of doubt keeps its failure.
      const completed = row.id === knows.row ? { ...answered, failure: failure ?? null } : answered;
      const item = cartItemId === undefined ? {} : { cart_item_id: cartItemId };
      // A pivot that was denied but did happen counts, unless it was sent again meanwhile.
      const counts = says === 'complete' || (call.kind === 'pivot' && (await livePivot(tx, key)) === undefined);
      await tx
        .updateTable('effect')
        .set({ ...(says === 'late' ? { late: sealed } : {}), ...(counts ? { ...completed, ...item } : {}) })
        .where('id', '=', row.id)
        .execute();
      if (call.kind === 'compensate' && outcome === 'done') await markUndone(tx, key, call, row.id);
      return says === 'late' ? 'late' : 'written';
    });
  }

  /**
   * Writes that a pivot of unknown outcome has happened: a person has seen it, or a search has found it. Also where the row is gone.
   *
   * @throws JournalUnavailable
   */
  async confirm(
    key: SagaKey,
    row: string,
    answer: unknown,
    verdict: Verdict | undefined,
  ): Promise<'done' | 'superseded'> {
    const sealed = await this.sealing.seal(answer);
    const decided = verdict && (await this.sealing.seal(verdict));
    try {
      return await this.inTransaction<'done'>(async (tx) => {
        await lock(tx, key);
        const found = await effectOf(tx, row);
        if (found?.outcome === 'done') return 'done';
        if (found === undefined) await insertSeen(tx, key, row);
        const now = nowMs(tx);
        await tx
          .updateTable('effect')
          .set({ outcome: 'done', answer: sealed, ...(decided ? { decided, decided_ms: now } : { answered_ms: now }) })
          .where('id', '=', row)
          .execute();
        return 'done';
      });
    } catch (error) {
      // A person said that it had not happened, and it was meant again: the other row is the one to ask about.
      if (isUniqueViolation(error)) return 'superseded';
      throw error;
    }
  }

  /**
   * Writes that, as a person says, a pivot of unknown outcome has not happened.
   *
   * @returns `in-air`, and changes nothing, while the worker that meant it may still be sending; `done` where the journal knows by now
   * that it has happened
   * @throws JournalUnavailable
   */
  async deny(
    key: SagaKey,
    row: string,
    verdict: Verdict,
  ): Promise<{ how: 'denied' | 'done' } | { how: 'in-air'; leftMs: number }> {
    const decided = await this.sealing.seal(verdict);
    return this.inTransaction(async (tx) => {
      await lock(tx, key);
      const found = await effectOf(tx, row);
      if (found === undefined) await noteLoss(tx, key);
      if (found?.outcome === 'done') return { how: 'done' };
      if (found === undefined || (found.outcome !== null && found.outcome !== 'unknown')) return { how: 'denied' };
      const leftMs = await leftInAir(tx, found, await theJournal(tx));
      if (leftMs > 0) return { how: 'in-air', leftMs };
      await tx
        .updateTable('effect')
        .set({ outcome: 'denied', decided, decided_ms: nowMs(tx) })
        .where('id', '=', row)
        .execute();
      return { how: 'denied' };
    });
  }

  /**
   * Writes how a run ended, for when Temporal has forgotten it.
   *
   * @returns the saga to notify, if one waits for what this run worked on
   * @throws JournalUnavailable
   */
  async ended(
    key: SagaKey,
    { run, by, outcome, report, resource, leavesOpen, seenMs }: Ending,
  ): Promise<Place | undefined> {
    const sealed = await this.sealing.seal(report);
    return this.inTransaction(async (tx) => {
      if (by !== key.workflow) await closeAsSeen(tx, key, { leavesOpen, seenMs });
      else await closeByRun(tx, key, run);
      const isTaken = await lock(tx, key);
      const isInAir = resource !== undefined && (await inAirOf(tx, key)) > 0;
      const next = resource === undefined ? undefined : await endTurn(tx, key, resource, { isInAir });
      if (!isTaken) return next;
      const ending = { ended_by: by, outcome, report: sealed, ended_ms: nowMs(tx) };
      await tx
        .insertInto('ending')
        .values({ ...key, run, ...ending })
        .onConflict((conflict) => conflict.columns(['workflow', 'reference', 'run']).doUpdateSet(ending))
        .execute();
      return next;
    });
  }

  /** @throws JournalUnreadable */
  async noteOf(sealed: string | null): Promise<PivotNote | undefined> {
    return sealed === null ? undefined : ((await this.unseal(sealed, 'what was sent')) as PivotNote);
  }

  /** @throws JournalUnreadable */
  async unseal(sealed: string, what: string): Promise<unknown> {
    try {
      return await this.sealing.unseal(sealed);
    } catch (error) {
      throw new JournalUnreadable(what, { cause: error });
    }
  }

  /** @throws JournalUnavailable */
  async inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.db.transaction().execute(work);
    } catch (error) {
      throw isUniqueViolation(error) ? error : asUnavailable(error);
    }
  }

  /** Waits for running queries, and closes the connections. */
  close(): Promise<void> {
    return this.db.destroy();
  }
}

export interface Ending {
  run: string;
  /** The workflow of the run: the reference's own, or `cleanCart`. */
  by: WorkflowName;
  outcome: string;
  /** Is sealed. */
  report: unknown;
  /** What it worked on, or waited for. Its turn ends here; the next turn begins once no call of it can be in the air. */
  resource?: string | undefined;
  /** A clean-up did not settle everything: the saga stays lost. */
  leavesOpen?: boolean | undefined;
  /** For a clean-up: everything was settled at this time. If the reference was used since, the saga stays open. */
  seenMs?: number | undefined;
}

type Decided =
  | Exclude<Meant, { how: 'recorded' | 'unknown' }>
  | (Omit<Extract<Meant, { how: 'unknown' }>, 'note'> & { note: string | null })
  | (Omit<Extract<Meant, { how: 'recorded' }>, 'answer'> & { effect: Effect });

async function decide(tx: Tx, meaning: Noted, row: string): Promise<Decided> {
  const { workflow, reference, namespace, run, call, knows } = meaning;
  const key = { workflow, reference };
  const taken = await lock(tx, key, namespace === undefined ? undefined : { namespace, run });
  const journal = await theJournal(tx);
  const lacks = await whatIsLacking(tx, journal, taken, knows);
  if (lacks !== undefined) return { how: 'put-back', why: lacks };
  if (!taken) await insertReference(tx, key, run, knows?.epoch ?? epochOfNew(journal), namespace);

  const rows = await rowsOfStep(tx, key, call);
  // An undo of something that is gone is recorded already: no other reason counts.
  const isGone = call.kind === 'compensate' && recall(rows, meaning) !== undefined;
  const refused = isGone ? undefined : await whyNot(tx, key, journal, call, meaning.restsOn ?? []);
  if (refused !== undefined) return refused;

  const known =
    call.kind === 'pivot'
      ? await decidePivot(tx, key, journal, rows, meaning)
      : (recall(rows, meaning) ?? (await byHand(tx, key, rows, meaning)));
  if (known !== undefined) {
    if ('how' in known) return known;
    const at = iso(known.effect.answered_ms ?? known.effect.decided_ms ?? known.effect.meant_ms);
    const knowledge = { journal: journal.id, epoch: journal.epoch, row: known.effect.id };
    return {
      how: 'recorded',
      knows: knowledge,
      at,
      run: known.effect.run,
      doubts: doubtsBeside(known.effect.id, rows, meaning.recall),
      effect: known.effect,
    };
  }
  if (meaning.recall) {
    const youngest = rows.findLast(isDoubtful);
    const leftMs = youngest?.outcome === null ? await leftInAir(tx, youngest, journal) : 0;
    if (youngest && leftMs > 0) return { how: 'under-way', row: youngest.id, leftMs };
  }
  if (meaning.turn !== undefined && !(await hasTurn(tx, key, meaning.turn))) return { how: 'turn-lost' };
  if (meaning.recallOnly) return { how: 'no-terms' };
  const { rules } = meaning;
  const bought = await meaning.boughtBy?.(tx);
  const concern = bought && rules && (await concernAbout(tx, key, bought, rules));
  if (concern) return { how: 'asks', concern };
  await insertEffect(tx, key, meaning, { id: row, epoch: journal.epoch });
  if (bought) await insertPurchase(tx, row, bought);
  const doubts = doubtsBeside(row, rows, meaning.recall);
  return { how: 'send', knows: { journal: journal.id, epoch: journal.epoch, row }, doubts };
}

/**
 * Compares the journal with what a run's history knows. If rows are missing, the journal was put back to an older copy, and nobody
 * here knows what else was in the lost part.
 *
 * @returns a sentence; undefined where nothing is missing, or where a person has run `journal restored` since
 */
export async function whatIsLacking(
  tx: Tx,
  journal: JournalRow,
  taken: boolean,
  knows: JournalKnowledge | undefined,
): Promise<string | undefined> {
  if (knows !== undefined && !isSeenToSince(journal, knows.epoch)) {
    const isAnother = knows.journal !== journal.id;
    const there = taken && (knows.row === undefined || (await effectOf(tx, knows.row)) !== undefined);
    if (isAnother || !there || knows.epoch !== journal.epoch) {
      await markPutBack(tx, knows.epoch);
      return isAnother
        ? 'this is not the journal that the saga began with'
        : 'the journal lacks what this saga wrote into it: it was put back to an older copy';
    }
  }
  if (journal.put_back_ms === null) return undefined;
  return `the journal was found to be an older copy on ${iso(journal.put_back_ms)}`;
}

/** Whether the epoch was raised since: then rows of the older epoch may be missing, and are in doubt. */
function isSeenToSince(journal: JournalRow, epoch: number): boolean {
  return journal.raised_ms > 0 && journal.epoch > epoch;
}

/** The epoch of a new reference; 0 (in doubt from the start) where it may be one that was lost. */
export function epochOfNew({ epoch, doubts_new }: Pick<JournalRow, 'epoch' | 'doubts_new'>): number {
  return doubts_new === 1 ? 0 : epoch;
}

/** Why other calls about the same things forbid this call now. */
async function whyNot(
  tx: Tx,
  key: SagaKey,
  journal: JournalRow,
  { kind, activity, about }: EffectCall,
  restsOn: readonly string[],
): Promise<Exclude<Decided, { how: 'recorded' | 'send' }> | undefined> {
  if (kind === 'compensate' && about.cartItemId !== undefined) {
    const item = about.cartItemId;
    const order = await livePivot(tx, key);
    const mayBeOld = await mayBeOfLostTime(tx, key, journal, item);
    const isNamed = order && (names(order, item) || (mayBeOld && isOfAny(order, journal)));
    if (!isNamed) {
      const doubt = mayBeOld && order?.outcome !== 'done' ? await inDoubt(tx, key, journal) : undefined;
      return doubt && { how: 'ordered', placed: false, ...doubt };
    }
    const leftMs = order.outcome === null ? await leftInAir(tx, order, journal) : 0;
    if (leftMs > 0) return { how: 'under-way', row: order.id, leftMs };
    return { how: 'ordered', placed: order.outcome === 'done', at: iso(order.meant_ms), run: order.run };
  }
  if (kind === 'compensate') return changeInAir(tx, key, journal, { vmObjectId: about.vmObjectId, besides: activity });
  const items = kind === 'pivot' ? (about.cartItems ?? []) : [];
  const steps = await takenBackOf(tx, key, items, restsOn);
  if (steps.length > 0) return { how: 'undone', steps };
  const { vmObjectId } = about;
  return vmObjectId === undefined ? undefined : changeInAir(tx, key, journal, { vmObjectId, kind: 'compensate' });
}

/** Steps that made these items, or have these ids, and were undone, or are being undone. */
async function takenBackOf(
  tx: Tx,
  key: SagaKey,
  items: readonly number[],
  restsOn: readonly string[],
): Promise<string[]> {
  if (items.length === 0 && restsOn.length === 0) return [];
  const rows = await tx
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .where((where) =>
      where.or([
        ...(items.length > 0 ? [where('cart_item_id', 'in', [...items])] : []),
        ...(restsOn.length > 0 ? [where('step', 'in', [...restsOn])] : []),
      ]),
    )
    .where('kind', '!=', 'pivot')
    .orderBy('seq')
    .execute();
  const steps = rows.filter((row) => row.kind === 'mutate' && isTakenBack(row, rows)).map(({ step }) => step);
  return [...new Set(steps)];
}

/**
 * If two changes of one server overlap, the last one wins. So firewalls are put back only when no other change of the server can still
 * take effect, and a run changes them only when no undo of an earlier run can. A call that was given up without an answer may still
 * take effect.
 *
 * @param besides the activity of calls that may overlap, because they do the same
 * @param kind only calls of this kind
 */
export async function changeInAir(
  tx: Tx,
  key: SagaKey,
  journal: JournalRow,
  { vmObjectId, besides, kind }: { vmObjectId: number | undefined; besides?: string; kind?: 'compensate' | undefined },
): Promise<{ how: 'under-way'; row: string; leftMs: number } | undefined> {
  const isMeant = (row: Effect) => (kind === undefined ? row.kind !== 'pivot' : row.kind === kind);
  const meets = (row: Effect) => isMeant(row) && aboutOf(row).vmObjectId === vmObjectId && row.activity !== besides;
  for (const row of (await openRows(tx, key)).filter(meets)) {
    const leftMs = await leftInAir(tx, row, journal);
    if (leftMs > 0) return { how: 'under-way', row: row.id, leftMs };
  }
  return undefined;
}

/**
 * Whether what a row made was undone, or may have been. If the step was surely done again, or the provider gave the same id again, only
 * the last time counts.
 */
function isTakenBack(row: Effect, rows: readonly Effect[]): boolean {
  const item = row.cart_item_id;
  const isRepeatOf = ({ kind, step, seq, outcome, cart_item_id }: Effect) =>
    kind === 'mutate' &&
    outcome === 'done' &&
    seq > row.seq &&
    (item === null ? step === row.step : cart_item_id === item);
  if (rows.some(isRepeatOf)) return false;
  return row.outcome === 'undone' || rows.some((other) => takesBack(other, row));
}

function takesBack(other: Effect, { step, seq, cart_item_id }: Effect): boolean {
  return (
    other.kind === 'compensate' &&
    other.step === step &&
    other.seq > seq &&
    mayHaveHappened(other.outcome) &&
    (cart_item_id === null || other.cart_item_id === cart_item_id)
  );
}

type Known = { effect: Effect } | Exclude<Decided, { how: 'recorded' | 'send' }>;

/** @returns what is known of the pivot; undefined where a new one may be meant */
async function decidePivot(
  tx: Tx,
  key: SagaKey,
  journal: JournalRow,
  rows: readonly Effect[],
  meaning: Noted,
): Promise<Known | undefined> {
  // This also counts for a placed pivot: the number of its servers follows from all corrections.
  if ((await countCorrections(tx, key)) > (meaning.corrections ?? 0)) return { how: 'corrected' };
  const live = rows.find(({ kind, outcome }) => kind === 'pivot' && mayHaveHappened(outcome));
  if (live?.outcome === 'done') return { effect: live };
  if (live !== undefined) {
    const leftMs = await leftInAir(tx, live, journal);
    if (live.outcome === null && leftMs > 0) return { how: 'under-way', row: live.id, leftMs };
    return unknown(live, leftMs);
  }
  // The doubt names no items: those that the call names now may have been added since.
  const doubt = await insertDoubt(tx, key, journal, { ...meaning, call: { ...meaning.call, about: {} } });
  return doubt && unknown(doubt, await leftInAir(tx, doubt, journal));
}

/** Writes a row for a pivot that may have been sent in the lost time. A person is asked about it. */
export async function insertDoubt(
  tx: Tx,
  key: SagaKey,
  journal: JournalRow,
  meant: Insertable,
): Promise<Effect | undefined> {
  if ((await inDoubt(tx, key, journal)) === undefined) return undefined;
  const id = randomUUID();
  await insertEffect(tx, key, meant, { id, epoch: journal.epoch, outcome: 'unknown', failure: putBack });
  return effectOf(tx, id);
}

/** @returns since when the reference is in doubt; undefined where nothing was lost, or its fate in the lost time is known */
export async function inDoubt(
  tx: Kysely<JournalTables>,
  key: SagaKey,
  { epoch, raised_ms }: JournalRow,
): Promise<{ at: string; run: string } | undefined> {
  const reference = await referenceOf(tx, key);
  if (reference === undefined || reference.epoch === epoch) return undefined;
  const pivots = await rowsOfStep(tx, key, { kind: 'pivot', step: '' });
  if (pivots.some((row) => row.epoch === epoch)) return undefined;
  return { at: iso(raised_ms), run: reference.first_run };
}

function names(order: Effect, item: number): boolean {
  return aboutOf(order).cartItems?.includes(item) ?? false;
}

/** False for an item that was added after the journal was put back: it is in no order of the lost time. */
async function mayBeOfLostTime(tx: Tx, key: SagaKey, { epoch, raised_ms }: JournalRow, item: number): Promise<boolean> {
  if (raised_ms === 0) return false;
  const added = await tx
    .selectFrom('effect')
    .select('epoch')
    .where((where) => where.and({ ...key }))
    .where('kind', '=', 'mutate')
    .where('cart_item_id', '=', item)
    .execute();
  return !added.some((row) => row.epoch === epoch);
}

/** Whether the row may stand for another order, from the lost time, with unknown items. */
function isOfAny({ failure, decided_ms, epoch }: Effect, journal: JournalRow): boolean {
  return failure === putBack || (epoch < journal.epoch && decided_ms !== null && decided_ms >= journal.raised_ms);
}

/** The failure of a row that stands for a pivot of the lost time. */
export const putBack = 'JournalPutBack';

function unknown(pivot: Effect, leftMs: number): Known {
  return { how: 'unknown', ...openPivot(pivot), note: pivot.note, leftMs };
}

export function openPivot({ id, meant_ms, run, in_air_ms, failure }: Effect): Omit<OpenPivot, 'note'> {
  return { row: id, at: iso(meant_ms), run, inAirMs: in_air_ms, putBack: failure === putBack };
}

/** A call of a repeatable step with an unknown outcome. */
function isDoubtful({ kind, outcome }: Effect): boolean {
  return kind === 'mutate' && (outcome === null || outcome === 'unknown');
}

/**
 * Counts the other calls of a repeatable step that may have made something that is still there. Where a second call makes a second thing,
 * one that is done counts, too: what it made is surely gone only when its row is `undone`.
 *
 * @param row of the call that counts for the run
 * @param makesMore as `recall` in {@link Meaning}
 */
function doubtsBeside(row: string, rows: readonly Effect[], makesMore = false): number {
  const mayBeThere = (other: Effect) =>
    isDoubtful(other) || (makesMore && other.kind === 'mutate' && other.outcome === 'done');
  return rows.filter((other) => other.id !== row && mayBeThere(other)).length;
}

/** The step's recorded answer, if what it made has not been undone. */
function recall(rows: readonly Effect[], { call, recall: wanted }: Pick<Noted, 'call' | 'recall'>): Known | undefined {
  if (call.kind === 'compensate') {
    // A provider may give an id again: the last item that had it counts.
    const item = call.about.cartItemId ?? -1;
    const last = rows.findLast(({ kind, cart_item_id }) => kind === 'mutate' && cart_item_id === item);
    const gone = last?.outcome === 'undone' ? last : undefined;
    return gone && { effect: rows.find(({ id }) => id === gone.undone_by) ?? gone };
  }
  if (!wanted) return undefined;
  // An item that was added before a correction is another item.
  const isSame = (row: Effect) => aboutOf(row).corrected === call.about.corrected;
  const made = rows.filter((row) => row.kind === 'mutate' && row.outcome === 'done' && isSame(row));
  const effect = made.findLast((row) => !rows.some((other) => takesBack(other, row)));
  return effect && { effect };
}

async function byHand(tx: Tx, key: SagaKey, rows: readonly Effect[], meaning: Noted): Promise<Known | undefined> {
  const effect = meaning.countsByHand ? await stillDoneByHand(tx, key, rows, meaning) : undefined;
  return effect && { effect };
}

export function livePivot(tx: Tx, key: SagaKey): Promise<Effect | undefined> {
  return tx
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .where('kind', '=', 'pivot')
    .where((where) => where.or([where('outcome', 'is', null), where('outcome', 'in', ['done', 'unknown'])]))
    .executeTakeFirst();
}

/** All rows of the step, the oldest first; for a pivot, the rows of all pivots of the saga. */
export function rowsOfStep(
  tx: Kysely<JournalTables>,
  key: SagaKey,
  { kind, step }: Pick<EffectCall, 'kind' | 'step'>,
): Promise<Effect[]> {
  return tx
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .where((where) => (kind === 'pivot' ? where('kind', '=', 'pivot') : where('step', '=', step)))
    .orderBy('seq')
    .execute();
}

/** Milliseconds until no worker can still be sending it, counted from when it was meant or the journal was put back. */
export async function leftInAir(tx: Tx, { meant_ms, in_air_ms }: Effect, { raised_ms }: JournalRow): Promise<number> {
  const { now } = await tx.selectNoFrom(nowMs(tx).as('now')).executeTakeFirstOrThrow();
  return Math.max(0, Math.max(meant_ms, raised_ms) + in_air_ms - now);
}

/** Calls of a saga with no outcome yet, or an unknown one. */
function openRows(tx: Tx, { workflow, reference }: SagaKey): Promise<Effect[]> {
  return tx
    .selectFrom('effect')
    .selectAll()
    .where((where) => where.and({ workflow, reference }))
    .where((where) => where.or([where('outcome', 'is', null), where('outcome', '=', 'unknown')]))
    .execute();
}

/** Milliseconds until no call of a saga can still be sent or take effect. */
export async function inAirOf(tx: Tx, key: SagaKey): Promise<number> {
  const journal = await theJournal(tx);
  let leftMs = 0;
  for (const row of await openRows(tx, key)) leftMs = Math.max(leftMs, await leftInAir(tx, row, journal));
  return leftMs;
}

/** @param by the run in which the reference is open from now on, unless it already is. @returns false where it is not known */
export async function lock(tx: Tx, key: SagaKey, by?: { namespace: string; run: string }): Promise<boolean> {
  const locked = await tx
    .updateTable('reference')
    .set((set) => ({
      touched_ms: nowMs(tx),
      ...(by ? { open_in: set.fn.coalesce('open_in', set.val(by.namespace)), runs: runsWith(by.run) } : {}),
    }))
    .where((where) => where.and({ ...key }))
    .executeTakeFirst();
  return locked.numUpdatedRows > 0n;
}

const anywhere = (run: string) => `% ${run} %`;

function runsWith(run: string) {
  return sql<string>`case when runs like ${anywhere(run)} then runs else coalesce(runs, ' ') || ${`${run} `} end`;
}

/**
 * Closes the reference, unless a later run has been seen: the ending of a run that was reset may be written late. A run that was not seen
 * before is later than all others.
 */
async function closeByRun(tx: Tx, key: SagaKey, run: string): Promise<void> {
  const isLater = sql<boolean>`runs like ${anywhere(run)} and runs not like ${`% ${run} `}`;
  await tx
    .updateTable('reference')
    .set({ open_in: sql`case when ${isLater} then open_in end`, runs: runsWith(run) })
    .where((where) => where.and({ ...key }))
    .execute();
}

/** Closes the reference of another saga, unless it was used since `seenMs`. */
async function closeAsSeen(
  tx: Tx,
  key: SagaKey,
  { leavesOpen, seenMs }: Pick<Ending, 'leavesOpen' | 'seenMs'>,
): Promise<void> {
  if (leavesOpen) return;
  await tx
    .updateTable('reference')
    .set({ open_in: null })
    .where((where) => where.and({ ...key, ...(seenMs === undefined ? {} : { touched_ms: seenMs }) }))
    .execute();
}

export function theJournal(tx: Kysely<JournalTables>): Promise<JournalRow> {
  return tx.selectFrom('journal').selectAll().executeTakeFirstOrThrow();
}

export function referenceOf(tx: Kysely<JournalTables>, key: SagaKey) {
  return tx
    .selectFrom('reference')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .executeTakeFirst();
}

function effectOf(tx: Tx, id: string): Promise<Effect | undefined> {
  return tx.selectFrom('effect').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function insertReference(
  tx: Tx,
  key: SagaKey,
  run: string,
  epoch: number,
  namespace?: string,
): Promise<void> {
  const now = nowMs(tx);
  const times = { first_seen_ms: now, touched_ms: now };
  const opened = namespace === undefined ? {} : { open_in: namespace, runs: ` ${run} ` };
  const row = { ...key, ...times, account: null, request: null, first_run: run, epoch, ...opened };
  await tx.insertInto('reference').values(row).execute();
}

type Insertable = Pick<Noted, 'call' | 'run' | 'inAirMs'> & Partial<Pick<Noted, 'note'>>;

export async function insertEffect(
  tx: Tx,
  key: SagaKey,
  { call: { about, ...call }, run, inAirMs, note = null }: Insertable,
  row: Pick<Effect, 'id' | 'epoch'> & Partial<Pick<Effect, 'outcome' | 'failure'>>,
): Promise<void> {
  await tx
    .insertInto('effect')
    .values({
      ...key,
      ...call,
      ...row,
      run,
      about: JSON.stringify(about),
      note,
      cart_item_id: about.cartItemId ?? null,
      vm_object_id: about.vmObjectId ?? null,
      meant_ms: nowMs(tx),
      in_air_ms: inAirMs,
    })
    .execute();
}

/** What the answer of call `id` means for a row: the call's own, or the one in its place. */
function whatAnswerSays(row: Effect, id: string, outcome: AnsweredOutcome): 'complete' | 'late' | 'nothing' {
  if (row.id !== id) {
    if (outcome !== 'done') return 'nothing';
    if (row.failure !== putBack) return 'late';
  }
  // Written twice: the first writer may not have received that it was late.
  if (row.late !== null && row.outcome === 'done' && outcome === 'done') return 'late';
  if (row.outcome === outcome || row.outcome === 'undone') return 'nothing';
  if (row.outcome === null || row.outcome === 'unknown') return 'complete';
  return outcome === 'done' ? 'late' : 'nothing';
}

/**
 * The row of a call that was answered is gone: the journal was put back in between. The row is written again, so that its outcome is
 * not lost as well; and the call counts as in the air like a new one.
 *
 * @returns for a pivot, the row that has taken its place, if any: one that a person was asked about, or another call
 */
async function insertLost(tx: Tx, key: SagaKey, { call, run, knows, inAirMs }: MeantCall): Promise<Effect> {
  const journal = await theJournal(tx);
  const { epoch } = knows;
  if (!isSeenToSince(journal, epoch)) await markPutBack(tx, epoch);
  if ((await referenceOf(tx, key)) === undefined) await insertReference(tx, key, run, epoch);
  const live = call.kind === 'pivot' ? await livePivot(tx, key) : undefined;
  if (live !== undefined) return live;
  await insertEffect(tx, key, { call, run, inAirMs }, { id: knows.row, epoch });
  return tx.selectFrom('effect').selectAll().where('id', '=', knows.row).executeTakeFirstOrThrow();
}

/** A pivot of which only is known that it may have been sent. */
export const lostPivot: EffectCall = { step: 'lost', kind: 'pivot', activity: '', about: {} };

/** The row that a person was asked about is gone. It is only known that the person has seen what was placed. */
async function insertSeen(tx: Tx, key: SagaKey, row: string): Promise<void> {
  await noteLoss(tx, key);
  const seen = { call: lostPivot, run: '', inAirMs: 0 };
  if ((await referenceOf(tx, key)) === undefined) await insertReference(tx, key, seen.run, 0);
  await insertEffect(tx, key, seen, { id: row, epoch: 0, failure: putBack });
}

/** The row of a question is gone. Unless the epoch was raised since the question, this shows that the journal was put back. */
async function noteLoss(tx: Tx, key: SagaKey): Promise<void> {
  const journal = await theJournal(tx);
  const { epoch } = (await referenceOf(tx, key)) ?? { epoch: 0 };
  if (!isSeenToSince(journal, epoch)) await markPutBack(tx, epoch);
}

/** @param known the epoch of the run that noticed it: the next epoch must be greater, even if the database's clock is behind */
async function markPutBack(tx: Tx, known: number): Promise<void> {
  await tx
    .updateTable('journal')
    .set((set) => ({
      put_back_ms: set.fn.coalesce('put_back_ms', nowMs(tx)),
      epoch: set.case().when('epoch', '<', known).then(known).else(set.ref('epoch')).end(),
    }))
    .execute();
}

/** A change of firewalls is undone only once this call, and those before it, have put back all of them. */
export async function markUndone(tx: Tx, key: SagaKey, { step, about }: EffectCall, by: string): Promise<void> {
  const rows = await rowsOfStep(tx, key, { kind: 'compensate', step });
  // The answer of this call may be late, and then its row does not say `done`.
  const calls = rows.map((row) => ({ ...row, about: aboutOf(row), ...(row.id === by ? { outcome: 'done' } : {}) }));
  const { cartItemId } = about;
  const isUndone = (call: (typeof calls)[number]) =>
    cartItemId === undefined
      ? call.cart_item_id === null && notPutBack(call, calls).length === 0
      : call.cart_item_id === cartItemId;
  const before = calls.slice(0, calls.map(({ id }) => id).indexOf(by));
  const undone = before.filter(
    (call) => call.kind === 'mutate' && (call.outcome === 'done' || call.outcome === 'unknown') && isUndone(call),
  );
  if (undone.length === 0) return;
  const ids = undone.map(({ id }) => id);
  await tx.updateTable('effect').set({ outcome: 'undone', undone_by: by }).where('id', 'in', ids).execute();
}

export function aboutOf({ about }: Pick<Effect, 'about'>): About {
  return JSON.parse(about) as About;
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
