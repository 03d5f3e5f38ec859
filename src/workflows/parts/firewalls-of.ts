/**
 * Look which firewalls protect a server.
 *
 * ```text
 *   list the firewalls (10)     changes nothing
 * ```
 *
 * It makes one call and returns its outcome. The caller waits and can ask again, so no person is asked and nothing is
 * stored.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { firewallsOfSchema, type ServerFirewalls } from '../../domain/firewalls-of';
import { activities } from '../../saga/activities';
import { failureOf, lostCall } from '../../saga/attempts';
import { readRequest } from '../../saga/check-request';

export async function firewallsOf(input: unknown): Promise<ServerFirewalls> {
  const { vmObjectId } = readRequest(firewallsOfSchema(), input);
  try {
    const list = await activities(`list firewalls of ${vmObjectId}`).listFirewalls({ vmObjectId });
    return { vmObjectId, ...list };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { failure, message } = failureOf(error) ?? lostCall(error);
    throw ApplicationFailure.nonRetryable(message, failure);
  }
}
