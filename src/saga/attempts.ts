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
import type { PastEnding } from '../activities/journal';
import type { Effected, JournalCursor } from '../domain/effects';
import { callFailureNames, describeFailure, type CallFailure } from '../domain/failures';
import { inWords } from '../domain/times';
import type { Deadline } from './deadline';
import { hasRoomForMany } from './history-left';
import { EndedBefore, ReadAgain } from './control-flow';
import type { JournalMemory, Learnt } from './journal-memory';
import { countFailedCall, recordAttempts } from './shown/metrics';
import { Step, type Progress } from './shown/progress';
import { activities, isReset, lostCallAttemptsMax, lostCallDelayMs } from './activities';

/** Calls the activity of a step; one with an effect answers with what the journal has of it. */
export type Act<T> = (asked: EffectContext) => Promise<T | Effected<T>>;

export interface Attempted<T> {
  step: Step;
  act: Act<T>;
  /** The step that is shown: another one while a call of it is in flight. @default step */
  inFlight?: () => Step | undefined;
  /** Called before each attempt. What it throws ends the attempts. */
  before?: (() => Promise<void>) | undefined;
}

export interface Calling {
  readonly journal: JournalMemory;
  readonly deadline: Deadline;
  readonly progress: Progress;
}

/** `detail`: where the value is from, if not from this call. */
export type AttemptResult<T> = { ok: true; value: T; detail?: string } | { ok: false; failure: CallFailure };

/** One for all calls, because each scope makes promises, and the SDK keeps a stack for each promise. */
const uninterrupted = new CancellationScope({ cancellable: false });

/**
 * Each turn of the loop is one call. A call that had to wait for another one, or did not own the reference, is made again
 * within the same attempt.
 *
 * @param saga without it nothing of a call is remembered
 * @param once one attempt, without automatic retries
 * @throws CancelledFailure when the surrounding scope is cancelled, but never while a call is in flight
 */
export async function attempt<T>(
  spec: Attempted<T>,
  saga?: Calling,
  undoing = false,
  once = false,
): Promise<AttemptResult<T>> {
  const { step, act, before } = spec;
  const { journal, deadline, progress } = saga ?? {};
  const startedMs = Date.now();
  const waits: Waits = { shown: step, hasKept: false };
  let count = 0;
  let isNew = true;
  let retry: EffectContext['retry'];
  let failure: CallFailure | undefined;
  try {
    for (;;) {
      if (isNew) {
        throwIfCancelled();
        if (before) await readyToSend(before, step, failure);
        step.begin(undoing ? 'undoing' : 'running');
        count += 1;
        if (count > 1) retry = { attempt: count, elapsedMs: Date.now() - startedMs };
        waits.hasKept = false;
      }
      // Asked before anything is awaited: each promise costs, see docs/internals/performance.md.
      failure = saga?.journal.hasPendingWork ? await catchUp(saga, once) : undefined;
      const notAfter = undoing ? undefined : deadline?.notAfter;
      const asked = { step: step.id, retry, cursor: journal?.cursor, turn: journal?.turn, notAfter };
      if (failure === undefined) {
        try {
          const answer = await uninterrupted.run(() => act(asked));
          if (journal && isEffected(answer) && journal.learn(answer, answer.value)) await writeOutcomes(journal);
          recordAttempts('done', count);
          return { ok: true, ...valueIn(answer, journal) };
        } catch (error) {
          failure = failureIn(error, journal, count);
          if (journal?.learn(failure, failure)) await writeOutcomes(journal);
        }
      }
      isNew = !(await isRepeatedInPlace(failure, asked, spec, waits, saga));
      if (!isNew) continue;
      progress?.leaveSettling(waits.shown.id);
      tellFailed(failure, step, count, journal);
      // A history that has grown long has no room for automatic retries: a person says when it is tried again.
      if (failure.retryInMs === undefined || once || !hasRoomForMany(undoing)) {
        if (failure.failure !== 'NeedsApproval') recordAttempts('failed', count);
        return { ok: false, failure };
      }
      await pauseAfter(failure, failure.retryInMs, step);
    }
  } finally {
    progress?.leaveSettling(waits.shown.id);
  }
}

async function readyToSend(before: () => Promise<void>, step: Step, last: CallFailure | undefined): Promise<void> {
  try {
    await before();
  } catch (error) {
    if (last) step.end('failed', describeFailure(last));
    throw error;
  }
  throwIfCancelled();
}

function valueIn<T>(answer: T | Effected<T>, journal: JournalMemory | undefined): { value: T; detail?: string } {
  if (!isEffected(answer)) return { value: answer };
  const { value, recorded } = answer;
  if (recorded === undefined) return { value };
  // The run that did it may have done more, of which this run does not know.
  if (journal) journal.mayHaveLeftovers = true;
  return { value, detail: `from the journal: ${inWords(recorded.at)}, run ${recorded.run}` };
}

function failureIn(error: unknown, journal: JournalMemory | undefined, attempts: number): CallFailure {
  if (!(error instanceof ActivityFailure)) throw error;
  const said = failureOf(error);
  // Whatever it has not intended by now it shall never intend.
  if (journal && said === undefined) journal.mustRenew = true;
  return said ?? lostCall(error, attempts);
}

interface Waits {
  /** The step whose call is waited for. */
  shown: Step;
  /** The reference was kept within this attempt. */
  hasKept: boolean;
}

/** Waits where an earlier call may be in flight. @returns whether the call is made again, and no attempt is counted */
async function isRepeatedInPlace<T>(
  failure: CallFailure,
  { cursor }: EffectContext,
  { step, inFlight }: Attempted<T>,
  waits: Waits,
  { journal, progress }: Partial<Calling> = {},
): Promise<boolean> {
  if (failure.notOwned && journal) {
    // A call beside it may have begun anew since: then it is only made again.
    const isSameBegin = journal.cursor?.fence === cursor?.fence;
    if (waits.hasKept && isSameBegin) return false;
    waits.hasKept ||= isSameBegin;
    if (waits.hasKept) journal.mustRenew = true;
    journal.mayHaveLeftovers = true;
    return true;
  }
  if (failure.failure !== 'UnderWay') return false;
  const { message, retryInMs = lostCallDelayMs, inFlightMs = retryInMs } = failure;
  if (journal) journal.mayHaveLeftovers = true;
  const shown = (waits.shown = inFlight?.() ?? step);
  if (shown === step) step.setDetail(message);
  else shown.resume(message);
  progress?.enterSettling(shown.id, Date.now() + inFlightMs);
  await pauseAfter(failure, retryInMs, shown);
  return true;
}

function tellFailed(failure: CallFailure, step: Step, attempt: number, journal: JournalMemory | undefined): void {
  const { failure: name, retryInMs, cartItemId } = failure;
  step.setDetail(describeFailure(failure));
  countFailedCall(failure);
  log.warn('a call failed', { step: step.id, attempt, failure: name, retryInMs });
  const isDoubtful = name === 'UnknownOutcome' || name === 'WorkerLost' || cartItemId !== undefined;
  if (journal && isDoubtful) journal.mayHaveLeftovers = true;
}

/** @returns why it could not; nothing may be sent then */
async function catchUp({ journal, progress }: Calling, once: boolean): Promise<CallFailure | undefined> {
  const failure = await writeOutcomes(journal, once);
  if (failure || !journal.mustRenew || journal.cursor?.fence === undefined) return failure;
  return (journal.renewing ??= renew(journal, progress.isEnding, once).finally(() => delete journal.renewing));
}

/** For a call within a step's own. What could not be written down with the answer is written at once. */
export async function learn(journal: JournalMemory, learnt: Learnt, answer: unknown): Promise<void> {
  if (journal.learn(learnt, answer)) await writeOutcomes(journal);
}

/** Calls side by side wait for the same writing. @returns why it could not; nothing may be sent then */
async function writeOutcomes(journal: JournalMemory, once = false): Promise<CallFailure | undefined> {
  while (journal.unwritten.length > 0) {
    const failure = await (journal.writing ??= writeFirst(journal, once).finally(() => delete journal.writing));
    if (failure) return failure;
  }
  return undefined;
}

/** Not cancelled with the saga: what is not written down is forgotten. */
async function writeFirst({ unwritten }: JournalMemory, once: boolean): Promise<CallFailure | undefined> {
  const [first] = unwritten;
  if (first === undefined) return undefined;
  const step = new Step('write-outcome', 'Write into the journal what came of a call');
  const act: Act<void> = ({ retry }) =>
    activities('write what came of a call into the journal').writeOutcome({ ...first, retry });
  const written = await CancellationScope.nonCancellable(() => attempt({ step, act }, undefined, false, once));
  if (!written.ok) return written.failure;
  unwritten.shift();
  return undefined;
}

/** Owns the reference anew. @returns why nothing may be sent. @throws EndedBefore, ReadAgain */
async function renew(journal: JournalMemory, isEnding: boolean, once: boolean): Promise<CallFailure | undefined> {
  const { cursor } = journal;
  if (cursor === undefined) return undefined;
  const asked = { cursor, isReset: isReset() };
  const step = new Step('renew-reference', 'Go on under the reference');
  const act: Act<JournalCursor | PastEnding> = ({ retry }) =>
    activities('go on under the reference').renewReference({ ...asked, retry });
  const kept = await CancellationScope.nonCancellable(() => attempt({ step, act }, undefined, false, once));
  if (kept.ok) {
    if ('ending' in kept.value) throw new EndedBefore(kept.value);
    journal.moveCursor(kept.value);
    journal.mustRenew = false;
    return undefined;
  }
  if (kept.failure.failure !== 'StateChanged') return kept.failure;
  journal.mustRenew = false;
  if (!isEnding) return kept.failure;
  if (journal.readsAgain) throw new ReadAgain();
  // It leaves alone what is not its own by now, and still looks, and writes its ending.
  return undefined;
}

function isEffected<T>(answer: T | Effected<T>): answer is Effected<T> {
  return typeof answer === 'object' && answer !== null && 'cursor' in answer && 'value' in answer;
}

/** A saga that is cancelled meanwhile reports what the last attempt came to. */
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
function lostCall(error: ActivityFailure, attempts = 1): CallFailure {
  return {
    failure: 'WorkerLost',
    message: `the call ended without an answer (${error.cause?.message ?? error.message})`,
    retryInMs: attempts < lostCallAttemptsMax ? lostCallDelayMs * attempts : undefined,
  };
}
