/** The same calls as ours, and nothing around them. */
import type { ProviderClient } from '../../src/provider/client';
import type { CartItemBody, OrderBody } from '../../src/provider/schemas';

export function createBareActivities(provider: ProviderClient) {
  return {
    addCartItem: (item: CartItemBody) => provider.addCartItem(item),
    deleteCartItem: (cartItemId: number) => provider.deleteCartItem(cartItemId),
    placeOrder: (order: OrderBody) => provider.placeOrder(order),
    assignFirewalls: (vmObjectId: number, firewalls: number[]) => provider.assignFirewalls(vmObjectId, firewalls),
    listFirewalls: (vmObjectId: number) => provider.listFirewalls(vmObjectId),
  };
}

export type BareActivities = ReturnType<typeof createBareActivities>;
