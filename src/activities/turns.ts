/** The queues of servers and subscriptions: taking a turn, and passing it on. None of these calls the provider. */
import { Context, log } from '@temporalio/activity';
import { workflowIdOf } from '../domain/identity';
import { turnSignal, type TurnAnswer } from '../domain/turns';
import type { Journal } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import type { Place } from '../journal/turns';
import { dropTurn, takeTurn, whoIsNext } from '../journal/turns';
import type { ActivitySettings } from './settings';
import { isNotFound, lookAtRun } from './temporal';

/**
 * A queued saga looks whether the saga right before it still runs: one that was terminated or deleted delays it by no
 * more than a quarter of the time that it has waited, and by a week at most. So the number of looks grows as the
 * logarithm of the wait. Behind a saga that has ended it waits while a call of that saga may be in flight.
 */
export async function askForTurn(
  journal: Journal,
  saga: SagaKey,
  resource: string,
  { turnLookMs = lookMsMin }: Pick<ActivitySettings, 'turnLookMs'>,
): Promise<TurnAnswer> {
  for (;;) {
    const answer = await takeTurn(journal, saga, resource);
    if (answer.how !== 'queued') return answer;
    const { behind, waitedMs, inFlightMs: endedInMs, ...queued } = answer;
    const lookInMs = Math.min(Math.max(Math.ceil(waitedMs / 4), turnLookMs), lookMsMax);
    if (endedInMs !== undefined) return { ...queued, lookInMs: Math.min(endedInMs, lookInMs) };
    // If Temporal does not answer, the next look asks again.
    const before = workflowIdOf(behind.workflow, behind.reference);
    const found = await lookAtRun(before).catch(() => ({ waits: undefined }));
    if (found) return { ...queued, holderWaits: before === queued.holder ? found.waits : undefined, lookInMs };
    const inFlightMs = await dropTurn(journal, behind);
    if (inFlightMs > 0) return { ...queued, lookInMs: Math.min(inFlightMs, lookInMs) };
    log.warn('a place in a queue was removed: its saga has ended', { ...behind, resource });
  }
}

const lookMsMin = 60_000;
/** Each look takes eleven events: ten years of looks take 6,000. */
const lookMsMax = 7 * 24 * 60 * 60_000;

/**
 * Signals the next saga that it is its turn. A saga that misses the signal looks by itself, later.
 *
 * @throws nothing: the caller's work is done already
 */
export async function wakeNextInQueue(journal: Journal, first: Place | undefined, resource: string): Promise<void> {
  const { client } = Context.current();
  try {
    for (let next = first; next !== undefined; next = await whoIsNext(journal, resource)) {
      const { workflow, reference } = next;
      try {
        return await client.workflow.getHandle(workflowIdOf(workflow, reference)).signal(turnSignal);
      } catch (error) {
        if (!isNotFound(error) || (await dropTurn(journal, next)) > 0) throw error;
      }
    }
  } catch (err) {
    log.warn('the next saga in a queue could not be signalled, and looks later', { resource, err });
  }
}
