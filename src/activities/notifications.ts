/**
 * What receivers are told of a saga: written into the journal's outbox, from where a worker sends it. Nothing is
 * written where no route matches.
 */
import { Context } from '@temporalio/activity';
import { definedOnly } from '../domain/defined-only';
import { workflowIdOf } from '../domain/identity';
import { webUiAt } from '../domain/web-ui';
import { asksForAccount, routesOf, type Message, type SagaEvent } from '../domain/notifications';
import type { Journal } from '../journal/journal';
import { writeNotices } from '../journal/outbox';
import type { Notice } from '../journal/outbox-rows';
import { sagaOf } from './saga-of';
import type { ActivitySettings } from './settings';

export interface Told {
  /** In the order in which they happened. */
  events: readonly SagaEvent[];
  /** The request's. */
  account?: string | undefined;
}

export function createNotificationActivities(journal: Journal, settings: ActivitySettings) {
  return {
    /** Writes what happened to a saga. A second call changes nothing. It fails as it comes: Temporal makes it again. */
    async writeNotifications(told: Told): Promise<void> {
      await writeNotices(journal, await noticesOf(journal, settings, told));
    },
  };
}

/** @throws JournalUnavailable where the account is looked up */
export async function noticesOf(
  journal: Journal,
  { notifications }: Pick<ActivitySettings, 'notifications'>,
  { events, account }: Told,
): Promise<Notice[]> {
  const { routes = [], webUiUrl } = notifications ?? {};
  if (routes.length === 0 || events.length === 0) return [];
  const { info } = Context.current();
  const { saga, run: runId, workflow } = sagaOf(info);
  const { reference } = saga;
  // The request of a clean-up names none.
  const of = account ?? (asksForAccount(routes) ? await journal.accountOf(saga) : undefined);
  const workflowId = workflowIdOf(workflow, reference);
  const run = { namespace: info.namespace, workflowId, runId };
  const link = webUiAt(webUiUrl, info.namespace)?.run(run);
  const notices: Notice[] = [];
  for (const { id, event, at, ...said } of events) {
    const taken = routesOf({ id, event, at, ...said }, of, routes);
    if (taken.length === 0) continue;
    const data = { reference, workflow, ...run, ...definedOnly({ account: of, link }), ...said };
    const message: Message = { type: `saga.${event}`, timestamp: at, data };
    const body = await journal.sealing.seal(message);
    const { namespace } = info;
    for (const route of taken) {
      notices.push({ id, route, namespace, workflowId, reference, event, kind: said.kind, account: of, body });
    }
  }
  return notices;
}
