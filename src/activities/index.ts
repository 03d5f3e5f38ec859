/**
 * An activity calls the provider, with a look beside it at most, or asks the journal, a setting or Temporal. Workflows import only the type
 * {@link Activities}.
 */
import type { Journal } from '../journal/journal';
import type { ProviderClient } from '../provider/client';
import type { Sender } from '../notifications/sender';
import type { SecretResolver } from '../security/secret-resolver';
import { createCall } from './call';
import { createCartActivities } from './cart';
import { createDecideManyActivities } from './decide-many';
import { createEffect } from './effect';
import { createFirewallActivities } from './firewalls';
import { createJournalActivities } from './journal';
import { createNotificationActivities } from './notifications';
import { createOrderActivities } from './orders';
import { createQuotedActivities } from './quotes';
import { createReconcileActivities, type LookUpIn } from './reconcile';
import type { ActivitySettings } from './settings';
import { createHoldActivities } from './temporal';
import { createReadSentSecrets } from './secrets-sent';

export interface ActivityNeeds {
  provider: ProviderClient;
  journal: Journal;
  secrets: SecretResolver;
  sender: Sender;
  settings: ActivitySettings;
  /** Which sagas Temporal has a run of: the client's knowledge. */
  lookUp: LookUpIn;
}

export function createActivities({ provider, journal, secrets, sender, settings, lookUp }: ActivityNeeds) {
  const call = createCall(settings);
  const readSecrets = createReadSentSecrets(secrets, journal);
  const effect = createEffect(journal, call, settings, readSecrets);
  return {
    /** Values of `plan_type` beyond the document's four that this installation knows, as the setting has them. */
    supportedPlanTypes: (): Promise<string[]> => Promise.resolve([...settings.planTypesMore]),
    /** Whether a worker that has keys accepts a request that was not encrypted. */
    takesClearRequests: (): Promise<boolean> => Promise.resolve(settings.takesClearRequests),
    ...createHoldActivities(),
    ...createDecideManyActivities(),
    ...createJournalActivities(journal, call, settings),
    ...createNotificationActivities(journal, settings, { sender, secrets }),
    ...createCartActivities(provider, effect, secrets),
    ...createOrderActivities(provider, journal, { call, effect, readSecrets }, settings),
    ...createQuotedActivities(provider, call, effect, settings),
    ...createFirewallActivities(provider, journal, { call, effect, readSecrets }, settings),
    ...createReconcileActivities(journal, provider, call, lookUp, settings),
  };
}

export type Activities = ReturnType<typeof createActivities>;
