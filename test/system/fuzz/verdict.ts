/** The verdicts on an answer, whatever it is: a success that is one, or one of the failures. */
import { translateFailure } from '../../../src/activities/translate-failure';
import { callFailureNames, type CallFailure, type CallFailureName } from '../../../src/domain/failures';
import type { ProviderClient } from '../../../src/provider/client';
import { ProviderFailure } from '../../../src/provider/errors';
import type { ProviderCall } from './calls';
import { activitySettings } from '../../support/activity-settings';

const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 60_000 };
const settings = activitySettings(budget);

export type Verdict = { success: unknown } | { failure: CallFailureName; status?: number; message: string };

/**
 * Makes the call, and holds what every failure keeps to.
 *
 * @throws what is no failure of a call, and a failure that a history could not keep or that repeats a pivot on its own
 */
export async function verdictOn(client: ProviderClient, { make, pivot }: ProviderCall): Promise<Verdict> {
  let error: unknown;
  try {
    return { success: await make(client) };
  } catch (thrown) {
    error = thrown;
  }
  if (!(error instanceof ProviderFailure)) throw error;
  const { type, details } = translateFailure(error, pivot ? 'pivot' : 'mutate', undefined, settings);
  const { failure, status, message, body, retryInMs } = details?.[0] as CallFailure;
  if (!callFailureNames.includes(failure) || type !== failure) throw new Error(`${type} is no failure of a call`);
  if (message.length > 500 || (body ?? '').length > 500) throw new Error('it is too long for a history');
  if (!(retryInMs === undefined || (Number.isSafeInteger(retryInMs) && retryInMs >= 0 && retryInMs <= 61_000))) {
    throw new Error(`a delay of ${retryInMs} ms`);
  }
  const sure = ['NotSent', 'TokenUnreadable'].includes(failure) || (failure === 'RateLimited' && status === 429);
  if (pivot && retryInMs !== undefined && !sure) throw new Error(`a pivot is repeated after ${failure}`);
  return { failure, message, ...(status === undefined ? {} : { status }) };
}

export const nameOf = (verdict: Verdict): CallFailureName | 'success' =>
  'failure' in verdict ? verdict.failure : 'success';
