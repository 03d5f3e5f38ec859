/**
 * The only place where a workflow waits for a person.
 *
 * ```text
 *            ask ──▶ open ──decision that fits──▶ taken ──▶ the saga goes on
 *                     │ ▲ └──its own try succeeds─────────────▲
 *    one that does not │ └── reminders, and tries of its own, few and growing
 *                     ▼
 *       refused, with the ones that fit
 * ```
 *
 * At most one question is open at a time: steps that run side by side are asked about together. A decision is taken
 * while its handler runs, in one go, so a second one in the same task finds the question closed.
 */
import { ApplicationFailure } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  sleep,
  uuid4,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import type { z } from 'zod';
import { choicesOf, type AnswerAt } from '../../domain/answers';
import {
  cancelledBySignal,
  cancellerSchema,
  decisionHints,
  decisionNames,
  decisionRefused,
  decisionSchemas,
  exampleFor,
  type Cancellation,
  type Decision,
  type DecisionName,
} from '../../domain/decisions';
import { ownerOf, type CallFailure } from '../../domain/failures';
import type { WorkflowName } from '../../domain/identity';
import { isTrouble, type DecisionRecord, type ProgressView, type WaitKind } from '../../domain/progress';
import { holdsSecret, redact } from '../../domain/secrets';
import { describeProblems } from '../../domain/problems';
import { inWords } from '../../domain/times';
import { isUnsealed } from '../../domain/unsealed';
import { check } from '../../domain/validation';
import { SagaFailed, StateChanged } from '../control-flow';
import { hasRoomForOwnTries, hasRoomToAsk, whyFull } from '../history-left';
import { count } from '../shown/metrics';
import { describeWait, howToSendSecrets } from '../shown/current-details';
import type { EventDetails, Notices } from '../shown/notices';
import { now, type Progress } from '../shown/progress';
import type { OurOwn, Question } from './questions';

/** The reason of Temporal's cancellation of this run, which the SDK hands to no workflow: it names the words that belong to it. */
let cancelReason: string | undefined;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate(input, next) {
        for (const { cancelWorkflow } of input.activation.jobs ?? [])
          cancelReason ??= cancelWorkflow?.reason ?? undefined;
        next(input);
      },
    },
  ],
});

const progressQuery = defineQuery<ProgressView>('progress');

/** `by` is absent where nobody has decided in time. */
type Taken = Decision | (OurOwn<'skip' | 'reject'> & { question: string; by?: undefined });

/** `cancellable`: false where what is being done is brought to its end, cancelled or not. */
interface OpenQuestion extends Question {
  id: string;
  workflow: WorkflowName;
  choices: DecisionName[];
  cancellable: boolean;
  /** From then on it is rejected, and nobody decides about it any more; in milliseconds since 1970. */
  expiresMs: number;
  taken?: Taken;
  /** The same as it stays. */
  record?: DecisionRecord;
  /** Who is about to cancel the saga at this question: nobody else decides about it. */
  canceller?: string;
  told: AskedTold;
  /** Receivers have heard of it. */
  isTold?: boolean;
}

/** What the saga does by itself while a person is asked. */
export interface OwnTries {
  /** How long to wait before each; the last one counts for all that follow. Empty: only a person ends it. */
  delaysMs: readonly number[];
  /** None falls behind it; ISO time. */
  notAfter?: string | undefined;
  /** @returns whether the same is still to be asked */
  make: () => Promise<boolean>;
}

/** Longer than it takes from the word to the cancellation. Who dies in between leaves the question to others. */
const cancellerHasMs = 60_000;

/** Within a scope that is not cancellable, nothing hears of a cancellation. */
function isCancellable(scope: CancellationScope): boolean {
  return scope.cancellable && (scope.parent === undefined || isCancellable(scope.parent));
}

/** Enough of a random id to distinguish the questions of one saga, and few enough to type. */
const idChars = 8;

/** Receivers are told none of a question's words, because some are the provider's. */
type AskedTold = EventDetails & { since: string; reminders: number };

export class HumanDecisions {
  /** The question, also once it is answered, until the saga goes on. */
  private asking?: OpenQuestion;
  /** By their tokens: some are of cancellations that never came, or came to another run. */
  private readonly cancellers = new Map<string, Cancellation & Pick<DecisionRecord, 'at' | 'kind' | 'step'>>();
  /** Says in a sentence what an end without success would undo. */
  describeUndo: () => string = () => '';

  constructor(
    private readonly progress: Progress,
    private readonly notices: Notices,
  ) {
    setHandler(progressQuery, () => progress.view(), { description: 'State, steps, what it waits for, decisions' });
    for (const name of decisionNames) this.receive(name);
    this.receiveCancellation();
  }

  /** As {@link askOrTry}, where only a person can end it. */
  async ask<K extends WaitKind>(asked: Question<K>): Promise<AnswerAt<K>> {
    const decision = await this.askOrTry(asked);
    if (decision === undefined) throw new Error('the wait ended without a decision');
    return decision;
  }

  /**
   * Waits until a person has decided, or a try of the saga's own has ended it. A decision that comes during a try is
   * taken, and applies after it. What was corrected holds when this returns. A question that comes up within a try takes
   * the place of this one.
   *
   * @returns undefined where a try has ended it
   * @throws CancelledFailure when the saga is cancelled first. A decision that was taken in the same moment is not
   * lost: it is returned, and the next step notices the cancellation. SagaFailed `HistoryFull` where the run has no room
   * to wait. What a try throws.
   */
  async askOrTry<K extends WaitKind>(asked: Question<K>, tries?: OwnTries): Promise<AnswerAt<K> | undefined> {
    if (asked.whenFull === undefined && this.hasNoRoomFor(asked)) throw historyIsFull(asked.step);
    if (this.asking) this.close(this.asking, true);
    const since = now();
    const { kind, step, steps, servers, lastFailure, expiry } = asked;
    const id = (asked.subject ?? uuid4()).slice(0, idChars);
    const choices = choicesOf(kind, asked.fits);
    const expiresMs = expiry === undefined ? Infinity : Date.parse(since) + expiry.inMs;
    const said = { kind, step, since, steps, expiresAt: expiry && new Date(expiresMs).toISOString() };
    const question: OpenQuestion = {
      ...{ ...asked, id, choices, expiresMs, workflow: this.progress.workflow },
      cancellable: isCancellable(CancellationScope.current()),
      told: { ...said, question: id, reminders: 0, failure: lastFailure?.failure },
    };
    this.asking = question;
    this.progress.wait({
      ...{ ...said, id, question: question.question, choices, servers },
      lastFailure: lastFailure && withoutInstructions(lastFailure),
    });
    this.notices.noteWait({ id, kind, step, since, asked: question.question });
    log.warn('waiting for a decision', { id, kind, step, question: question.question, choices });
    count('waits', { kind });
    let isOver = false;
    try {
      isOver = await this.untilTaken(question, tries);
    } catch (error) {
      isOver = error instanceof StateChanged;
      if (!isCancellation(error) || question.taken === undefined) throw error;
    } finally {
      this.close(question, isOver);
    }
    const { taken: decision, correction } = question;
    if (decision?.decision === 'retry' && decision.correction && correction) {
      const { by, note } = decision;
      await correction.apply(correction.schema().parse(decision.correction), { step, by, note });
    }
    return decision as AnswerAt<K> | undefined;
  }

  /** @param goesOn without a decision. Else it was cancelled, or has failed: it undoes, and has not said so yet */
  private close(question: OpenQuestion, goesOn: boolean): void {
    if (this.asking !== question) return;
    const { id, kind, step, taken, told, isTold } = question;
    delete this.asking;
    if (goesOn) this.progress.answered();
    else this.progress.stopWaiting();
    count('waitsEnded', { kind });
    const ended = taken ? { decision: taken.decision } : goesOn ? {} : ({ state: 'undoing' } as const);
    const decision = question.record ?? (goesOn ? undefined : this.cancelled);
    const said = { id, kind, step, since: told.since, asked: question.question, endedAt: now(), decision };
    this.notices.noteWait(said);
    if (isTold) this.notices.tell('settled', { ...told, ...ended });
    // No more than the ending would say of what nobody has decided.
    else if (taken) this.notices.handOverBeside();
    this.progress.neededPerson ||= isTrouble(kind) && (isTold === true || !goesOn);
    setCurrentDetails('');
  }

  /** @returns true where a try has ended it */
  private async untilTaken(question: OpenQuestion, tries: OwnTries | undefined): Promise<boolean> {
    const { id, kind, step, choices, expiry, expiresMs, whenFull, told } = question;
    const reminders = reminderDelaysMs();
    let remindInMs = reminders.next().value;
    let tryInMs = this.planTry(question, tries, 0);
    for (let made = 0; ;) {
      const waitMs = Math.max(1, Math.min(remindInMs, tryInMs, expiresMs - Date.now()));
      if (await condition(() => question.taken !== undefined || this.hasNoRoomFor(question), waitMs)) {
        if (question.taken !== undefined) return false;
        if (whenFull === undefined) throw historyIsFull(step);
        this.take({ ...whenFull, question: id });
        return false;
      }
      if (expiry && Date.now() >= expiresMs) {
        // In one go with the look: nobody's decision comes in between.
        if (question.taken === undefined) this.take({ ...expiry.decision, question: id });
        return false;
      }
      // By the timer and not by the clock, which may be set back.
      remindInMs -= waitMs;
      tryInMs -= waitMs;
      if (tries && tryInMs <= 0) {
        made += 1;
        log.info('tries by itself', { kind, step, tries: made });
        const goesOn = await tries.make();
        // A decision may have come meanwhile, or another question.
        if (question.taken !== undefined) return false;
        if (!goesOn || this.asking !== question) return true;
        this.tell(question);
        tryInMs = this.planTry(question, tries, made);
      }
      if (remindInMs <= 0) {
        remindInMs = reminders.next().value;
        log.warn('still waiting for a decision', { kind, step, since: told.since });
        count('reminders', { kind });
        told.reminders += 1;
        if (question.isTold) this.notices.tell('reminder', { ...told, choices });
        else this.tell(question);
      }
    }
  }

  private tell(question: OpenQuestion): void {
    if (question.isTold) return;
    question.isTold = true;
    this.notices.tell('waiting', { ...question.told, choices: question.choices });
  }

  /** @returns after how long it tries by itself; Infinity: not any more, so that receivers hear of it now */
  private planTry(question: OpenQuestion, own: OwnTries | undefined, made: number): number {
    const { delaysMs = [], notAfter } = own ?? {};
    const leftMs = notAfter === undefined ? Infinity : Date.parse(notAfter) - Date.now();
    const tries = delaysMs.length > 0 && hasRoomForOwnTries();
    // A run without own tries draws no random number: it would shift the ids of its later questions.
    const inMs = tries ? ownTryInMs(delaysMs, made, leftMs, Math.random()) : Infinity;
    const at = inMs === Infinity ? undefined : new Date(Date.now() + inMs).toISOString();
    if (at === undefined) this.tell(question);
    this.progress.planTry(at);
    setCurrentDetails(describeWait(question, question.told.since, this.describeUndo(), at));
    return inMs;
  }

  private hasNoRoomFor(question: Question): boolean {
    const canBeLeftOut = question.whenFull !== undefined;
    // A saga that ends has nothing to give up instead of waiting on, however full its history is.
    return !hasRoomToAsk(canBeLeftOut) && (canBeLeftOut || !this.progress.isEnding);
  }

  /** The question that a decision may be about. */
  private get open(): OpenQuestion | undefined {
    return this.asking?.taken === undefined ? this.asking : undefined;
  }

  private receive(name: DecisionName): void {
    const { does, example } = decisionHints[name];
    const description = `${does}. ${example}`;
    const update = defineUpdate<{ taken: DecisionName; step: string }, [unknown]>(name);
    const validator = (body: unknown) => void countingRefusals(name, () => this.read(name, body));
    const handler = (body: unknown) => countingRefusals(name, () => this.take(this.read(name, body)));
    setHandler(update, handler, { description, validator });
  }

  /** @throws ApplicationFailure `DecisionRefused`, with a sentence that names the decisions that fit */
  private fitting(name: DecisionName, body: unknown): OpenQuestion {
    const question = this.open;
    const unfit = (why: string, movedOn = true) => refusal(`${name} does not fit: ${why}`, movedOn);
    if (question === undefined) {
      throw unfit(`nothing waits for a decision now; the saga is ${this.progress.state}${this.answerTo(body)}`);
    }
    const { id, kind, step, choices, canceller, expiresMs } = question;
    if (canceller !== undefined) throw unfit(`${canceller} is about to cancel it`);
    // Updates are handled before timers: where no worker ran when it ended, this one may come first.
    if (Date.now() >= expiresMs) {
      const endedAt = inWords(new Date(expiresMs).toISOString());
      throw unfit(`question ${id} ended on ${endedAt}, and counts as rejected`);
    }
    if (!choices.includes(name)) {
      const named = (body as { question?: unknown } | null | undefined)?.question;
      const fitting = `Decisions that fit: ${[...choices, 'cancel'].join(', ')}`;
      const movedOn = typeof named === 'string' && named !== id;
      throw unfit(`${step} waits as ${kind}. ${fitting}${this.answerTo(body)}`, movedOn);
    }
    return question;
  }

  /** The decision that stands at the question which somebody has read, as a sentence. */
  private answerTo(body: unknown): string {
    const { question } = (body ?? {}) as { question?: unknown };
    const stands = question !== undefined && this.progress.decisions.findLast((one) => one.question === question);
    if (!stands) return '';
    return `. Question ${stands.question} was answered: ${stands.decision}${stands.by ? ` by ${stands.by}` : ''}`;
  }

  private read(name: DecisionName, body: unknown): Decision {
    const question = this.fitting(name, body);
    const checked = check(decisionSchemas[name]() as z.ZodType<object>, body ?? {});
    if (!checked.ok)
      throw refusal(`${name}: ${describeProblems(checked.problems)}. Like ${exampleFor(name, question)}`);
    const decision = { decision: name, ...checked.value } as Decision;
    if (decision.question !== question.id) {
      throw refusal(
        `${name}: question ${decision.question.slice(0, 40)} is not the one that waits now, which is ${question.id}: read it first${this.answerTo(decision)}`,
        true,
      );
    }
    const objection =
      plaintextObjection(decision, body, question) ??
      correctionObjection(decision, question) ??
      question.objection?.(decision);
    if (objection !== undefined) throw refusal(`${name}: ${objection}`);
    return decision;
  }

  private take(decision: Taken): { taken: DecisionName; step: string } {
    const question = this.open;
    if (question === undefined) throw refusal('nothing waits for a decision now', true);
    question.taken = decision;
    this.progress.answered();
    const { kind, step } = question;
    const { decision: taken, by } = decision;
    question.record = { kind, step, at: now(), ...(redact(decision) as Taken) };
    this.progress.decide(question.record);
    log.info('decision taken', { decision: taken, kind, step, by });
    count('decisions', { decision: taken, fate: 'taken' });
    return { taken, step };
  }

  /**
   * Who wants the saga cancelled, and why: its report says so, once that cancellation has come. Where it names
   * the question that somebody has read, it cancels at that one, or not at all.
   */
  private receiveCancellation(): void {
    setHandler(
      defineSignal<[unknown]>(cancelledBySignal),
      async (body) => {
        // Signals are handled before updates: a decision of the same workflow task comes first all the same.
        await Promise.resolve();
        const checked = check(cancellerSchema(), body);
        if (checked.ok) {
          const { question, token, ...said } = checked.value;
          if (question !== undefined && question !== this.open?.id) return;
          const waiting = this.open && { kind: this.open.kind, step: this.open.step };
          this.cancellers.set(token, { at: now(), ...waiting, ...said });
          if (question !== undefined && this.open) void this.leaveTo(said.by, this.open);
          return;
        }
        log.warn('a signal was ignored', { why: describeProblems(checked.problems) });
      },
      { description: 'Who cancels the saga, and why. Sent by the command line before the cancellation' },
    );
  }

  private async leaveTo(canceller: string, question: OpenQuestion): Promise<void> {
    question.canceller = canceller;
    await sleep(cancellerHasMs).catch(() => undefined);
    delete question.canceller;
  }

  private get cancelled(): (DecisionRecord & Cancellation) | undefined {
    const canceller = this.cancellers.get(cancelReason ?? '');
    return canceller && { decision: 'cancel', ...canceller };
  }

  /** For the report of a saga that is cancelled. @returns a sentence */
  describeCancellation(): string {
    const { cancelled } = this;
    if (cancelled === undefined) return 'cancelled; nobody said who or why';
    const { by, note } = cancelled;
    if (!this.progress.decisions.some(({ decision }) => decision === 'cancel')) this.progress.decide(cancelled);
    return `cancelled, says ${by}: ${note}`;
  }
}

/**
 * A secret in a correction that was not encrypted, although there are keys, would stand in the history for all to read.
 * The setting that allows it came with the failure, because a workflow reads none.
 */
function plaintextObjection(decision: Decision, body: unknown, { lastFailure }: Question): string | undefined {
  if (decision.decision !== 'retry' || lastFailure?.takesClear) return undefined;
  if (!isUnsealed(body) || !holdsSecret(decision.correction)) return undefined;
  return `the correction came unencrypted, and holds a secret. ${howToSendSecrets}`;
}

function correctionObjection(decision: Decision, { correction, step }: Question): string | undefined {
  if (decision.decision !== 'retry' || decision.correction === undefined) return undefined;
  if (correction === undefined) return `nothing can be corrected at ${step}; leave out correction`;
  const schema = correction.schema();
  const checked = check(schema, decision.correction);
  if (checked.ok) {
    const objection = correction.objection?.(checked.value);
    return objection === undefined ? undefined : `correction: ${objection}`;
  }
  return `correction: ${describeProblems(checked.problems)}. At ${step} may be corrected: ${Object.keys(schema.shape).join(', ')}`;
}

const historyIsFull = (step: string) => new SagaFailed('HistoryFull', `${step}: ${whyFull}`);

function countingRefusals<T>(name: DecisionName, take: () => T): T {
  try {
    return take();
  } catch (error) {
    if (error instanceof ApplicationFailure) count('decisions', { decision: name, fate: 'refused' });
    throw error;
  }
}

/** @param movedOn the question that was read is answered by now: no failure where many are decided */
function refusal(message: string, movedOn = false): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, decisionRefused, ...(movedOn ? [{ movedOn }] : []));
}

function withoutInstructions(last: CallFailure) {
  const { failure, message, endpoint, status, body } = last;
  return { failure, whose: ownerOf(last), message, endpoint, status, body };
}

/**
 * When to try by itself; with up to a quarter of jitter, because an outage makes many wait at once. Infinity: not any more.
 *
 * @param made how many have been made. @param leftMs until the deadline
 */
export function ownTryInMs(delaysMs: readonly number[], made: number, leftMs: number, random: number): number {
  const delayMs = delaysMs[Math.min(made, delaysMs.length - 1)] ?? Infinity;
  const inMs = Math.ceil(delayMs * (1 + random / 4));
  return inMs < leftMs ? inMs : Infinity;
}

/**
 * When to remind of a wait: after an hour, then four times as long each time, at most half a year. A year of waiting is
 * seven reminders and eight timers, about a hundred events; an operator should have looked within about an hour.
 */
export function* reminderDelaysMs(): Generator<number, never> {
  const hourMs = 60 * 60 * 1000;
  const longestMs = 182 * 24 * hourMs;
  for (let delayMs = hourMs; ; delayMs = Math.min(delayMs * 4, longestMs)) yield delayMs;
}
