/**
 * One step, tried until it succeeds or until it is known that trying further is not ours to decide.
 *
 * Every attempt is an activity of its own, so the saga sees each one: it counts them truthfully, and stops between two
 * of them when it is cancelled. A call in flight is always awaited: what it did must be known before it can be undone.
 *
 * A call that was lost with its worker is made again, a pivot too, once the run owns its reference anew: the journal
 * knows whether it was sent, and it is not sent any more if it was not.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  log,
  sleep,
} from '@temporalio/workflow';
import type { EffectContext } from '../activities/effect';
import { definedOnly } from '../domain/defined-only';
import type { Effected, JournalKnowledge, Unwritten } from '../domain/effects';
import { callFailureNames, describeFailure, type CallFailure } from '../domain/failures';
import { inWords } from '../domain/times';
import type { Deadline } from './deadline';
import { hasRoomForMany } from './history-left';
import { EndedBefore } from './ends';
import { JournalMemory, type Learnt } from './journal-memory';
import { countFailedCall, recordAttempts } from './metrics';
import { Step } from './progress';
import { activities, isReset, lostCallAttemptsMax, lostCallDelayMs } from './activities';

/** Calls the activity of a step; one with an effect answers with what the journal has of it. */
export type Act<T> = (asked: EffectContext) => Promise<T | Effected<T>>;

export type AttemptResult<T> =
  | {
      ok: true;
      value: T;
      /** Where the answer is from, if not from this call. */
      detail?: string;
    }
  | { ok: false; failure: CallFailure };

export interface AttemptOptions {
  step: Step;
  /** Where a call of another step is in flight: that one is shown. @default step */
  inFlight?: () => Step | undefined;
  /** @default one of its own: nothing of the call is remembered */
  journal?: JournalMemory;
  undoing?: boolean;
  /** Told to each call that it forbids. */
  deadline?: Deadline;
  /** Called before each call. What it throws ends the attempts. */
  before?: () => Promise<void>;
}

/** One for all calls: a scope costs promises, and of each promise the SDK keeps the stack. */
const uninterrupted = new CancellationScope({ cancellable: false });

/** @throws CancelledFailure when the surrounding scope is cancelled, but never while a call is in flight */
export async function attempt<T>(attempting: AttemptOptions, act: Act<T>): Promise<AttemptResult<T>> {
  const { step, journal = new JournalMemory(), undoing, before } = attempting;
  const startedMs = Date.now();
  let last: CallFailure | undefined;
  for (let count = 1; ; count += 1) {
    throwIfCancelled();
    if (before) {
      await before().catch((error: unknown) => {
        if (last) step.end('failed', describeFailure(last));
        throw error;
      });
      throwIfCancelled();
    }
    step.begin(undoing ? 'undoing' : 'running');
    const retry = count === 1 ? undefined : { attempt: count, elapsedMs: Date.now() - startedMs };
    const settled = await call({ ...attempting, journal }, act, retry);
    if (settled.ok) {
      recordAttempts('done', count);
      return settled;
    }
    const { failure } = settled;
    last = failure;
    step.say(describeFailure(failure));
    countFailedCall(failure);
    const { failure: name, retryInMs, cartItemId } = failure;
    log.warn('a call failed', { step: step.id, attempt: count, failure: name, retryInMs });
    if (name === 'UnknownOutcome' || name === 'WorkerLost' || cartItemId !== undefined) journal.inDoubt = true;
    // A history that has grown long has no room for automatic retries: a person says when it is tried again.
    if (retryInMs === undefined || !hasRoomForMany(undoing ?? false)) {
      recordAttempts('failed', count);
      return settled;
    }
    await pauseAfter(failure, retryInMs, step);
  }
}

/**
 * One attempt. While the same call may be in flight from before, it waits, and looks again; in a run that was reset, or
 * after a call beside it was lost, the reference is kept first. That is no attempt.
 */
async function call<T>(
  { step, journal, inFlight, deadline }: AttemptOptions & { journal: JournalMemory },
  act: Act<T>,
  retry: EffectContext['retry'],
): Promise<AttemptResult<T>> {
  let shown = step;
  let kept = 0;
  try {
    for (;;) {
      // Asked before anything is awaited: each promise costs, see docs/performance.md.
      const notReady = journal.isBehind ? await catchUp(journal) : undefined;
      if (notReady !== undefined) return { ok: false, failure: notReady };
      const { knows, turn } = journal;
      const asked = { step: step.id, retry, ...definedOnly({ knows, turn, notAfter: deadline?.notAfter }) };
      let answer: T | Effected<T> | ActivityFailure;
      try {
        answer = await uninterrupted.run(() => act(asked));
      } catch (error) {
        if (!(error instanceof ActivityFailure)) throw error;
        answer = error;
      }
      if (!(answer instanceof ActivityFailure)) {
        if (!isEffected(answer)) return { ok: true, value: answer };
        const { value, recorded } = answer;
        if (journal.learn(answer, value)) await journal.write(writeOutcome);
        if (recorded === undefined) return { ok: true, value };
        // The run that did it may have done more, of which this run does not know.
        journal.inDoubt = true;
        return { ok: true, value, detail: `from the journal: ${inWords(recorded.at)}, run ${recorded.run}` };
      }
      const said = failureOf(answer);
      // Whatever it has not meant by now it shall never mean.
      if (said === undefined) journal.ownershipIsInQuestion();
      const failure = said ?? lostCall(answer, retry?.attempt);
      if (journal.learn(failure, failure)) await journal.write(writeOutcome);
      const isSameBegin = journal.knows?.begun === knows?.begun;
      if (failure.notOwned && (kept === 0 || !isSameBegin)) {
        if (isSameBegin) kept += 1;
        if (kept > 0) journal.ownershipIsInQuestion();
        journal.inDoubt = true;
        continue;
      }
      if (failure.failure !== 'UnderWay') return { ok: false, failure };
      const { message, retryInMs = lostCallDelayMs, inFlightMs = retryInMs } = failure;
      journal.inDoubt = true;
      shown = inFlight?.() ?? step;
      if (shown === step) step.say(message);
      else shown.goOn(message);
      journal.progress?.settle(shown.id, Date.now() + inFlightMs);
      await pauseAfter(failure, retryInMs, shown);
    }
  } finally {
    journal.progress?.settled(shown.id);
  }
}

/** @returns why it could not; nothing may be sent then */
async function catchUp(journal: JournalMemory): Promise<CallFailure | undefined> {
  return (await journal.write(writeOutcome)) ?? (await journal.keep(keepReference));
}

/** For a call within a step's own. What could not be written down with the answer is written at once. */
export async function learn(journal: JournalMemory, learnt: Learnt, answer: unknown): Promise<void> {
  if (journal.learn(learnt, answer)) await journal.write(writeOutcome);
}

/** Not cancelled with the saga: what is not written down is forgotten. */
async function writeOutcome(unwritten: Unwritten, answer: unknown): Promise<CallFailure | undefined> {
  const step = new Step('write-outcome', 'Write into the journal what came of a call');
  const settled = await CancellationScope.nonCancellable(() =>
    attempt({ step }, ({ retry }) =>
      activities('write what came of a call into the journal').writeOutcome({ unwritten, answer, retry }),
    ),
  );
  return settled.ok ? undefined : settled.failure;
}

/** @throws EndedBefore */
async function keepReference(knows: JournalKnowledge, undoes: boolean): Promise<JournalKnowledge | CallFailure> {
  const asked = { knows, isReset: isReset(), ...(undoes ? { undoes } : {}) };
  const step = new Step('keep-reference', 'Go on under the reference');
  const kept = await CancellationScope.nonCancellable(() =>
    attempt({ step }, ({ retry }) => activities('go on under the reference').keepReference({ ...asked, retry })),
  );
  if (!kept.ok) return kept.failure;
  if ('ending' in kept.value) throw new EndedBefore(kept.value);
  return kept.value;
}

function isEffected<T>(answer: T | Effected<T>): answer is Effected<T> {
  return typeof answer === 'object' && answer !== null && 'knows' in answer && 'value' in answer;
}

/**
 * A saga that is cancelled meanwhile does not try again: what the last attempt came to is what its report should say.
 */
async function pauseAfter(failure: CallFailure, pauseMs: number, step: Step): Promise<void> {
  try {
    await sleep(pauseMs);
  } catch (error) {
    step.end('failed', describeFailure(failure));
    throw error;
  }
}

export function throwIfCancelled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the saga was cancelled');
}

/** @returns undefined where the call was lost */
export function failureOf(error: unknown): CallFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure)) return undefined;
  return callFailureNames.some((name) => name === cause.type) ? (cause.details?.[0] as CallFailure) : undefined;
}

/**
 * The activity ended without one of our failures: its time ran out, its worker was killed or stopped
 * (`WorkerShutdown`), or its code broke. The next attempt reads in the journal what it did, if anything.
 */
export function lostCall(error: ActivityFailure, attempts = 1): CallFailure {
  return {
    failure: 'WorkerLost',
    message: `the call ended without an answer (${error.cause?.message ?? error.message})`,
    ...(attempts < lostCallAttemptsMax ? { retryInMs: lostCallDelayMs * attempts } : {}),
  };
}
