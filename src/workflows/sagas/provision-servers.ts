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
 * If the saga does not reach its end, it looks whether the list shows what earlier runs have assigned (10).
 */
import type { PlacedOrder } from '../../activities/orders';
import type { ResultOf } from '../../domain/results';
import { runSaga } from '../../saga/run-saga';
import type { DefineSaga } from '../../saga/definition';
import { Cart } from '../steps/cart';
import { findServers, ordering, orderOf } from '../steps/order';
import { Protection } from '../steps/protect-servers';
import { Purchase } from '../steps/purchase';

export function provisionServers(input: unknown): Promise<ResultOf['provisionServers']> {
  return runSaga('provisionServers', input, buying);
}

const buying: DefineSaga<'provisionServers', PlacedOrder> = (saga, first, planTypes) => {
  const { reference } = first;
  const purchase = new Purchase(saga, first, planTypes);
  const cart = new Cart(saga, purchase);
  const protection = new Protection(saga, purchase);
  return {
    begin: () => {
      cart.begin();
      protection.begin();
    },
    added: () => cart.added,
    // Agreed to first, so that a no leaves nothing to delete.
    prepare: async () => {
      await purchase.agree();
      await cart.fill();
    },
    undo: (standing) => cart.undo(standing),
    describeUndo: () => cart.describeUndo(),
    pivot: ordering(saga, purchase, cart),
    // From here on the servers exist and cost money: a step that fails waits for a person, and nothing is undone.
    finish: async ({ placement, cartItems = cart.itemIds }) => {
      const strays = await cart.deleteOrphans();
      const order = orderOf(placement);
      const { instead } = purchase;
      saga.progress.addFacts({ cartItemIds: cartItems, instead, order });
      const servers = await protection.protect(await findServers(saga, purchase, placement));
      const { skipped, leftovers, decisions } = saga.progress;
      const cartItemIds = cartItems.filter((id) => !strays.includes(id));
      return { reference, cartItemIds, instead, order, servers, skipped, leftovers, decisions };
    },
    reportLeftovers: (standing) => protection.report(standing),
  };
};
