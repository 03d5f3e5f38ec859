/** Cart items: added before an order refers to them (row 2), deleted when no order will (row 3). */
import type { CartItem } from '../domain/requests';
import type { ProviderClient } from '../provider/client';
import type { Asked, Call } from './call';
import { currentRun } from './pivot-guard';
import type { ActivitySettings } from './settings';

export interface AddCartItem extends Asked {
  item: CartItem;
  /** Say in the result which run added it: asked for by a run that came from a reset. */
  tellRun?: boolean;
}

export interface AddedCartItem {
  cartItemId: number;
  runId?: string;
}

export function createCartActivities(provider: ProviderClient, call: Call, settings: ActivitySettings) {
  return {
    /** Values of `plan_type` beyond the document's four that this installation knows: a setting, no call. */
    supportedPlanTypes(): Promise<string[]> {
      return Promise.resolve([...settings.planTypesMore]);
    },

    /** Row 2. A second call adds a second item. */
    addCartItem(input: AddCartItem): Promise<AddedCartItem> {
      return call('acting', input, async () => {
        const { cartItemId } = await provider.addCartItem(input.item);
        return input.tellRun ? { cartItemId, runId: currentRun().runId } : { cartItemId };
      });
    },

    /** Row 3, the undo of {@link addCartItem}. A second call finds nothing and is done as well. */
    deleteCartItem(input: Asked & { cartItemId: number }): Promise<void> {
      return call('undoing', input, () => provider.deleteCartItem(input.cartItemId));
    },
  };
}
