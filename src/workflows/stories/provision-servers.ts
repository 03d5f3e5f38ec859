/**
 * Buy cloud servers, and what else is ordered with them.
 *
 * ```text
 *   guard, approval                 nothing to undo
 *   add each cart item (2)          ↩ delete it (3)
 *   ═════════ place the order (1) ═════════  point of no return
 *   learn the object ids of the new servers
 *   assign the firewalls to each server (8)
 *   look whether each server has them (10)
 * ```
 *
 * Where the saga does not reach its end, it looks whether the list shows what earlier runs have assigned (10).
 */
import type { PlacedOrder } from '../../activities/orders';
import { definedOnly } from '../../domain/defined-only';
import type { Placement } from '../../domain/effects';
import { cutWell } from '../../domain/markdown';
import type { ResultOf } from '../../domain/results';
import { activities } from '../../saga/activities';
import type { Pivot } from '../../saga/pivot';
import { runSaga } from '../../saga/run-saga';
import type { Saga } from '../../saga/saga';
import type { StoryOf } from '../../saga/story';
import { Cart } from '../parts/cart';
import { confirmingServers, findServers, searchDirectory } from '../parts/find-servers';
import { Protection } from '../parts/protect-servers';
import { Purchase } from '../parts/purchase';

export function provisionServers(input: unknown): Promise<ResultOf['provisionServers']> {
  return runSaga('provisionServers', input, buying);
}

const buying: StoryOf<'provisionServers', PlacedOrder> = (saga, first, known) => {
  const { progress } = saga;
  const purchase = new Purchase(saga, first, known);
  const cart = new Cart(saga, purchase);
  const protection = new Protection(saga, purchase);
  return {
    // Agreed to first, so that a no leaves nothing to delete.
    prepare: async () => {
      await purchase.agree();
      await cart.fill();
    },
    pivot: ordering(saga, purchase, cart),
    // From here on the servers exist and cost money: a step that fails waits for a person, and nothing is undone.
    finish: async ({ placement, cartItems = cart.itemIds }) => {
      const strays = await cart.deleteStrays();
      const order = orderOf(placement);
      progress.learn({ cartItemIds: cartItems, order });
      const vmObjectIds = await findServers(saga, purchase, placement);
      progress.learn({ vmObjectIds });
      progress.nameServers(vmObjectIds);
      const told = { vmObjectIds: vmObjectIds.slice(0, 100) };
      if (vmObjectIds.length > 0) saga.notices.tellProgress('servers', told);
      const servers = await protection.protect(vmObjectIds);
      if (servers.some(({ firewalls }) => firewalls.length > 0) && servers.every(({ verified }) => verified))
        saga.notices.tellProgress('protected', told);
      return {
        reference: first.reference,
        cartItemIds: cartItems.filter((id) => !strays.includes(id)),
        order,
        servers,
        skipped: progress.skipped,
        leftovers: progress.leftovers,
        decisions: progress.decisions,
      };
    },
    undo: (standing) => cart.undo(standing),
    undoes: () => cart.undoes,
    reportLeftovers: (standing) => protection.report(standing),
  };
};

function ordering(saga: Saga, purchase: Purchase, cart: Cart): Pivot<PlacedOrder> {
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
function orderOf(placed: Placement<PlacedOrder>): unknown {
  return placed.how === 'answered' ? placed.value.order : null;
}
