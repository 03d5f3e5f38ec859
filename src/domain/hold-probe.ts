/**
 * A probe: a few held sagas are let go, and what becomes of them says whether the provider answers again. A saga is a
 * better probe than a look: the provider's document has no call that only asks whether it is there.
 */
import { z } from 'zod';
import type { CallFailureName } from './failures';
import { lazy } from './lazy';
import { isOutcome } from './outcomes';
import type { ProgressView, StepView, Waiting } from './progress';

export const probePlanSchema = lazy(() =>
  z.strictObject({
    /** How many sagas the first probe lets go. */
    first: within(1, 25),
    /** Until the first probe, and the time in which a probe is judged; milliseconds. */
    pauseMs: within(10, 3_600_000),
  }),
);
export type ProbePlan = z.output<ReturnType<typeof probePlanSchema>>;

function within(min: number, max: number) {
  return z
    .int('must be a whole number')
    .min(min, `must be from ${min} to ${max}`)
    .max(max, `must be from ${min} to ${max}`);
}

/**
 * After three probes in a row, each four times as large, a provider that breaks down under the first load has shown it.
 */
export const probesToPass = 3;
const growth = 4;
/** So many begin within seconds, and their ids fit a memo. */
const probeMax = 100;

/** @param passed how many probes in a row were answered */
export function probeSize({ first }: ProbePlan, passed: number): number {
  return Math.min(probeMax, first * growth ** passed);
}

/** Half an hour: an outage of a night costs some twenty probes, and its end is noticed within that time. */
const pauseMaxMs = 30 * 60 * 1000;

/** @param failed how many probes in a row were not answered */
export function probePauseMs({ pauseMs }: ProbePlan, failed: number): number {
  return Math.min(pauseMs * 2 ** Math.min(failed, 30), Math.max(pauseMs, pauseMaxMs));
}

/**
 * What a saga that was let go says of the provider: it answered, it did not, or the saga has made no call (it waits for
 * an approval, or for its turn). `open`: not known yet.
 */
export type ProbeSign = 'answered' | 'unanswered' | 'silent' | 'open';
export type ProbeSigns = Record<ProbeSign, number>;

/** The failures of a call that got no readable answer from the provider. */
const unansweredFailures: readonly CallFailureName[] = ['NotSent', 'UnknownOutcome', 'UnexpectedResponse'];
const answeredFailures: readonly CallFailureName[] = [
  'RateLimited',
  'Unauthorized',
  'NotYet',
  'Rejected',
  'NotVisibleYet',
];

export function signOf({ state, steps, waiting }: Pick<ProgressView, 'state' | 'steps' | 'waiting'>): ProbeSign {
  const calls = steps.filter(reachesProvider);
  const spoke = calls.some(({ status }) => ['done', 'undone', 'failed'].includes(status));
  if (waiting !== undefined) return signOfWait(waiting, spoke);
  if (state === 'queued' || state === 'untouched') return 'silent';
  if (isOutcome(state)) return spoke ? 'answered' : 'silent';
  return 'open';
}

/**
 * When the time of the probe is over. A call that is tried again, or was not answered in all that time, counts as not
 * answered.
 */
export function lastSignOf(progress: Pick<ProgressView, 'state' | 'steps' | 'waiting'>): ProbeSign {
  const sign = signOf(progress);
  if (sign !== 'open') return sign;
  const calls = progress.steps.filter(reachesProvider);
  const retried = calls.some(({ status, attempts }) => status === 'running' && attempts > 1);
  return !retried && calls.some(({ status }) => status === 'done' || status === 'undoing') ? 'answered' : 'unanswered';
}

function signOfWait({ kind, lastFailure }: Waiting, spoke: boolean): ProbeSign {
  if (kind === 'outcome-unknown') return 'unanswered';
  const failure = lastFailure?.failure;
  if (failure !== undefined && unansweredFailures.includes(failure)) return 'unanswered';
  return spoke || (failure !== undefined && answeredFailures.includes(failure)) ? 'answered' : 'silent';
}

/** Steps of our own bookkeeping call the journal, and not the provider. */
function reachesProvider({ id }: StepView): boolean {
  return !/^(take|read|write)-/.test(id);
}

/** `passed`: most of them were answered. `silent`: none of them has made a call. */
export const probeVerdicts = ['passed', 'failed', 'silent'] as const;
export type ProbeVerdict = (typeof probeVerdicts)[number];

export function verdictOf({ answered, unanswered }: Pick<ProbeSigns, 'answered' | 'unanswered'>): ProbeVerdict {
  if (answered === 0 && unanswered === 0) return 'silent';
  return answered > unanswered ? 'passed' : 'failed';
}
