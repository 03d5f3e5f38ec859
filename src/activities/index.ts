/**
 * An activity calls the provider, with a look beside it at most, or asks the journal, a setting or Temporal. Workflows
 * import only the type {@link Activities}.
 */
import type { PlanTypes } from '../domain/plan-types';
import { createActivityOf, type Needs } from './call';
import { createCartActivities } from './cart';
import { createCheckActivities } from './check';
import { createEffect, createReadSentSecrets } from './effect';
import { createFirewallActivities } from './firewalls';
import { createJournalActivities } from './journal';
import { createNotificationActivities } from './notifications';
import { createOrderActivities } from './orders';
import { createQuotedActivities } from './quotes';
import { createReconcileActivities, type LookUpIn } from './reconcile';
import { awaitRelease } from './temporal';

export interface ActivityNeeds extends Needs {
  /** Which sagas Temporal has a run of: the client's knowledge. */
  lookUp: LookUpIn;
}

export function createActivities({ lookUp, ...needs }: ActivityNeeds) {
  const { settings } = needs;
  const withoutEffect = { ...needs, activity: createActivityOf(settings), readSecrets: createReadSentSecrets(needs) };
  const tools = { ...withoutEffect, effect: createEffect(withoutEffect) };
  return {
    /** Values of `plan_type` beyond the document's four, as the provider's profile has them. */
    supportedPlanTypes: (): Promise<PlanTypes> => Promise.resolve(settings.profile?.planTypes ?? {}),
    /** True if a worker that has keys accepts a request that was not encrypted. */
    takesClearRequests: (): Promise<boolean> => Promise.resolve(settings.takesClearRequests),
    awaitRelease,
    ...createJournalActivities(tools),
    ...createNotificationActivities(needs),
    ...createCartActivities(tools),
    ...createOrderActivities(tools),
    ...createQuotedActivities(tools),
    ...createFirewallActivities(tools),
    ...createReconcileActivities(tools, lookUp),
    ...createCheckActivities(tools),
  };
}

export type Activities = ReturnType<typeof createActivities>;
