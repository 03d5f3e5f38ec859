/**
 * The only place that decides "retry or not": from what the provider room threw, the step's mood and its budget to one
 * named failure. Workflows decide by that name and obey `retryInMs`; they never see a status.
 *
 * | failure            | reading, acting, undoing | daring (a pivot)                      |
 * | ------------------ | ------------------------ | ------------------------------------- |
 * | NotSent            | retry with backoff       | retry with backoff                    |
 * | RateLimited        | retry after the delay    | retry after the delay                 |
 * | Unauthorized       | no retry: stuck          | no retry: stuck, never compensated    |
 * | Rejected           | no retry: the step fails | no retry: compensate                  |
 * | UnknownOutcome     | retry with backoff       | never retried: a person is asked      |
 * | UnexpectedResponse | no retry: stuck          | no retry: stuck                       |
 */
import { ApplicationFailure } from '@temporalio/common';
import type { CallFailure } from '../domain/failures';
import { NotSent, ProviderFailure, RateLimited, Rejected, Unauthorized, UnexpectedResponse } from '../provider/errors';
import type { ActivitySettings, Mood, RetryBudget } from './settings';

/** Which call of a step this is. Absent for the first one. */
export interface Again {
  attempt: number;
  /** Since the step's first call, in milliseconds. */
  elapsedMs: number;
}

/** A failure that was decided here and not by the provider's answer: a hold, a server that is not listed yet, a missing secret. */
export class OwnFailure extends Error {
  constructor(
    readonly failure: Extract<
      CallFailure['failure'],
      'Held' | 'NotThere' | 'SecretMissing' | 'UnknownOutcome' | 'NotSent'
    >,
    message: string,
    readonly refused?: NonNullable<CallFailure['refused']>,
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
  mood: Mood,
  again: Again | undefined,
  settings: ActivitySettings,
  random: () => number = Math.random,
): ApplicationFailure {
  const facts = read(error);
  if (facts === undefined) throw error;
  const { retryAfterMs, ...failure } = mood === 'daring' ? asPivot(facts, settings) : facts;
  const retryInMs = isRepeated(failure.failure, mood)
    ? nextDelay(settings.retries[mood], again ?? { attempt: 1, elapsedMs: 0 }, retryAfterMs, random)
    : undefined;
  return ApplicationFailure.create({
    type: failure.failure,
    message: failure.message,
    nonRetryable: true,
    details: [{ ...failure, ...(retryInMs === undefined ? {} : { retryInMs }) } satisfies CallFailure],
  });
}

type Facts = CallFailure & { retryAfterMs?: number | undefined };

function read(error: unknown): Facts | undefined {
  if (error instanceof OwnFailure) {
    return { failure: error.failure, message: error.message, ...(error.refused ? { refused: error.refused } : {}) };
  }
  if (!(error instanceof ProviderFailure)) return undefined;
  return {
    failure: nameOf(error),
    message: error.message,
    endpoint: error.endpoint,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.body === undefined ? {} : { body: error.body }),
    ...(error instanceof RateLimited || error instanceof NotSent ? { retryAfterMs: error.retryAfterMs } : {}),
  };
}

function nameOf(error: ProviderFailure): CallFailure['failure'] {
  if (error instanceof NotSent) return 'NotSent';
  if (error instanceof RateLimited) return 'RateLimited';
  if (error instanceof Unauthorized) return 'Unauthorized';
  if (error instanceof Rejected) return 'Rejected';
  if (error instanceof UnexpectedResponse) return 'UnexpectedResponse';
  // Also for a failure that comes to the provider room later, and has no line here yet.
  return 'UnknownOutcome';
}

/**
 * A pivot's answer says "surely not placed, come again" only with a status that the settings call safe: any other is an
 * unknown outcome, a 429 that the provider does not promise included.
 */
function asPivot(facts: Facts, settings: ActivitySettings): Facts {
  if (facts.failure !== 'RateLimited' && facts.failure !== 'UnknownOutcome') return facts;
  const safe = facts.status !== undefined && settings.pivotRetryStatuses.includes(facts.status);
  return { ...facts, failure: safe ? 'RateLimited' : 'UnknownOutcome' };
}

function isRepeated(failure: CallFailure['failure'], mood: Mood): boolean {
  switch (failure) {
    case 'NotSent':
    case 'RateLimited':
    case 'NotThere':
      return true;
    case 'UnknownOutcome':
      return mood !== 'daring';
    case 'Unauthorized':
    case 'Rejected':
    case 'UnexpectedResponse':
    case 'Held':
    case 'SecretMissing':
      return false;
  }
}

/** The delay before the next attempt, or undefined when the budget is used up. */
function nextDelay(
  budget: RetryBudget,
  { attempt, elapsedMs }: Again,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  if (attempt >= budget.attemptsMax) return undefined;
  // Asked to wait longer than for all its attempts together, a step would sleep out of everybody's sight.
  if (retryAfterMs !== undefined && retryAfterMs > budget.totalMs) return undefined;
  const ceiling = Math.min(budget.backoffMaxMs, budget.backoffMs * 2 ** (attempt - 1));
  // The provider's own delay is a floor; the jitter on top keeps all who were told the same from coming back at once.
  const delayMs = Math.ceil((retryAfterMs ?? 0) + random() * ceiling);
  // A first attempt is never the last one for want of time: it may have waited long for a worker.
  if (attempt > 1 && elapsedMs + delayMs > budget.totalMs) return undefined;
  return delayMs;
}
