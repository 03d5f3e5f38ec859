/** Cart items: added before an order refers to them (row 2), deleted when no order will (row 3). */
import type { CartItem } from '../domain/requests';
import type { ProviderClient } from '../provider/client';
import type { Asked, Call } from './call';
import type { ActivitySettings } from './settings';

export interface AddCartItem extends Asked {
  item: CartItem;
}

export function createCartActivities(provider: ProviderClient, call: Call, settings: ActivitySettings) {
  return {
    /** Values of `plan_type` beyond the document's four that this installation knows: a setting, no call. */
    supportedPlanTypes(): Promise<string[]> {
      return Promise.resolve([...settings.planTypesMore]);
    },

    /** Row 2. A second call adds a second item. */
    addCartItem(input: AddCartItem): Promise<{ cartItemId: number }> {
      return call('acting', input, () => provider.addCartItem(input.item));
    },

    /** Row 3, the undo of {@link addCartItem}. A second call finds nothing and is done as well. */
    deleteCartItem(input: Asked & { cartItemId: number }): Promise<void> {
      return call('undoing', input, () => provider.deleteCartItem(input.cartItemId));
    },
  };
}
