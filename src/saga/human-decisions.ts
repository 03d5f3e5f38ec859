/**
 * The only place where a workflow waits for a person.
 *
 * ```text
 *            ask ──▶ open ──decision that fits──▶ taken ──▶ the story goes on
 *                     │ ▲
 *    one that does not │ └── reminders, few and growing
 *                     ▼
 *       update: refused, with the ones that fit      signal: recorded as ignored, with why
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
} from '@temporalio/workflow';
import type { z } from 'zod';
import type { AnswerAt } from '../domain/answers';
import {
  cancelledBySignal,
  decisionHints,
  decisionNames,
  decisionRefused,
  decisionSchemas,
  exampleFor,
  jobCancellationSchema,
  type Cancellation,
  type Decision,
  type DecisionName,
} from '../domain/decisions';
import { definedOnly } from '../domain/defined-only';
import { ownerOf, type CallFailure } from '../domain/failures';
import { cutWell } from '../domain/markdown';
import type { DecisionRecord, ProgressView, WaitKind } from '../domain/progress';
import { holdsSecret, redact } from '../domain/secrets';
import { describeProblems } from '../domain/problems';
import { check } from '../domain/validation';
import { cameAsPlaintext } from './plaintext-input';
import { hasRoomToAsk, HistoryIsFull } from './history-left';
import { count } from './metrics';
import { describeWait, howToSendSecrets } from './current-details';
import type { EventSaid, Notices } from './notices';
import { now, type Progress } from './progress';
import type { Question } from './questions';
import { reminderDelaysMs } from './reminders';

const progressQuery = defineQuery<ProgressView>('progress');

/** `cancellable`: false where what is being done is brought to its end, cancelled or not. */
interface OpenQuestion extends Question {
  id: string;
  cancellable: boolean;
  taken?: Decision;
  /** Who is about to cancel the saga at this question: nobody else decides about it. */
  canceller?: string;
}

/** Longer than a job takes from its word to the cancellation. A job that has died leaves the question to others. */
const cancellerHasMs = 60_000;

/** Within a scope that is not cancellable, nothing hears of a cancellation. */
function isCancellable(scope: CancellationScope): boolean {
  return scope.cancellable && (scope.parent === undefined || isCancellable(scope.parent));
}

/** Enough of a random id to distinguish the questions of one saga, and few enough to type. */
const idChars = 8;

/** Receivers are told none of a question's words, because some are the provider's. */
type AskedTold = EventSaid & { since: string; reminders: number };

export class HumanDecisions {
  private open?: OpenQuestion;
  /** The last word that came before the saga was cancelled; where none did, one that came after. */
  private cancellation?: Cancellation & Pick<DecisionRecord, 'at' | 'kind' | 'step'>;
  /** Says in a sentence what an end without success would undo. */
  undoes: () => string = () => '';

  constructor(
    private readonly progress: Progress,
    private readonly notices: Notices,
  ) {
    setHandler(progressQuery, () => progress.view(), { description: 'State, steps, what it waits for, decisions' });
    for (const name of decisionNames) this.receive(name);
    this.receiveCancellation();
  }

  /**
   * Waits until a person has decided. What was corrected holds when this returns.
   *
   * @throws CancelledFailure when the saga is cancelled first. A decision that was taken in the same moment is not
   * lost: it is returned, and the next step notices the cancellation. HistoryIsFull where the run has no room to wait.
   */
  async ask<K extends WaitKind>(asked: Question<K>): Promise<AnswerAt<K>> {
    if (asked.whenFull === undefined && this.hasNoRoomFor(asked)) throw new HistoryIsFull(asked.step);
    const since = now();
    const question: OpenQuestion = {
      ...asked,
      id: (asked.subject ?? uuid4()).slice(0, idChars),
      cancellable: isCancellable(CancellationScope.current()),
    };
    this.open = question;
    const { id, kind, step, steps, choices, lastFailure, expiry } = question;
    const expiresAt = expiry && new Date(Date.parse(since) + expiry.inMs).toISOString();
    const said = { kind, step, since, ...definedOnly({ steps, expiresAt }) };
    this.progress.wait({
      ...said,
      id,
      question: question.question,
      choices,
      ...(lastFailure ? { lastFailure: withoutInstructions(lastFailure) } : {}),
    });
    setCurrentDetails(describeWait(question, since, this.undoes()));
    log.warn('waiting for a decision', { id, kind, step, question: question.question, choices });
    count('waits', { kind });
    const told = { ...said, question: id, reminders: 0, ...definedOnly({ failure: lastFailure?.failure }) };
    this.notices.tell('waiting', { ...told, choices });
    try {
      await this.untilTaken(question, told);
    } catch (error) {
      if (!isCancellation(error) || question.taken === undefined) throw error;
    } finally {
      delete this.open;
      this.progress.stopWaiting();
      count('waitsEnded', { kind });
      const decision = question.taken?.decision;
      // Without one it was cancelled, or has failed: it undoes, and has not said so yet.
      this.notices.tell('settled', { ...told, ...(decision === undefined ? { state: 'undoing' } : { decision }) });
      setCurrentDetails('');
    }
    const { taken: decision, correction } = question;
    if (decision === undefined) throw new Error('the wait ended without a decision');
    if (decision.decision === 'retry' && decision.correction && correction) {
      const { by, note } = decision;
      await correction.apply(correction.schema().parse(decision.correction), { step, ...definedOnly({ by, note }) });
    }
    return decision as AnswerAt<K>;
  }

  private async untilTaken(question: OpenQuestion, told: AskedTold): Promise<void> {
    const expiresMs = told.expiresAt === undefined ? Infinity : Date.parse(told.expiresAt);
    const { id, kind, step, choices, expiry, whenFull } = question;
    for (const delayMs of reminderDelaysMs()) {
      const waitMs = Math.max(1, Math.min(delayMs, expiresMs - Date.now()));
      if (await condition(() => question.taken !== undefined || this.hasNoRoomFor(question), waitMs)) {
        if (question.taken !== undefined) return;
        if (whenFull === undefined) throw new HistoryIsFull(step);
        this.take({ ...whenFull, question: id });
        return;
      }
      if (expiry && Date.now() >= expiresMs) {
        // In one go with the look: nobody's decision comes in between.
        if (question.taken === undefined) this.take({ ...expiry.decision, question: id });
        return;
      }
      log.warn('still waiting for a decision', { kind, step, since: told.since });
      count('reminders', { kind });
      told.reminders += 1;
      this.notices.tell('reminder', { ...told, choices });
    }
  }

  private hasNoRoomFor(question: Question): boolean {
    const canBeLeftOut = question.whenFull !== undefined;
    // A saga that ends has nothing to give up instead of waiting on, however full its history is.
    return !hasRoomToAsk(canBeLeftOut) && (canBeLeftOut || !this.progress.isEnding);
  }

  private receive(name: DecisionName): void {
    const { does, example } = decisionHints[name];
    const description = `${does}. ${example}`;
    setHandler(
      defineUpdate<{ taken: DecisionName; step: string }, [unknown]>(name),
      (body) => countingRefusals(name, () => this.take(this.read(name, body))),
      {
        description,
        validator: (body) => {
          countingRefusals(name, () => {
            this.read(name, body);
          });
        },
      },
    );
    setHandler(
      defineSignal<[unknown]>(name),
      async (body) => {
        // After the updates of the same workflow task: at a replay they may come in another order than they came in,
        // and the same one must be taken. A reset sends both again, at once.
        await Promise.resolve();
        this.takeOrIgnore(name, body);
      },
      { description },
    );
  }

  /** @throws ApplicationFailure `DecisionRefused`, with a sentence that names the decisions that fit */
  private fitting(name: DecisionName, body: unknown): OpenQuestion {
    const question = this.open;
    if (question === undefined) {
      throw refusal(`${name} does not fit: nothing waits for a decision now; the saga is ${this.progress.state}`, true);
    }
    if (question.canceller !== undefined) {
      throw refusal(`${name} does not fit: ${question.canceller} is about to cancel it`, true);
    }
    const fitting = `Decisions that fit: ${[...question.choices, 'cancel'].join(', ')}`;
    if (!question.choices.includes(name)) {
      const named = (body as { question?: unknown } | null | undefined)?.question;
      const movedOn = typeof named === 'string' && named !== question.id;
      throw refusal(`${name} does not fit: ${question.step} waits as ${question.kind}. ${fitting}`, movedOn);
    }
    return question;
  }

  private read(name: DecisionName, body: unknown): Decision {
    const question = this.fitting(name, body);
    const checked = check(decisionSchemas[name]() as z.ZodType<object>, body ?? {});
    if (!checked.ok)
      throw refusal(
        `${name}: ${describeProblems(checked.problems)}. Like ${exampleFor(name, question.id, question.steps)}`,
      );
    const decision = { decision: name, ...checked.value } as Decision;
    if (decision.question !== question.id) {
      throw refusal(
        `${name}: question ${decision.question.slice(0, 40)} is not the one that waits now, which is ${question.id}: read it first`,
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

  private take(decision: Decision): { taken: DecisionName; step: string } {
    const question = this.open;
    if (question === undefined) throw refusal('nothing waits for a decision now', true);
    delete this.open;
    question.taken = decision;
    this.progress.answered();
    const { kind, step } = question;
    const { decision: taken, by } = decision;
    this.progress.decide({ kind, step, at: now(), ...(redact(decision) as Decision) });
    log.info('decision taken', { decision: taken, kind, step, by });
    count('decisions', { decision: taken, fate: 'taken' });
    return { taken, step };
  }

  /**
   * Who wants the saga cancelled, and why: its report says so, once it is cancelled. A job names the question that
   * somebody has read: it cancels at that one, or not at all.
   */
  private receiveCancellation(): void {
    setHandler(
      defineSignal<[unknown]>(cancelledBySignal),
      async (body) => {
        // Before anything is awaited: the cancellation that follows may be in the same workflow task.
        const isCancelled = CancellationScope.current().consideredCancelled;
        // After the updates of the same workflow task, as above.
        await Promise.resolve();
        const checked = check(jobCancellationSchema(), body);
        if (checked.ok) {
          const { question, ...said } = checked.value;
          if (question !== undefined && question !== this.open?.id) return;
          if (isCancelled && this.cancellation) {
            this.progress.ignore({ decision: 'cancel', at: now(), by: said.by, why: 'the saga was cancelled before' });
            return;
          }
          const waiting = this.open && { kind: this.open.kind, step: this.open.step };
          this.cancellation = { at: now(), ...waiting, ...said };
          if (question !== undefined && this.open) void this.leaveTo(said.by, this.open);
          return;
        }
        const why = `${cancelledBySignal}: ${describeProblems(checked.problems)}`.slice(0, whyCharsMax);
        this.progress.ignore({ decision: 'cancel', at: now(), why });
      },
      { description: 'Who cancels the saga, and why. Sent by the command line before the cancellation' },
    );
  }

  private async leaveTo(canceller: string, question: OpenQuestion): Promise<void> {
    question.canceller = canceller;
    await sleep(cancellerHasMs).catch(() => undefined);
    delete question.canceller;
  }

  /** For the report of a saga that is cancelled. @returns a sentence */
  describeCancellation(): string {
    if (this.cancellation === undefined) return 'cancelled; nobody said who or why';
    const { by, note } = this.cancellation;
    if (!this.progress.decisions.some(({ decision }) => decision === 'cancel')) {
      this.progress.decide({ decision: 'cancel', ...this.cancellation });
    }
    return `cancelled, says ${by}: ${note}`;
  }

  private takeOrIgnore(name: DecisionName, body: unknown): void {
    try {
      this.take(this.read(name, body));
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      const by = (body as { by?: unknown } | null | undefined)?.by;
      // An update that is refused leaves nothing behind; a signal does.
      const why = error.message + (cameAsPlaintext(body) && holdsSecret(body) ? signalStays : '');
      this.progress.ignore({
        decision: name,
        at: now(),
        why: cutWell(why, whyCharsMax),
        ...(typeof by === 'string' ? { by: cutWell(by, 200) } : {}),
      });
      log.warn('a signal was ignored', { decision: name, step: this.open?.step, why });
      count('decisions', { decision: name, fate: 'ignored' });
    }
  }
}

/** Enough to see what was wrong with an ignored signal; fifty of them still fit a report. */
const whyCharsMax = 1_000;

const signalStays = '. This signal, and the secret in it, can be read in this history for good: choose another secret';

/**
 * A secret in a correction that was not encrypted, although there are keys, would stand in the history for all to read.
 * The setting that allows it came with the failure, because a workflow reads none.
 */
function plaintextObjection(decision: Decision, body: unknown, { lastFailure }: Question): string | undefined {
  if (decision.decision !== 'retry' || lastFailure?.takesClear) return undefined;
  if (!cameAsPlaintext(body) || !holdsSecret(decision.correction)) return undefined;
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

function withoutInstructions({ failure, message, endpoint, status, body, doubt }: CallFailure) {
  return {
    failure,
    whose: ownerOf({ failure, ...definedOnly({ doubt, endpoint, status }) }),
    message,
    ...definedOnly({ endpoint, status, body }),
  };
}
