/**
 * Makes one named failure of what a room threw, the call's kind and its budget, and decides whether it is made again.
 * Workflows decide by that name and obey `retryInMs`. docs/failures.md has the table. A lost worker, and a call that is
 * still under way, are seen elsewhere (`src/saga/attempts.ts`, `effect.ts`).
 */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { mayEndByTime, type CallFailure, type CallFailureName } from '../domain/failures';
import type { Refusal } from '../domain/profile';
import { JournalUnavailable, JournalUnreadable } from '../journal/database/errors';
import { ProviderFailure } from '../provider/errors';
import type { ActivitySettings, CallKind, RetryBudget } from './settings';

/** Which call of a step this is. Absent for the first one. */
export interface RetryState {
  attempt: number;
  /** Since the step's first call, in milliseconds. */
  elapsedMs: number;
}

/** A failure that was decided on our side, and not by the provider's answer; or one that was translated before. */
export class OwnFailure extends Error {
  constructor(
    readonly failure: CallFailureName,
    message: string,
    readonly facts: Omit<Partial<CallFailure>, 'failure' | 'message'> = {},
  ) {
    super(message);
  }
}

/**
 * @returns a failure whose `type` is the failure's name and whose `details[0]` is the {@link CallFailure}. It is always
 * non-retryable for Temporal: the workflow repeats the step by a timer of its own, so that every attempt is in the
 * history, an attempt of unknown outcome is known to the saga, and `progress` counts them truthfully.
 */
export function translateFailure(
  error: unknown,
  kind: CallKind,
  again: RetryState | undefined,
  settings: ActivitySettings,
  random: () => number = Math.random,
): ApplicationFailure {
  const facts = callFailureOf(error, kind, settings);
  if (facts === undefined) throw error;
  const { retryAfterMs, declared, ...failure } = facts;
  // A failure that only needs time gets the time of a look, not that of a change.
  const budget = settings.retries[failure.failure === 'NotYet' ? 'poll' : kind];
  // The profile says how an answer is read; that a pivot is sent again, the setting alone.
  const isUnsafe = kind === 'pivot' && declared && !settings.pivotRetryStatuses.includes(failure.status ?? 0);
  const isDoubt = kind === 'pivot' && failure.failure === 'UnknownOutcome';
  const repeats = repeated.includes(failure.failure) && !isUnsafe && !isDoubt;
  const retryInMs = repeats ? nextDelay(budget, again, retryAfterMs, random) : undefined;
  const triesItself = settings.ownTriesMs.length > 0 && mayEndByTime(failure.failure, false) && !isUnsafe;
  const ownTriesMs = triesItself ? settings.ownTriesMs : undefined;
  return ApplicationFailure.create({
    type: failure.failure,
    message: failure.message,
    nonRetryable: true,
    // The saga expects it: Temporal's own metrics and logs do not count it as a failure.
    category: ApplicationFailureCategory.BENIGN,
    details: [
      {
        retryInMs,
        ownTriesMs,
        takesClear: settings.takesClearRequests || undefined,
        asks: (failure.failure === 'Rejected' && settings.onRefusal === 'ask') || undefined,
        ...failure,
      } satisfies CallFailure,
    ],
  });
}

type Facts = CallFailure & { retryAfterMs?: number | undefined; declared?: Refusal['means'] | undefined };

/** @returns undefined for an error that is not a failure of a call, but a mistake of ours */
export function callFailureOf(error: unknown, kind: CallKind, settings: ActivitySettings): Facts | undefined {
  const facts = read(error);
  return facts && kind === 'pivot' ? asPivot(facts, settings) : facts;
}

function read(error: unknown): Facts | undefined {
  if (error instanceof OwnFailure) return { failure: error.failure, message: error.message, ...error.facts };
  if (error instanceof JournalUnavailable) return { failure: 'JournalUnavailable', message: error.message };
  if (error instanceof JournalUnreadable) return { failure: 'JournalUnreadable', message: error.message };
  if (!(error instanceof ProviderFailure)) return undefined;
  const { name: failure, message, endpoint, status, body, retryAfterMs, cartItemId, declared } = error;
  return { failure, message, endpoint, status, body, retryAfterMs, cartItemId, declared };
}

/** Failures of a pivot after which nobody has to be asked: it was surely not sent, or surely refused. */
const surelyNotPlaced: readonly CallFailureName[] = ['NotSent', 'TokenUnreadable', 'Unauthorized', 'Rejected'];

/**
 * A pivot's failure is of unknown outcome unless it is surely, or as the profile declares, another one. Statuses that the settings call safe mean
 * "surely not placed, try again"; a redirect means nothing, and neither does a 429 that the provider does not promise. A
 * 403 refuses, also where it says when to come again.
 */
function asPivot(facts: Facts, settings: ActivitySettings): Facts {
  const decidedHere = facts.endpoint === undefined;
  const isRefused = surelyNotPlaced.includes(facts.failure) || facts.status === 403;
  if (decidedHere || facts.declared || isRefused) return facts;
  const mayBeSafe = facts.failure === 'RateLimited' || facts.failure === 'UnknownOutcome';
  const safe = mayBeSafe && facts.status !== undefined && settings.pivotRetryStatuses.includes(facts.status);
  return { ...facts, failure: safe ? 'RateLimited' : 'UnknownOutcome' };
}

/**
 * Failures that time or another attempt may mend. A pivot of unknown outcome is never repeated; `WorkerLost` and
 * `UnderWay` have delays of their own.
 */
const repeated: readonly CallFailureName[] = [
  'NotSent',
  'TokenUnreadable',
  'RateLimited',
  'NotYet',
  'UnknownOutcome',
  'NotVisibleYet',
  'StoodStill',
  'JournalUnavailable',
  'TemporalUnavailable',
  'QuoteAged',
];

/** The delay before the next attempt, or undefined when the budget is used up. */
function nextDelay(
  budget: RetryBudget,
  { attempt, elapsedMs }: RetryState = { attempt: 1, elapsedMs: 0 },
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  if (attempt >= budget.attemptsMax) return undefined;
  // A step must not sleep unseen for longer than all its attempts may take together: a person is asked instead.
  if (retryAfterMs !== undefined && retryAfterMs > budget.totalMs) return undefined;
  const ceiling = Math.min(budget.backoffMaxMs, budget.backoffMs * 2 ** (attempt - 1));
  // The provider's own delay is the minimum; the jitter on top keeps callers with the same delay from returning at
  // once.
  const delayMs = Math.ceil((retryAfterMs ?? 0) + random() * ceiling);
  // Lack of time never makes a first attempt the last one: it may have waited long for a worker.
  if (attempt > 1 && elapsedMs + delayMs > budget.totalMs) return undefined;
  return delayMs;
}
