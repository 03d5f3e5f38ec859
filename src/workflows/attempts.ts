/**
 * One step, tried until it succeeds or until it is known that trying further is not ours to decide.
 *
 * Every attempt is an activity of its own, so the saga sees each one: it counts them truthfully, remembers those whose
 * outcome was never learned, and stops between two of them when it is cancelled. A call in flight is always awaited: what
 * it did must be known before it can be undone.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  log,
  sleep,
} from '@temporalio/workflow';
import type { Again } from '../activities/translate-failure';
import { callFailureNames, describeFailure, type CallFailure } from '../domain/failures';
import type { Step } from './progress';
import { lostCallAttemptsMax, lostCallDelayMs } from './temperaments';

export type Act<T> = (again: Again | undefined) => Promise<T>;

export type Settled<T> = { ok: true; value: T } | { ok: false; failure: CallFailure };

export interface Attempting<T> {
  step: Step;
  /** True for a pivot: an unknown outcome is never tried again. */
  daring?: boolean;
  undoing?: boolean;
  /** Called for each attempt whose outcome stays unknown. */
  onDoubt?: (failure: CallFailure) => void;
  /** Called at once, where what waits for the attempt also waits for others beside it. */
  onSuccess?: (value: T) => void;
}

/** One for all calls: a scope costs promises, and of each promise the SDK keeps the stack. */
const uninterrupted = new CancellationScope({ cancellable: false });

/** @throws CancelledFailure when the surrounding scope is cancelled, but never while a call is in flight */
export async function attempt<T>(
  { step, daring, undoing, onDoubt, onSuccess }: Attempting<T>,
  act: Act<T>,
): Promise<Settled<T>> {
  const startedMs = Date.now();
  for (let count = 1; ; count += 1) {
    throwIfCancelled();
    step.begin(undoing ? 'undoing' : 'running');
    const again = count === 1 ? undefined : { attempt: count, elapsedMs: Date.now() - startedMs };
    let failure: CallFailure;
    try {
      const value = await uninterrupted.run(() => act(again));
      onSuccess?.(value);
      return { ok: true, value };
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      failure = readFailure(error) ?? lostCall(error, count, daring ?? false);
    }
    step.say(describeFailure(failure));
    log.warn('a provider call failed', {
      step: step.id,
      attempt: count,
      failure: failure.failure,
      retryInMs: failure.retryInMs,
    });
    if (failure.failure === 'UnknownOutcome') onDoubt?.(failure);
    if (failure.retryInMs === undefined) return { ok: false, failure };
    await pauseAfter(failure, failure.retryInMs, step);
  }
}

/** A saga that is cancelled meanwhile does not try again: what the last attempt came to is what its report should say. */
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

function readFailure({ cause }: ActivityFailure): CallFailure | undefined {
  if (!(cause instanceof ApplicationFailure)) return undefined;
  if (!callFailureNames.some((name) => name === cause.type)) return undefined;
  return cause.details?.[0] as CallFailure;
}

/**
 * The activity ended without one of our failures: its time ran out, its worker was killed or stopped (`WorkerShutdown`), or
 * its code broke. Whether the provider acted is not known.
 */
function lostCall(error: ActivityFailure, attempts: number, daring: boolean): CallFailure {
  const repeat = !daring && attempts < lostCallAttemptsMax;
  return {
    failure: 'UnknownOutcome',
    message: `the call ended without an answer (${error.cause?.message ?? error.message})`,
    ...(repeat ? { retryInMs: lostCallDelayMs * attempts } : {}),
  };
}
