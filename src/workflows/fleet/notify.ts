/**
 * Tells one receiver what happened to one saga, in order: a run of its own, beside the saga, for as long as there is
 * something to tell. What cannot be delivered within days, or to a receiver that is gone, fails the run; whoever has seen to the receiver resets it.
 *
 * ```text
 *   signal deliver ──▶ waiting ──one at a time, as often as it takes──▶ delivered ── nothing waits ──▶ Completed
 *                                        └── not within three days, or gone ──▶ Failed; reset it to its first workflow task
 * ```
 */
import { condition, defineSignal, log, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { deliverSignal, deliveryDelays, noticesSchema, type Notice } from '../../domain/notifications';
import { describeProblems } from '../../domain/problems';
import { check } from '../../domain/validation';
import { count } from '../../saga/shown/metrics';

const { deliver } = proxyActivities<Pick<Activities, 'deliver'>>({
  startToCloseTimeout: '75 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: {
    initialInterval: deliveryDelays.initialMs,
    backoffCoefficient: 2,
    maximumInterval: deliveryDelays.maximumMs,
  },
  // If the queue has a rate, calls of the provider go first.
  priority: { priorityKey: 5 },
  summary: 'deliver',
});

export async function notify(): Promise<void> {
  const [, route = ''] = workflowInfo().workflowId.split('/');
  const waiting: Notice[] = [];
  const seen = new Set<string>();
  setHandler(
    defineSignal<[unknown]>(deliverSignal),
    (given) => {
      const notices = check(noticesSchema(), given);
      if (!notices.ok) {
        log.warn('a signal was ignored', { why: describeProblems(notices.problems) });
        return;
      }
      // An activity that was made again sends the same once more.
      for (const notice of notices.value.filter(({ id }) => !seen.has(id))) {
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
