/**
 * Tells one receiver what happened to one saga, in order: a run of its own, beside the saga, for as long as there is
 * something to tell. What cannot be delivered within days fails the run; whoever has seen to the receiver resets it.
 *
 * ```text
 *   signal deliver ──▶ waiting ──one at a time, as often as it takes──▶ delivered ── nothing waits ──▶ Completed
 *                                        └── not within three days ──▶ Failed; reset it to its first workflow task
 * ```
 */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { deliverSignal, type Notice } from '../../domain/notifications';
import { count } from '../../saga/metrics';

/** An hour between two tries at most: a receiver that is back is told within that. */
const { deliver } = proxyActivities<Pick<Activities, 'deliver'>>({
  startToCloseTimeout: '75 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 hour' },
  // If the queue has a rate, calls of the provider go first.
  priority: { priorityKey: 5 },
  summary: 'deliver',
});

export async function notify(route: string): Promise<void> {
  const waiting: Notice[] = [];
  const seen = new Set<string>();
  setHandler(
    defineSignal<[Notice[]]>(deliverSignal),
    (notices) => {
      // An activity that was made again sends the same once more.
      for (const notice of notices.filter(({ id }) => !seen.has(id))) {
        seen.add(notice.id);
        waiting.push(notice);
      }
    },
    { description: 'Deliver these, in order. Sent by workers' },
  );
  await condition(() => waiting.length > 0);
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    try {
      await deliver({ route, notice: next });
    } catch (error) {
      count('notificationsGivenUp', { route });
      throw error;
    }
    waiting.shift();
  }
}
