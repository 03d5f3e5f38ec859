/**
 * The journal's hot path: a reference is taken; an effect is intended (written down) before it is sent, and completed
 * after it was answered. The rules, and why they hold: docs/internals/journal.md. The constraint that nothing here can break:
 * migrations/0001.
 *
 * ```text
 *   intend ──▶ none ──answered──▶ done ──a later effect──▶ undone
 *              │  └────────────▶ not-done
 *              └──▶ unknown ──a person, or a look──▶ done · denied
 *                                                   done ──the provider has cancelled it──▶ done, with `cancelled_ms`
 * ```
 *
 * Whatever decides by what it has read writes the reference's row first, as a lock (in PostgreSQL on the row, in SQLite
 * on the file). First calls of steps decide nothing, and go side by side (intend.ts).
 */
import { type Begin, closeByRun, closeCleaned, disown, endingOf, forgetEnding, own, takeAtOnce } from './acquire';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { correctedBy } from '../domain/corrections';
import type { About, AnsweredOutcome, JournalCursor } from '../domain/effects';
import type { WorkflowName } from '../domain/identity';
import type { RecordedEnding } from '../domain/record';
import type { Report } from '../domain/results';
import type { OfOther } from '../domain/servers';
import { factsOf } from '../domain/may-be-sent';
import type { Quote } from '../domain/quotes';
import { purchaseOf } from '../domain/spending';
import type { Intent, Intended } from './decide';
import { intendFirst, intendLocked, mayBeFirst } from './intend';
import { giveBack } from './approvals';
import { openPivot } from './namesakes';
import { nowMs } from './database/dialects';
import { isUniqueViolation, JournalUnavailable, unlessUnreadable } from './database/errors';
import {
  epochOfNew,
  insertLost,
  insertSeen,
  lostPivot,
  noteLossOf,
  restoredFailure,
  whatIsLacking,
} from './restore/recovery-gap';
import { type Buying, isLimited, type PurchaseRules, writePurchase } from './purchases';
import {
  aboutOf,
  correctionsOf,
  type Db,
  type Effect,
  effectOf,
  type EndingRow,
  inFlightOf,
  isUnanswered,
  iso,
  leftInFlight,
  livePivot,
  look,
  mayHaveTakenEffect,
  type IntendedCall,
  ofSaga,
  type Reference,
  type Requested,
  referenceOf,
  effectsOf,
  type SentDigests,
  type SagaKey,
  theJournal,
  type Tx,
  updateEffect,
} from './rows';
import type { WantedFirewalls } from './database/schema';
import { claim, idsIn, isProtecting, noteAssigned, noteEnded, notePlaced, noteWanted, release } from './servers';
import { markUndone, ofStep } from './state';
import { Store, type Verdict } from './store';
import { endTurn, type Place } from './turns';

export interface Answer {
  outcome: AnsweredOutcome;
  /** The failure's name where it failed. */
  failure?: string | undefined;
  /** The value of a call that is done; the failure's facts of a call that failed. Each may name an item that was added. */
  answer: unknown;
}

export interface Taking {
  account: string | undefined;
  request: unknown;
  run: string;
  /** For a run that takes it again: a journal that lacks that was restored, and nothing is taken then. */
  cursor?: JournalCursor | undefined;
}

type Begun =
  /** `isAfterAnother`: another run owned it, or a turn was over. */
  | { how: 'begun'; number: number; isAfterAnother?: boolean }
  | Ended
  /** The journal is or may be an older copy: how the reference has ended it may not know. */
  | { how: 'restored'; why: string }
  /** Another run has begun since, or the reference is not known. */
  | { how: 'not-owned' };

interface SealedCorrection {
  correction: unknown;
  by: string;
  note?: string | undefined;
}

export interface Corrected extends SealedCorrection {
  /** Random; of an alternative, its own. */
  id: string;
  run: string;
  step: string;
}

export class Journal extends Store {
  /**
   * Takes a reference for ever, or finds the run that took it. A new one is open until an ending is written, and owned by
   * the run's first begin; one that was taken before is owned by `begin`.
   *
   * @returns the request that it was taken with first, undefined where only its effects are still known
   * @throws JournalUnreadable
   */
  async take(
    key: SagaKey,
    { account, request, run, cursor: before }: Taking,
  ): Promise<{
    cursor: JournalCursor;
    /** The run that took it first, and its request. */
    first: { at: string; run: string; request: unknown } | undefined;
    lacks?: string | undefined;
  }> {
    const sealed = await this.sealing.seal(request);
    const asNew = { ...key, account: account ?? null, request: sealed };
    const taken = before === undefined ? await this.inOneStatement((db) => takeAtOnce(db, asNew, run)) : undefined;
    if (taken !== undefined) return { cursor: { ...taken, fence: 1 }, first: undefined };
    const { journal, first, lacks } = await this.inTransaction(async (tx) => {
      const journal = await theJournal(tx);
      if (before !== undefined) {
        const taken = (await referenceOf(tx, key)) !== undefined;
        const lacks = await whatIsLacking(tx, journal, this.failover, { taken, cursor: before });
        if (lacks !== undefined) return { journal, first: undefined, lacks };
        // A run that knows it from before has perhaps ordered in the lost time.
        const epoch = Math.min(epochOfNew(journal), before.epoch);
        if ((await takeAtOnce(tx, asNew, run, epoch)) !== undefined) return { journal, first: undefined };
      }
      // After the journal was restored, an effect or a doubt may have come before its reference: the request is filled
      // in.
      await sql`update reference set account = ${account ?? null}, request = ${sealed}
        where ${ofSaga(key)} and request is null`.execute(tx);
      return { journal, first: await referenceOf(tx, key) };
    });
    const cursor = { journal: journal.id, epoch: journal.epoch };
    if (lacks !== undefined) return { cursor, first, lacks };
    if (first === undefined) return { cursor: { ...cursor, fence: 1 }, first };
    const original = await this.unsealFirst(first);
    return { cursor, first: { at: iso(first.first_seen_ms), run: first.first_run, request: original } };
  }

  /** A run begins under its reference, as {@link own}, or is told how that has ended. @throws JournalUnreadable */
  async begin(key: SagaKey, by: Begin): Promise<Begun> {
    // An ending that is being written is waited for: the next statement sees it.
    const begun = await this.locked(key, async (tx, taken) => {
      const number = await own(tx, key, by);
      const isAfterAnother = taken?.owner?.startsWith(`${by.run}/`) !== true;
      if (number !== undefined) return { how: 'begun' as const, number, isAfterAnother };
      const ended = await endingOf(tx, key, by);
      if (ended === undefined) return { how: 'not-owned' as const };
      const known = { taken: true, cursor: undefined };
      const why = await whatIsLacking(tx, await theJournal(tx), this.failover, known);
      return why === undefined ? { how: 'ended' as const, ended } : { how: 'restored' as const, why };
    });
    return begun.how === 'ended' ? this.endedBy(begun.ended, by.run) : begun;
  }

  /** People's corrections of a request, in order. @throws JournalUnreadable */
  async corrections(key: SagaKey): Promise<unknown[]> {
    return this.unsealAll(await this.read((db) => correctionsOf(db, key)));
  }

  /**
   * Writes a correction, before anything is sent with it. A second call with the same id and words changes nothing.
   *
   * @returns `placed`, and writes nothing, where the pivot happened, or may have: it was sent without the correction
   */
  async correct(key: SagaKey, { id, run, step, ...said }: Corrected): Promise<'written' | 'placed'> {
    const correction = await this.sealing.seal(said satisfies SealedCorrection);
    // A restored Temporal gives the id of one that it has forgotten to another.
    const [own = ''] = this.sealing.digests(JSON.stringify(said.correction));
    return this.locked(key, async (tx) => {
      if ((await livePivot(tx, key)) !== undefined) return 'placed';
      await tx
        .insertInto('correction')
        .values({ ...key, id: `${id}/${own}`, run, step, correction, at_ms: nowMs(tx) })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return 'written';
    });
  }

  async isTaken(key: SagaKey): Promise<boolean> {
    return ((await this.reference(key))?.request ?? null) !== null;
  }

  /**
   * The request that a reference was taken with.
   *
   * @returns undefined where it was never taken, or only its effects are still known
   * @throws JournalUnreadable
   */
  async firstRequest(key: SagaKey): Promise<unknown> {
    return this.unsealFirst(await this.reference(key));
  }

  private async unsealFirst(taken: Requested['taken']): Promise<unknown> {
    return taken?.request ? this.unseal(taken.request, 'the first request') : undefined;
  }

  /** Sealed, as they were taken, the newest first. */
  async newestRequests(limit: number): Promise<string[]> {
    const rows = await this.rows(sql<{ request: string }>`
      select request from reference where request is not null order by first_seen_ms desc limit ${limit}`);
    return rows.map(({ request }) => request);
  }

  /**
   * The request of a reference, with what people have corrected of it.
   *
   * @returns undefined where the request is not known
   * @throws JournalUnreadable
   */
  async correctedRequest(key: SagaKey): Promise<unknown> {
    return this.asCorrected(key, await this.inTransaction((tx) => this.requested(tx, key)));
  }

  private async requested(tx: Tx, key: SagaKey): Promise<Requested> {
    return { taken: await referenceOf(tx, key), corrections: await correctionsOf(tx, key) };
  }

  private async asCorrected({ workflow }: Pick<SagaKey, 'workflow'>, { taken, corrections }: Requested) {
    const first = await this.unsealFirst(taken);
    return first === undefined ? undefined : correctedBy(await this.unsealAll(corrections), workflow, first);
  }

  /** The digests of the secrets that each call of the saga has sent by name. */
  async digestsSent(key: SagaKey): Promise<SentDigests[]> {
    const rows = await this.rows(
      sql<{ sent: string }>`select sent from effect where ${ofSaga(key)} and sent is not null`,
    );
    return rows.map(({ sent }) => JSON.parse(sent) as SentDigests);
  }

  /** The account that the reference was taken for, if its request named one. */
  async accountOf(key: SagaKey): Promise<string | undefined> {
    return (await this.reference(key))?.account ?? undefined;
  }

  private reference(key: SagaKey): Promise<Reference | undefined> {
    return this.read((db) => referenceOf(db, key));
  }

  /**
   * Writes down what is about to be sent, or says why it must not be sent.
   *
   * @throws JournalUnavailable, with the row's id where the row may have been written anyway; JournalUnreadable
   */
  async intend(intent: Intent): Promise<Intended> {
    const row = randomUUID();
    const { note } = intent;
    const noted = {
      ...intent,
      note: note === undefined ? null : await this.sealing.seal(note),
      store: this,
      boughtBy: (requested: Requested) => this.boughtBy(intent, requested),
    };
    try {
      const first = mayBeFirst(noted) ? await this.inOneStatement((db) => intendFirst(db, noted, row)) : undefined;
      const { top, ...intended } = first ?? (await this.inTransaction((tx) => intendLocked(tx, noted, row)));
      if (intended.how === 'send' && top !== undefined) {
        const { journal, epoch, row } = intended.cursor;
        this.failover.witness?.see({ journal, epoch, seq: top, row });
      }
      // Not in the transaction: it would wait for itself.
      return intended.how === 'unknown' ? { how: 'unknown', ...(await openPivot(this, intended.pivot)) } : intended;
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) throw error;
      // The connection may have been lost after the commit: then the row exists.
      throw new JournalUnavailable(error.why, { cause: error, row });
    }
  }

  private async unsealAll(rows: Requested['corrections']): Promise<unknown[]> {
    const corrections: unknown[] = [];
    for (const { correction } of rows) {
      corrections.push(((await this.unseal(correction, 'a correction')) as SealedCorrection).correction);
    }
    return corrections;
  }

  /**
   * The call's purchase, by the journal's request and corrections; the run's own request does not count.
   *
   * @returns undefined where the call buys nothing, and where the request is no longer known
   */
  private async boughtBy(
    { workflow, rules, note }: Pick<Intent, 'workflow' | 'rules' | 'note'>,
    requested: Requested,
  ): Promise<Buying | undefined> {
    if (rules === undefined) return undefined;
    const request = await this.asCorrected({ workflow }, requested);
    return request === undefined ? undefined : this.buying(workflow, request, rules, note?.quote);
  }

  /** @returns undefined for a saga that buys nothing */
  buying(workflow: WorkflowName, request: unknown, rules: PurchaseRules, quote?: Quote): Buying | undefined {
    const { profile, priceList } = rules;
    const purchase = purchaseOf(workflow, request, profile?.planTypes, priceList);
    if (purchase === undefined) return undefined;
    const { what, estimate, ...bought } = purchase;
    let agreed: string[] = [];
    const digest = (text: string) => {
      agreed = this.sealing.digests(text);
      return agreed[0] ?? '';
    };
    const facts = factsOf(request as object, what, quote ?? estimate, { planTypes: profile?.planTypes, digest });
    const { total, currency = bought.currency } = quote ?? {};
    const priced = { ...bought, total, currency: currency?.toLowerCase(), estimate, unpriced: estimate?.unpriced };
    return { ...priced, facts, agreed, digests: this.sealing.digests(what) };
  }

  /** A pivot that the journal learns of after a restore, or that is in doubt, counts as any other does. */
  async notePurchase(tx: Tx, key: SagaKey, row: string, rules: PurchaseRules | undefined): Promise<void> {
    const { workflow } = key;
    const bought = await this.boughtBy({ workflow, rules }, await this.requested(tx, key)).catch((error: unknown) => {
      if (rules === undefined || isLimited(rules)) throw error;
      return undefined;
    });
    if (bought) await writePurchase(tx, row, bought);
  }

  /**
   * Completes a row. Writing the same outcome again does nothing.
   *
   * @param intended with the rules: where a pivot's row is gone, by them it is written what it has bought
   * @returns `late` where it took effect although the journal says that it did not, or where another call has taken its
   * place: the answer is then kept as `late`
   */
  async answered(
    key: SagaKey,
    intended: IntendedCall & Pick<Intent, 'rules'>,
    { outcome, failure, answer }: Answer,
  ): Promise<'written' | 'late'> {
    const sealed = await this.sealing.seal(answer);
    const { call, cursor } = intended;
    const { cartItemId } = (call.kind === 'mutate' ? (answer ?? {}) : {}) as { cartItemId?: number };
    const told = { outcome, answer: sealed, failure: failure ?? null, cart_item_id: cartItemId };
    const answered = { ...told, answered_ms: nowMs(this.db) };
    const isDone = outcome === 'done';
    const isUndo = isDone && call.kind === 'compensate';
    // Nobody decides by it: it needs no lock.
    if (call.kind !== 'pivot' && !isUndo) {
      const complete = async (db: Db) => {
        const open = db.updateTable('effect').where('id', '=', cursor.row).where('outcome', 'is', null);
        const { numUpdatedRows } = await open.set(answered).executeTakeFirst();
        if (numUpdatedRows > 0n && isDone) await noteAssigned(db, key, call);
        return numUpdatedRows > 0n;
      };
      const isNoted = isDone && isProtecting(key, call);
      if (await (isNoted ? this.inTransaction(complete) : this.inOneStatement(complete))) return 'written';
    }
    return this.locked(key, async (tx) => {
      const found = await effectOf(tx, cursor.row);
      // Perhaps the row was never written. The call did nothing, so nothing is lost.
      if (found === undefined && outcome === 'not-done') return 'written';
      const row = found ?? (await insertLost(tx, key, intended));
      const isPivotAgain = found === undefined && call.kind === 'pivot' && row.id === cursor.row;
      if (isPivotAgain) await this.notePurchase(tx, key, row.id, intended.rules);
      const says = whatAnswerSays(row, cursor.row, outcome);
      // A person has said that nothing was placed in the lost time.
      const isDenied = (one: Effect) => one.outcome === 'denied' && one.failure === restoredFailure;
      const isLate =
        says === 'late' || (isPivotAgain && isDone && ofStep(await effectsOf(tx, key), lostPivot).some(isDenied));
      if (says === 'nothing') return 'written';
      // A pivot that was denied but did happen counts, unless it was sent again meanwhile.
      const counts = says === 'complete' || (call.kind === 'pivot' && (await livePivot(tx, key)) === undefined);
      // A row of doubt keeps its failure.
      const completed = row.id === cursor.row ? answered : { ...answered, failure: row.failure };
      await updateEffect(tx, row.id, {
        ...(isLate ? { late: sealed } : {}),
        ...(counts ? completed : {}),
      });
      if (call.kind === 'pivot' && counts) await forgetEnding(tx, key);
      if (isUndo) await markUndone(tx, key, call, row.id);
      else if (call.kind === 'mutate' && isDone) await noteAssigned(tx, key, call);
      else if (isDone) await notePlaced(tx, key, call.about, idsIn(answer), { isSecond: !counts });
      else if (call.kind === 'pivot' && outcome === 'not-done') await giveBack(tx, cursor.row);
      return isLate ? 'late' : 'written';
    });
  }

  /**
   * Writes that a pivot of unknown outcome has happened: a person has seen it, or a search has found it. Also where the
   * row is gone.
   *
   * @param rules as for {@link answered}
   * @returns the ids of servers that other orders have; then nothing is written
   * @throws JournalUnreadable
   */
  async confirm(
    key: SagaKey,
    row: string,
    answer: unknown,
    verdict: Verdict | undefined,
    rules?: PurchaseRules,
  ): Promise<'done' | 'superseded' | OfOther[]> {
    const sealed = await this.sealing.seal(answer);
    const decided = verdict && (await this.sealing.seal(verdict));
    // A row of doubt does not say what its servers are to have. Nor does a request whose key is gone; it is placed all the same.
    const asked = (await unlessUnreadable(this.correctedRequest(key))) as About | undefined;
    const ids = (idsIn(answer) ?? []) as number[];
    return this.orSuperseded<'done' | OfOther[]>(key, async (tx) => {
      const found = await effectOf(tx, row);
      if (found?.outcome === 'done') return 'done';
      const about: About = { firewalls: asked?.firewalls ?? [], ...(found && aboutOf(found)) };
      const others = await claim(this, tx, key, ids, about.firewalls ?? []);
      if (others.length > 0) return others;
      if (found === undefined) {
        await insertSeen(tx, key, row);
        await this.notePurchase(tx, key, row, rules);
      }
      const now = nowMs(tx);
      const how = decided ? { decided, decided_ms: now } : { answered_ms: now };
      await updateEffect(tx, row, { outcome: 'done', answer: sealed, ...how });
      await forgetEnding(tx, key);
      if (ids.length === 0) await notePlaced(tx, key, about, ids);
      return 'done';
    });
  }

  /** A person said that it had not happened, and it was intended again: the other row is the one to ask about. */
  private async orSuperseded<How>(
    key: SagaKey,
    settle: (tx: Tx, taken: Reference | undefined) => Promise<How>,
  ): Promise<How | 'superseded'> {
    try {
      return await this.locked(key, settle);
    } catch (error) {
      if (isUniqueViolation(error)) return 'superseded';
      throw error;
    }
  }

  /**
   * Writes that the provider has cancelled what a pivot placed, as a person says. The pivot stays `done`: nothing is
   * placed under this reference again.
   *
   * @param row of a pivot of unknown outcome: then it was placed. Without it, the pivot of the reference
   * @param isOver the saga has to have ended: while it goes on, it is told instead. A saga knows that something was
   * placed: a journal that does not was restored
   * @returns `before` where it was written before, `none` where nothing was placed, `open` where the saga has not ended, `superseded` as {@link confirm}
   */
  async cancelled(
    key: SagaKey,
    verdict: Verdict,
    { row, isOver = false }: { row?: string | undefined; isOver?: boolean } = {},
  ): Promise<'cancelled' | 'before' | 'none' | 'open' | 'superseded'> {
    const sealed = await this.sealing.seal(verdict);
    const answer = await this.sealing.seal({ how: 'confirmed' });
    return this.orSuperseded<'cancelled' | 'before' | 'none' | 'open'>(key, async (tx, taken) => {
      const found = row === undefined ? await livePivot(tx, key) : await effectOf(tx, row);
      const id = row ?? found?.id ?? randomUUID();
      if (isOver && row === undefined && found === undefined) return 'none';
      if (isOver && (taken?.is_open ?? null) !== null) return 'open';
      if (found === undefined) await insertSeen(tx, key, id);
      if (typeof found?.cancelled_ms === 'number') return 'before';
      const now = nowMs(tx);
      const placed = { outcome: 'done', answer, decided: sealed, decided_ms: now } as const;
      const said = { cancelled: sealed, cancelled_ms: now };
      await updateEffect(tx, id, found?.outcome === 'done' ? said : { ...placed, ...said });
      await forgetEnding(tx, key);
      await release(tx, key);
      return 'cancelled';
    });
  }

  /**
   * The same of an order beside the one that the saga goes by: only a late answer shows it.
   *
   * @returns false where the row is none of such an order, or it was written before
   * @throws JournalUnreadable
   */
  async secondCancelled(key: SagaKey, row: string, verdict: Verdict): Promise<boolean> {
    const cancelled = await this.sealing.seal(verdict);
    const late = (await this.read((db) => effectOf(db, row)))?.late ?? null;
    const ids = late === null ? undefined : idsIn(await this.unseal(late, 'a late answer'));
    return this.locked(key, async (tx) => {
      const { numAffectedRows = 0n } = await sql`
        update effect set cancelled = ${cancelled}, cancelled_ms = ${nowMs(tx)}
          where id = ${row} and ${ofSaga(key)} and cancelled_ms is null
            and kind = 'pivot' and late is not null and not ${mayHaveTakenEffect}`.execute(tx);
      if (numAffectedRows === 0n) return false;
      await forgetEnding(tx, key);
      if (Array.isArray(ids) && ids.length > 0) await release(tx, key, sql`vm_object_id in (${sql.join(ids)})`);
      return true;
    });
  }

  /**
   * Writes that, as a person says, a pivot of unknown outcome has not happened.
   *
   * @returns `in-flight`, and changes nothing, while the worker that intended it may still be sending; `done` where the
   * journal knows by now that it has happened
   */
  async deny(
    key: SagaKey,
    row: string,
    verdict: Verdict,
  ): Promise<{ how: 'denied' | 'done' } | { how: 'in-flight'; leftMs: number }> {
    const decided = await this.sealing.seal(verdict);
    return this.locked(key, async (tx) => {
      const { journal, rows } = await look(tx, key);
      const found = rows.find(({ id }) => id === row);
      if (found === undefined) await noteLossOf(tx, key);
      if (found?.outcome === 'done') return { how: 'done' };
      if (found === undefined || !isUnanswered(found.outcome)) return { how: 'denied' };
      const leftMs = leftInFlight(found, journal);
      if (leftMs > 0) return { how: 'in-flight', leftMs };
      await updateEffect(tx, row, { outcome: 'denied', decided, decided_ms: nowMs(tx) });
      await forgetEnding(tx, key);
      return { how: 'denied' };
    });
  }

  /**
   * Writes how a run ended, for when Temporal has forgotten it. What was told stays: nothing is written where the
   * reference has ended before.
   *
   * @returns the saga to notify, if one waits for what this run worked on; `later` where another run has begun since
   * @throws JournalUnreadable
   */
  async ended(
    key: SagaKey,
    { run, by, isReset, outcome, report, resource, wanted, keepOpen }: Ending,
  ): Promise<EndingWritten> {
    const sealed = await this.sealing.seal(report);
    const isOwn = by === key.workflow;
    const { ended, report: told = {} as Partial<Report> } = (report ?? {}) as Partial<RecordedEnding>;
    const items = told.leftovers?.flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : [])) ?? [];
    const written = await this.locked(key, async (tx, taken) => {
      if (!isOwn && !keepOpen) await closeCleaned(tx, key, run);
      const closed = isOwn ? await closeByRun(tx, key, { run, isReset }) : undefined;
      const past = isOwn && closed === undefined ? await endingOf(tx, key, { run, isReset }) : undefined;
      if (past !== undefined) return { past };
      const how = closed?.isLast === false ? ('later' as const) : ('written' as const);
      const isInFlight = resource !== undefined && (await inFlightOf(tx, key)) > 0;
      const next = resource === undefined ? undefined : await endTurn(tx, key, resource, { isInFlight });
      if (taken === undefined) return { how, next };
      // Another saga may work on it from now on: a run that is reset to before this has to begin again.
      if (resource !== undefined && isOwn) await disown(tx, key);
      const ending = {
        ...{ run, outcome, report: sealed, ended_by: by, ended_ms: nowMs(tx), resource: resource ?? null },
        wanted: wanted === undefined ? null : JSON.stringify(wanted),
        items_left: !isOwn && ended === 'done' ? JSON.stringify(items) : null,
      };
      const writes = tx.insertInto('ending').values({ workflow: key.workflow, reference: key.reference, ...ending });
      await writes.onConflict((again) => again.columns(['workflow', 'reference', 'run']).doUpdateSet(ending)).execute();
      // A clean-up puts nothing in order of what was bought.
      await noteEnded(tx, key, isOwn ? outcome : 'untouched', told);
      if (wanted !== undefined && resource !== undefined) await noteWanted(tx, resource, wanted, told.leftovers ?? []);
      return { how, next };
    });
    if (written.past === undefined) return written;
    const past = await this.endedBy(written.past, run);
    // The run has written it itself, and lost the answer.
    return past.isOwn && isDeepStrictEqual(past.ending, report) ? { how: 'written', next: undefined } : past;
  }

  /** @param asks the run that asks. @throws JournalUnreadable */
  async endedBy(
    { run, ended_ms, report }: Pick<EndingRow, 'run' | 'ended_ms' | 'report'>,
    asks: string,
  ): Promise<Ended> {
    const ending = (await this.unseal(report, `the ending of run ${run}`)) as Ended['ending'];
    return { how: 'ended', at: iso(ended_ms), run, ...(run === asks ? { isOwn: true } : {}), ending };
  }
}

/** How a run of the reference has ended: nothing is done under it any more. */
export interface Ended {
  how: 'ended';
  at: string;
  run: string;
  /** It is the run that asks. Said here: a workflow must not compare its run id, a replay of a reset has another one. */
  isOwn?: true;
  ending: { ended: NonNullable<RecordedEnding['ended']>; report: Report; result?: unknown };
}

export type EndingWritten = Ended | { how: 'written' | 'later'; next: Place | undefined };

export interface Ending {
  run: string;
  /** The workflow of the run: the reference's own, or `cleanCart`. */
  by: WorkflowName;
  /** The run came from a reset. */
  isReset?: boolean | undefined;
  outcome: string;
  /** Is sealed. */
  report: unknown;
  /** The server or subscription that it worked on, or waited for: its turn ends here. */
  resource?: string | undefined;
  /** The firewalls that its server is to have, where the change is done. */
  wanted?: WantedFirewalls | undefined;
  /** A clean-up did not settle everything: the saga stays lost. It does so too where a run has begun since. */
  keepOpen?: boolean | undefined;
}

/** The meaning of the answer of call `id` for a row: the call's own, or the one in its place. */
function whatAnswerSays(row: Effect, id: string, outcome: AnsweredOutcome): 'complete' | 'late' | 'nothing' {
  if (row.id !== id) {
    if (outcome !== 'done') return 'nothing';
    if (row.failure !== restoredFailure) return 'late';
  }
  // Written twice: the first writer may not have received that it was late.
  if (row.late !== null && row.outcome === 'done' && outcome === 'done') return 'late';
  if (row.outcome === outcome || row.outcome === 'undone') return 'nothing';
  if (isUnanswered(row.outcome)) return 'complete';
  return outcome === 'done' ? 'late' : 'nothing';
}
