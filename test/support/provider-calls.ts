/** A call of each kind that the client can make, by the names that a profile has for them. */
import type { ProviderClient } from '../../src/provider/client';
import type { ChangeOrderBody } from '../../src/provider/schemas';

const change: ChangeOrderBody = { subscription_id: 1, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] };

export const providerCalls = {
  order: (client: ProviderClient) => client.placeOrder({ account: 'AB-1', cartItems: [1] }),
  changeOrder: (client: ProviderClient) => client.placeChangeOrder(change),
  switch: (client: ProviderClient) => client.switchPlan(1, 2),
  add: (client: ProviderClient) => client.addCartItem({ billing_cycle: 1 }),
  delete: (client: ProviderClient) => client.deleteCartItem(1),
  quote: (client: ProviderClient) => client.quotePlanSwitch({ subscription_id: 1, plan_id: 2 }),
  'change quote': (client: ProviderClient) => client.quoteChangeOrder(change),
  assign: (client: ProviderClient) => client.assignFirewalls(1, [2]),
  unassign: (client: ProviderClient) => client.unassignFirewalls(1, [2]),
  list: (client: ProviderClient) => client.listFirewalls(1),
  directory: (client: ProviderClient) => client.findServers({ path: '/servers' }),
};

export type ProviderCallName = keyof typeof providerCalls;
