/** The queues of servers and subscriptions: taking a turn, and handing it on. None of these calls the provider. */
import { Context, log } from '@temporalio/activity';
import { workflowIdOf } from '../domain/identity';
import { turnSignal, type TurnAnswer } from '../domain/turns';
import type { Journal, SagaKey } from '../journal/journal';
import type { Place } from '../journal/turn-rows';
import { dropTurn, takeTurn, whoIsNext } from '../journal/turns';
import type { CallContext, Call } from './call';
import { isNotFound, isRunning } from './is-running';
import { sagaOf } from './saga-of';
import type { ActivitySettings } from './settings';

export function createTurnActivities(journal: Journal, call: Call, settings: ActivitySettings) {
  return {
    /** A second call keeps the place in the queue, or the turn. */
    takeTurn(input: CallContext & { resource: string }): Promise<TurnAnswer> {
      return call('read', input, () =>
        askForTurn(journal, sagaOf(Context.current().info).saga, input.resource, settings),
      );
    },
  };
}

/**
 * Whoever is queued looks whether the one right before it is still there: a saga that was terminated or deleted holds nobody up for
 * longer than a quarter of what they had waited already, and a week at most. So the looks of a saga grow as the logarithm of its wait.
 * Of a saga in another namespace Temporal says nothing here: it is waited for until somebody there has seen to it. One that has ended is
 * waited for while a call of it may be in the air, wherever it was.
 */
export async function askForTurn(
  journal: Journal,
  saga: SagaKey,
  resource: string,
  { turnLookMs }: Pick<ActivitySettings, 'turnLookMs'>,
): Promise<TurnAnswer> {
  const { namespace } = Context.current().info;
  for (;;) {
    const answer = await takeTurn(journal, saga, resource, namespace);
    if (answer.how !== 'queued') return answer;
    const { behind, waitedMs, inAirMs: endedInMs, ...queued } = answer;
    const lookInMs = lookDelayMs(waitedMs, turnLookMs);
    if (endedInMs !== undefined) return { ...queued, lookInMs: Math.min(endedInMs, lookInMs) };
    const isElsewhere = behind.namespace !== namespace;
    if (isElsewhere || (await mayGoOn(workflowIdOf(behind.workflow, behind.reference)))) return { ...queued, lookInMs };
    const inAirMs = await dropTurn(journal, behind);
    if (inAirMs > 0) return { ...queued, lookInMs: Math.min(inAirMs, lookInMs) };
    log.warn('a place in a queue was given up: its saga is gone', { ...behind, resource });
  }
}

const lookMsMin = 60_000;
/** Each look takes eleven events: ten years of them are 6,000. */
const lookMsMax = 7 * 24 * 60 * 60_000;

/** @param waitedMs so long it has been queued */
export function lookDelayMs(waitedMs: number, turnLookMs = lookMsMin): number {
  return Math.min(Math.max(Math.ceil(waitedMs / 4), turnLookMs), lookMsMax);
}

/** What Temporal cannot say now it may say at the next look. */
async function mayGoOn(workflowId: string): Promise<boolean> {
  return isRunning(workflowId).catch(() => true);
}

/**
 * Tells whoever is next that it is its turn. One that does not hear it looks by itself, later.
 *
 * @throws nothing: what it is called after has been done
 */
export async function handOn(journal: Journal, first: Place | undefined, resource: string): Promise<void> {
  const { client, info } = Context.current();
  try {
    for (let next = first; next !== undefined; next = await whoIsNext(journal, resource)) {
      const { workflow, reference, namespace } = next;
      // It cannot be told from here, and may well be running there.
      if (namespace !== info.namespace) return;
      try {
        return await client.workflow.getHandle(workflowIdOf(workflow, reference)).signal(turnSignal);
      } catch (error) {
        if (!isNotFound(error) || (await dropTurn(journal, next)) > 0) throw error;
      }
    }
  } catch (err) {
    log.warn('whoever is next in a queue was not told, and looks later', { resource, err });
  }
}
