/** The order itself: how it is sent, found again, and corrected. */
import type { PlacedOrder } from '../../activities/orders';
import { definedOnly } from '../../domain/defined-only';
import type { Placement } from '../../domain/effects';
import { cutWell } from '../../domain/markdown';
import { activities } from '../../saga/activities';
import type { Pivot } from '../../saga/pivot';
import type { Saga } from '../../saga/saga';
import type { Cart } from './cart';
import { confirmingServers, searchDirectory } from './find-servers';
import type { Purchase } from './purchase';

export function ordering(saga: Saga, purchase: Purchase, cart: Cart): Pivot<PlacedOrder> {
  const { secrets } = purchase;
  return {
    get step() {
      return saga.step('place-order', 'Place the order');
    },
    noun: 'the order',
    known: (placed) => ({ order: orderOf(placed) }),
    note: () => {
      const { account, label } = purchase.request;
      return {
        foundBy: `account ${account.slice(0, 40)}${label === undefined ? '' : `, label “${cutWell(label, 60)}”`}`,
      };
    },
    act: (asked) => {
      const { account, currency, label, payment_type, firewalls, vmObjectIds } = purchase.request;
      return activities('place the order').placeOrder({
        order: { account, cartItems: cart.itemIds, ...definedOnly({ currency, label, payment_type }) },
        ...definedOnly({ firewalls, vmObjectIds }),
        noServers: purchase.ordered.most === 0,
        ...secrets.withThePivot,
        ...asked,
      });
    },
    refusal: 'OrderRejected',
    approval: purchase.request.approval,
    corrections: purchase.correctionsOfOrder(cart),
    timesCorrected: () => purchase.timesCorrected,
    look: () => searchDirectory(saga, purchase, { settles: true }),
    get confirming() {
      return confirmingServers(purchase.ordered);
    },
  };
}

/** The provider's answer; null where the order is known without one. */
export function orderOf(placed: Placement<PlacedOrder>): unknown {
  return placed.how === 'answered' ? placed.value.order : null;
}
