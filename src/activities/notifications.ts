/**
 * Receivers are notified of a saga by a run of its own for each route (`src/workflows/fleet/notify.ts`). Nothing is
 * handed over where no route matches.
 */
import { Context, log, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { workflowIdOf } from '../domain/identity';
import { metrics } from '../domain/metrics';
import { webUiAt } from '../domain/web-ui';
import {
  deliveryDelays,
  deliverSignal,
  notifyWorkflow,
  routesOf,
  type Notice,
  type SagaEvent,
} from '../domain/notifications';
import type { Wait } from '../domain/record';
import type { Metadata } from '../domain/requests';
import { milestones, type Milestone } from '../domain/progress';
import type { Journal } from '../journal/journal';
import type { NotDelivered } from '../notifications/sender';
import { writeWaits } from '../journal/people';
import { asksInVain } from '../temporal/service';
import { sagaOf, type Needs } from './call';
import type { ActivitySettings } from './settings';

export interface Notified {
  /** In the order in which they happened. */
  events: readonly SagaEvent[];
  /** For the journal: those that began, or ended, since the last ones were written. */
  waits?: readonly Wait[] | undefined;
  /** The request's. */
  account?: string | undefined;
  metadata?: Metadata | undefined;
}

type Settings = Pick<ActivitySettings, 'notifications'>;

export function createNotificationActivities({ journal, settings, sender, secrets }: Needs) {
  return {
    /**
     * Hands over what happened to a saga, and writes its waits into the journal. A second call delivers nothing twice to a
     * receiver that knows ids. Receivers hear of it also while the journal is away. It once answered nothing.
     */
    async tell(told: Notified): Promise<{ isWritten: boolean } | undefined> {
      const { saga, run } = sagaOf();
      await handOver(journal, settings, told);
      const written = writeWaits(journal, saga, run, told.waits ?? []);
      return written.then(
        () => ({ isWritten: true }),
        (err: unknown) => {
          log.warn('waits are not in the journal yet', { err });
          return { isWritten: false };
        },
      );
    },

    /** Sends one notice. It fails where that is not taken; Temporal makes it again, unless the receiver is gone. */
    async deliver({ route, notice }: { route: string; notice: Notice }): Promise<void> {
      const { id, message } = notice;
      // Looked at here: what ends a question that is open now goes to this run, behind it.
      if (notice.again && (await asksInVain(Context.current().client, notice))) {
        log.info('a question was answered before it was asked again', { route, id });
        return;
      }
      const receiver = settings.notifications?.routes.find(({ name }) => name === route);
      if (receiver === undefined) throw notDelivered({ why: `there is no route ${route} any more` });
      const secret = await secrets.resolve(receiver.secret).catch(() => undefined);
      const failure =
        secret === undefined ? { why: 'its secret cannot be read' } : await sender.send(receiver, notice, secret);
      const { name, help } = metrics.notifications;
      metricMeter
        .createCounter(name, '', help)
        .add(1, { route, result: failure === undefined ? 'delivered' : 'failed' });
      if (failure !== undefined) throw notDelivered(failure);
      log.info('a notification was delivered', { route, id, type: message.type });
    },
  };
}

function notDelivered({ why, isGone, retryAfterMs = 0 }: NotDelivered): ApplicationFailure {
  const message = `not delivered: ${why}`;
  if (isGone) return ApplicationFailure.nonRetryable(message, 'ReceiverGone');
  // Never sooner than Temporal would make it again.
  const { initialMs, maximumMs } = deliveryDelays;
  const ownMs = Math.min(initialMs * 2 ** (Context.current().info.attempt - 1), maximumMs);
  const nextRetryDelay = retryAfterMs > ownMs ? { nextRetryDelay: retryAfterMs } : {};
  return ApplicationFailure.create({ message, type: 'NotDelivered', ...nextRetryDelay });
}

/** The events of mere progress that a route takes: the others cost a saga nothing. */
export function wantedEvents({ notifications }: Settings, account: string | undefined): Milestone[] {
  const { routes = [] } = notifications ?? {};
  return milestones.filter((event) => routesOf({ event }, account, routes).length > 0);
}

/** @throws JournalUnavailable where the account is looked up; what Temporal's client throws */
export async function handOver(
  journal: Journal,
  { notifications }: Settings,
  { events, account, metadata }: Notified,
): Promise<void> {
  const { routes = [], webUiUrl } = notifications ?? {};
  if (routes.length === 0 || events.length === 0) return;
  const { info, client } = Context.current();
  const { saga, run: runId, workflow } = sagaOf();
  const { reference } = saga;
  // The request of a clean-up names none. It is looked up where it can make a difference.
  const of = account ?? (routes.some(({ accounts }) => accounts) ? await journal.accountOf(saga) : undefined);
  const workflowId = workflowIdOf(workflow, reference);
  const run = { namespace: info.namespace, workflowId, runId };
  const link = webUiAt(webUiUrl, info.namespace)?.run(run);
  for (const { name: route } of routes) {
    const notices = events
      .filter((event) => routesOf(event, of, routes).includes(route))
      .map(({ id, event, at, ...said }): Notice => {
        const data = { reference, workflow, ...run, account: of, metadata, link, ...said };
        return { id, message: { type: `saga.${event}`, timestamp: at, data } };
      });
    if (notices.length === 0) continue;
    await client.workflow.signalWithStart(notifyWorkflow, {
      workflowId: `${notifyWorkflow}/${route}/${workflowId}`,
      taskQueue: info.taskQueue,
      signal: deliverSignal,
      signalArgs: [notices],
      staticSummary: `tells ${route} of ${workflowId}`,
    });
  }
}
