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
import type { Standing } from '../activities/journal';
import type { PlacedOrder } from '../activities/orders';
import { definedOnly } from '../domain/defined-only';
import type { Placement } from '../domain/effects';
import type { Leftover } from '../domain/leftovers';
import { cutWell } from '../domain/markdown';
import { serversOrdered } from '../domain/plan-types';
import type { ProvisionServersRequest } from '../domain/requests';
import type { ResultOf } from '../domain/results';
import { Cart } from './cart';
import { deleteStrayItems, findStrayItems, reportDoubtfulAdds } from './cart-items';
import { PlacedBefore } from '../saga/ends';
import type { PivotStep } from '../saga/look-back';
import { placePivot } from '../saga/pivot';
import { confirmingServers, findServers, idsAmong, knownIds, searchDirectory } from './find-servers';
import { lookAtAssigned, protectServers } from './protect-servers';
import { type Denied, Protection } from './protection';
import { Purchase } from './purchase';
import type { Saga } from '../saga/saga';
import { runSaga, type StoryContext } from '../saga/run-saga';
import { activities } from '../saga/activities';
import { UnknownAdds } from './unknown-adds';

const placing: PivotStep = {
  id: 'place-order',
  title: 'Place the order',
  known: (placed) => ({ order: orderOf(placed) }),
};

export function provisionServers(input: unknown): Promise<ResultOf['provisionServers']> {
  let asked: { purchase: Purchase; protection: Protection } | undefined;
  const unknownAdds = new UnknownAdds();
  /** What the provider's list does not show of what earlier runs have assigned. */
  let denied: Denied = new Map();
  const story = async (saga: Saga, first: ProvisionServersRequest, { planTypesMore, corrections }: StoryContext) => {
    const { progress } = saga;
    const purchase = new Purchase(saga, first, planTypesMore, corrections);
    const protection = new Protection(first.firewalls ?? []);
    asked = { purchase, protection };
    await purchase.agree();
    const cart = new Cart(saga, purchase, unknownAdds);
    await fill(saga, purchase, cart);
    const placement = await placeOrder(saga, purchase, cart);
    const cartItemIds = cart.itemIds;
    protection.isPlaced = true;
    const { request, ordered, secrets } = purchase;
    const strays = saga.journal.inDoubt ? await findStrayItems(saga, unknownAdds.numbers) : [];

    // From here on the servers exist and cost money: a step that fails waits for a person, and nothing is undone.
    const order = orderOf(placement);
    progress.learn({ order });
    if (placement.how === 'answered' && placement.value.pointsNowhere) {
      saga.step(placing.id, placing.title).say('the answer has no object ids where SERVER_POINTERS look');
    }
    const vmObjectIds = await findServers(saga, request, placement, { ordered, secrets });
    progress.learn({ vmObjectIds });
    progress.nameServers(vmObjectIds);
    const servers = await protectServers(saga, protection, {
      vmObjectIds,
      requested: request.firewalls ?? [],
      secrets,
    });
    protection.reportLeftovers(saga);

    return {
      reference: request.reference,
      cartItemIds: cartItemIds.filter((id) => !strays.includes(id)),
      order,
      servers,
      skipped: progress.skipped,
      leftovers: progress.leftovers,
      decisions: progress.decisions,
    };
  };
  const reportLeftovers = (saga: Saga, standing: Standing | undefined, checked: Checked | undefined) => {
    if (standing === undefined) reportDoubtfulAdds(saga, unknownAdds.numbers);
    const known = asked ?? (checked && notBegun(checked));
    if (known === undefined || saga.isCancelled) return;
    const { protection } = known;
    const placement = standing?.placement.how === 'placed' ? standing.placement.placed : undefined;
    if (placement === undefined && !protection.isPlaced) return;
    const { assigned = [], bought } = standing ?? {};
    // Another run may have corrected the request before it ordered.
    const { ordered, vmObjectIds } = bought ?? known.purchase;
    const ids = knownIds(saga, { vmObjectIds }, placement, ordered) ?? idsAmong(assigned, ordered);
    protection.reportLeftovers(saga, { assigned, denied, ids });
  };
  const cleanUp = async (saga: Saga, standing: Standing, own: readonly Leftover[]) => {
    await deleteStrayItems(saga, standing, own);
    if (standing.placement.how !== 'placed' || saga.isCancelled) return;
    denied = await lookAtAssigned(saga, standing.assigned, asked?.protection.servers);
  };
  return runSaga('provisionServers', input, story, { pivot: placing, cleanUp, reportLeftovers });
}

interface Checked {
  request: ProvisionServersRequest;
  planTypesMore: readonly string[];
}

function notBegun({ request, planTypesMore }: Checked) {
  const ordered = serversOrdered(request.items, planTypesMore);
  const { vmObjectIds, firewalls = [] } = request;
  return { purchase: { ordered, vmObjectIds }, protection: new Protection(firewalls) };
}

/** The provider's answer; null where the order is known without one. */
function orderOf(placed: Placement<unknown>): unknown {
  return placed.how === 'answered' ? (placed.value as PlacedOrder).order : null;
}

/** Where the order was placed before, the cart stays as it is: the pivot only recalls the order, and sends nothing. */
async function fill({ progress }: Saga, purchase: Purchase, cart: Cart): Promise<void> {
  try {
    await cart.fill();
  } catch (error) {
    if (!(error instanceof PlacedBefore)) throw error;
    purchase.isAgreed = false;
  }
  progress.learn({ cartItemIds: cart.itemIds });
}

function placeOrder(saga: Saga, purchase: Purchase, cart: Cart): Promise<Placement<PlacedOrder>> {
  const { secrets } = purchase;
  const order = () => {
    const { account, currency, label, payment_type } = purchase.request;
    return { account, cartItems: cart.itemIds, ...definedOnly({ currency, label, payment_type }) };
  };
  return placePivot(saga, {
    step: saga.step(placing.id, placing.title),
    noun: 'the order',
    note: () => {
      const { account, label } = purchase.request;
      return {
        foundBy: `account ${account.slice(0, 40)}${label === undefined ? '' : `, label “${cutWell(label, 60)}”`}`,
      };
    },
    act: (asked) => {
      const { firewalls, vmObjectIds } = purchase.request;
      const noServers = purchase.ordered.most === 0;
      const servers = { ...definedOnly({ firewalls, vmObjectIds }), noServers };
      return activities('place the order').placeOrder({
        order: order(),
        ...servers,
        ...secrets.withThePivot,
        ...asked,
      });
    },
    refusal: 'OrderRejected',
    approval: purchase.request.approval,
    corrections: purchase.correctionsOfOrder(cart),
    timesCorrected: () => purchase.timesCorrected,
    isAgreed: () => purchase.isAgreed,
    beforeAgain: async () => {
      if (!purchase.isAgreed) await purchase.agree();
      // What was corrected is not in the cart any more.
      await fill(saga, purchase, cart);
    },
    look: async () => {
      const { request, ordered: expected } = purchase;
      if (expected.most === 0) return 'nobody';
      const { account, label } = request;
      return searchDirectory(saga, { account, label, expected, settles: true, ...secrets.withOthers });
    },
    get confirming() {
      return confirmingServers(purchase.ordered);
    },
  });
}
