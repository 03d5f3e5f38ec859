/** The hands: one provider call each. Workflows import nothing but the type {@link Activities}. */
import type { ProviderClient } from '../provider/client';
import type { SecretResolver } from '../security/secret-resolver';
import { createAbandonedItemsActivities } from './abandoned-items';
import { createCall } from './call';
import { createCartActivities } from './cart';
import { createChangeOrderActivities } from './change-orders';
import { createFirewallActivities } from './firewalls';
import { createOrderActivities } from './orders';
import { createPlanSwitchActivities } from './plan-switch';
import type { ActivitySettings } from './settings';

export interface ActivityNeeds {
  provider: ProviderClient;
  secrets: SecretResolver;
  settings: ActivitySettings;
}

export function createActivities({ provider, secrets, settings }: ActivityNeeds) {
  const call = createCall(settings);
  return {
    ...createCartActivities(provider, call, settings, secrets),
    ...createAbandonedItemsActivities(call),
    ...createOrderActivities(provider, call, settings),
    ...createChangeOrderActivities(provider, call, settings),
    ...createPlanSwitchActivities(provider, call, settings),
    ...createFirewallActivities(provider, call),
  };
}

export type Activities = ReturnType<typeof createActivities>;
