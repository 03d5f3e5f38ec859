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
import type { Effected } from '../domain/effects';
import { callFailureNames, describeFailure, type CallFailure } from '../domain/failures';
import { inWords } from '../domain/times';
import type { Deadline } from './deadline';
import { hasRoomForMany } from './history-left';
import type { JournalMemory } from './journal-memory';
import { countFailedCall, recordAttempts } from './metrics';
import type { Step } from './progress';
import { lostCallAttemptsMax, lostCallDelayMs } from './activities';

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

export interface AttemptOptions<T> {
  step: Step;
  /** Where a call of another step is in flight: that one is shown. @default step */
  inFlight?: () => Step | undefined;
  journal: JournalMemory;
  undoing?: boolean;
  /** Told to each call that it forbids. */
  deadline?: Deadline;
  /** Called before each call. What it throws ends the attempts. */
  before?: () => Promise<void>;
  /** Called at once, where what waits for the attempt also waits for others beside it. */
  onSuccess?: (value: T, detail: string | undefined) => void;
}

/** One for all calls: a scope costs promises, and of each promise the SDK keeps the stack. */
const uninterrupted = new CancellationScope({ cancellable: false });

/** @throws CancelledFailure when the surrounding scope is cancelled, but never while a call is in flight */
export async function attempt<T>(attempting: AttemptOptions<T>, act: Act<T>): Promise<AttemptResult<T>> {
  const { step, journal, undoing, before, onSuccess } = attempting;
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
    const settled = await call(attempting, act, count, retry);
    if (settled.ok) {
      recordAttempts('done', count);
      onSuccess?.(settled.value, settled.detail);
      return settled;
    }
    const { failure } = settled;
    last = failure;
    step.say(describeFailure(failure));
    countFailedCall(failure);
    log.warn('a call failed', {
      step: step.id,
      attempt: count,
      failure: failure.failure,
      retryInMs: failure.retryInMs,
    });
    const mayHaveMade = failure.failure === 'UnknownOutcome' || failure.failure === 'WorkerLost';
    if (mayHaveMade || failure.cartItemId !== undefined) journal.inDoubt = true;
    // A history that has grown long has no room for automatic retries: a person says when it is tried again.
    if (failure.retryInMs === undefined || !hasRoomForMany(undoing ?? false)) {
      recordAttempts('failed', count);
      return settled;
    }
    await pauseAfter(failure, failure.retryInMs, step);
  }
}

/**
 * One attempt. While the same call may be in flight from before, it waits, and looks again; in a run that was reset, or
 * after a call beside it was lost, the reference is kept first. That is no attempt.
 */
async function call<T>(
  { step, journal, deadline, inFlight }: AttemptOptions<T>,
  act: Act<T>,
  count: number,
  retry: EffectContext['retry'],
): Promise<AttemptResult<T>> {
  let shown = step;
  let kept = 0;
  try {
    for (;;) {
      const notWritten = (await journal.write()) ?? (await journal.keep());
      if (notWritten !== undefined) return { ok: false, failure: notWritten };
      const begun = journal.knows?.begun;
      const settled = await callOnce({ step, journal, deadline }, act, count, retry);
      if (!settled.ok && settled.failure.notOwned && (kept === 0 || journal.knows?.begun !== begun)) {
        if (journal.knows?.begun === begun) kept += 1;
        if (kept > 0) journal.ownershipIsInQuestion();
        journal.inDoubt = true;
        continue;
      }
      if (settled.ok || settled.failure.failure !== 'UnderWay') return settled;
      const { message, retryInMs = lostCallDelayMs, inFlightMs = retryInMs } = settled.failure;
      journal.inDoubt = true;
      shown = inFlight?.() ?? step;
      if (shown === step) step.say(message);
      else shown.goOn(message);
      journal.progress?.settle(shown.id, Date.now() + inFlightMs);
      await pauseAfter(settled.failure, retryInMs, shown);
    }
  } finally {
    journal.progress?.settled(shown.id);
  }
}

async function callOnce<T>(
  { step, journal, deadline }: Pick<AttemptOptions<T>, 'step' | 'journal'> & { deadline: Deadline | undefined },
  act: Act<T>,
  count: number,
  retry: EffectContext['retry'],
): Promise<AttemptResult<T>> {
  const { knows, turn } = journal;
  const notAfter = deadline?.notAfter;
  const asked = {
    step: step.id,
    retry,
    ...definedOnly({ knows, turn, notAfter }),
  };
  try {
    const answer = await uninterrupted.run(() => act(asked));
    if (!isEffected(answer)) return { ok: true, value: answer };
    const { value, recorded } = answer;
    await journal.learn(answer, value);
    if (recorded === undefined) return { ok: true, value };
    // The run that did it may have done more, of which this run does not know.
    journal.inDoubt = true;
    return { ok: true, value, detail: `from the journal: ${inWords(recorded.at)}, run ${recorded.run}` };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const said = readFailure(error);
    // Whatever it has not meant by now it shall never mean.
    if (said === undefined) journal.ownershipIsInQuestion();
    const failure = said ?? lostCall(error, count);
    await journal.learn(failure, failure);
    return { ok: false, failure };
  }
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
  return error instanceof ActivityFailure ? readFailure(error) : undefined;
}

function readFailure({ cause }: ActivityFailure): CallFailure | undefined {
  if (!(cause instanceof ApplicationFailure)) return undefined;
  if (!callFailureNames.some((name) => name === cause.type)) return undefined;
  return cause.details?.[0] as CallFailure;
}

/**
 * The activity ended without one of our failures: its time ran out, its worker was killed or stopped
 * (`WorkerShutdown`), or its code broke. The next attempt reads in the journal what it did, if anything.
 */
function lostCall(error: ActivityFailure, attempts: number): CallFailure {
  return {
    failure: 'WorkerLost',
    message: `the call ended without an answer (${error.cause?.message ?? error.message})`,
    ...(attempts < lostCallAttemptsMax ? { retryInMs: lostCallDelayMs * attempts } : {}),
  };
}
