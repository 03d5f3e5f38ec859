/**
 * Tells one receiver what happened to one saga, in order: a run of its own, beside the saga, for as long as there is
 * something to tell. What cannot be delivered within 30 days, or to a receiver that is gone, fails the run, with all that
 * was not delivered: whoever has seen to the receiver sends it again (`order-saga notify-again`).
 *
 * ```text
 *   signal deliver ──▶ waiting ──one at a time, as often as it takes──▶ delivered ── nothing waits ──▶ Completed
 *                                        └── not within 30 days, or gone ──▶ Failed
 * ```
 */
import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  isCancellation,
  log,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index';
import { deliverSignal, deliveryDelays, deliveryMaxMs, noticesSchema, type Notice } from '../../domain/notifications';
import { describeProblems } from '../../domain/problems';
import { check } from '../../domain/validation';
import { count } from '../../saga/shown/metrics';

const { deliver } = proxyActivities<Pick<Activities, 'deliver'>>({
  startToCloseTimeout: '75 seconds',
  scheduleToCloseTimeout: deliveryMaxMs,
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
      if (isCancellation(error)) throw error;
      count('notificationsGivenUp', { route });
      const { message } = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
      const given = { message, type: 'GivenUp', details: [waiting], nonRetryable: true, cause: error as Error };
      throw ApplicationFailure.create(given);
    }
    waiting.shift();
  }
}
