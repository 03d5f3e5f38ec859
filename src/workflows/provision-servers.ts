/**
 * Buy cloud servers.
 *
 * ```text
 *   add each cart item (2)          ↩ delete it (3)
 *   ═════════ place the order (1) ═════════  point of no return
 *   learn the object ids of the new servers
 *   assign the firewalls to each server (8)
 *   look whether each server has them (10)
 * ```
 */
import { z } from 'zod';
import type { FirewallList } from '../activities/firewalls';
import type { FindServers, PlacedOrder } from '../activities/orders';
import {
  correctableItemFields,
  serversOrdered,
  firewallsSchema,
  type CartItem,
  type ProvisionServersRequest,
} from '../domain/requests';
import type { ResultOf, Server } from '../domain/results';
import { attempt } from './attempts';
import { deleteItems, tellDoubtfulAdds } from './cart-items';
import type { Correction } from './questions';
import { miscounted, placePivot, type Placement } from './pivot';
import type { Step } from './progress';
import type { Plan, Saga } from './saga';
import { tell } from './tell';
import { once } from './temperaments';

export function provisionServers(input: unknown): Promise<ResultOf['provisionServers']> {
  return tell('provisionServers', input, async (saga, request) => {
    const { progress } = saga;
    const cartItemIds = await fillCart(saga, request.items);
    progress.known['cartItemIds'] = cartItemIds;

    const placement = await placeOrder(saga, request, cartItemIds);

    // The servers exist from here on and somebody pays for them: what fails now waits for a person, nothing is undone.
    const order = placement.how === 'answered' ? placement.value.order : null;
    progress.known['order'] = order;
    const vmObjectIds = await findServers(saga, request, placement);
    progress.known['vmObjectIds'] = vmObjectIds;
    const servers = await protect(saga, vmObjectIds, request.firewalls ?? []);

    return {
      reference: request.reference,
      cartItemIds,
      order,
      servers,
      skipped: progress.skipped,
      leftovers: progress.leftovers,
      decisions: progress.decisions,
    };
  });
}

async function fillCart(saga: Saga, requested: readonly CartItem[]): Promise<number[]> {
  // Copies, because a person may correct an item that was not added yet.
  const items = requested.map((item) => ({ ...item }));
  const plans = items.map((item, index): Plan<{ cartItemId: number }> => {
    const number = index + 1;
    return {
      step: saga.step(`add-cart-item-${String(number)}`, `Add cart item ${String(number)}`),
      act: (again) =>
        once(`add cart item ${String(number)}`).addCartItem({
          item,
          opening: true,
          again,
        }),
      undo: ({ cartItemId }) => ({
        title: `Delete cart item ${String(cartItemId)}`,
        act: (again) => once(`delete cart item ${String(cartItemId)}`).deleteCartItem({ cartItemId, again }),
        leftover: (why) => ({ kind: 'cart-item', cartItemId, why }),
      }),
      doubt: (failure) => ({ kind: 'cart-item-unknown', item: number, why: failure.message }),
    };
  });
  const isAdded = (number: number) => plans[number - 1]?.step.status === 'done';
  const outcomes = await saga.together(plans, {
    refusal: 'OrderRejected',
    correction: itemCorrection(items, isAdded),
  });
  return outcomes.flatMap((outcome) => (outcome.skipped ? [] : [outcome.value.cartItemId]));
}

/** `{"item": 2, "password": "…"}` corrects item 2; without `item`, every item that is not added yet. */
function itemCorrection(items: readonly CartItem[], isAdded: (number: number) => boolean): Correction {
  const waits = (number: number) => number >= 1 && number <= items.length && !isAdded(number);
  const itemNumber = () =>
    z.int('must be the number of an item').refine(waits, 'is not the number of an item that waits');
  return {
    schema: () => z.strictObject({ item: itemNumber().optional(), ...correctableItemFields() }),
    apply: ({ item, ...fields }) => {
      items.forEach((target, index) => {
        if (waits(index + 1) && (item === undefined || item === index + 1)) Object.assign(target, fields);
      });
    },
  };
}

function placeOrder(
  saga: Saga,
  { account, currency, label: requestedLabel, payment_type, items }: ProvisionServersRequest,
  cartItems: number[],
): Promise<Placement<PlacedOrder>> {
  let label = requestedLabel;
  const order = () => ({
    account,
    ...(currency === undefined ? {} : { currency }),
    ...(label === undefined ? {} : { label }),
    cartItems,
    ...(payment_type === undefined ? {} : { payment_type }),
  });
  return placePivot(saga, {
    step: saga.step('place-order', 'Place the order'),
    noun: 'the order',
    foundBy: `account ${account.slice(0, 40)}${label === undefined ? '' : `, label “${label.slice(0, 60)}”`}`,
    act: (guard, again) => once('place the order').placeOrder({ order: order(), guard, again }),
    refusal: 'OrderRejected',
    correction: {
      schema: () => z.strictObject({ label: z.string('must be a string').min(1, 'must not be empty').optional() }),
      apply: (correction) => {
        label = (correction['label'] as string | undefined) ?? label;
      },
    },
    look: () => searchDirectory(saga, { account, label, expected: serversOrdered(items), settles: true }),
    tidyUp: (placed) => deleteAbandonedItems(saga, cartItems, placed),
    servers: serversOrdered(items),
  });
}

/**
 * An earlier run of this reference was ended by a reset, or had failed before somebody started again: it cannot undo any
 * more. Which items belong to no order stands in the histories of all runs, this one's included. If nothing was placed,
 * this run's items are about to be ordered, and those of an order of unknown fate are nobody's any more.
 */
async function deleteAbandonedItems(saga: Saga, own: readonly number[], placed: boolean): Promise<void> {
  const { items, perhapsOrdered, doubtfulAdds } = await saga.must(
    {
      step: saga.step('read-histories', 'Read what all runs of this reference did to the cart'),
      act: (again) =>
        once('read the histories of all runs').findAbandonedItems({ reference: saga.progress.reference, again }),
    },
    { refusal: 'OrderRejected' },
  );
  await deleteItems(saga, placed ? items : [...items, ...perhapsOrdered].filter((id) => !own.includes(id)));
  // Its own are among its leftovers already.
  const { leftovers } = saga.progress;
  tellDoubtfulAdds(saga, doubtfulAdds - leftovers.filter(({ kind }) => kind === 'cart-item-unknown').length);
}

/**
 * The object ids, from the first that knows them: the request, the person who confirmed the order, the order's response,
 * the server directory, a person. Without firewalls nothing more is to be done with them, and nobody is asked.
 */
async function findServers(
  saga: Saga,
  { vmObjectIds, firewalls, account, label, items }: ProvisionServersRequest,
  placement: Placement<PlacedOrder>,
): Promise<number[]> {
  const expected = serversOrdered(items);
  const told = placement.how === 'answered' ? placement.value.vmObjectIds : placement.vmObjectIds;
  const known = [vmObjectIds, told].find((ids) => ids?.length === expected);
  if (known) return known;
  if (placement.how !== 'answered' || placement.value.directory) {
    const found = await searchDirectory(saga, { account, label, expected });
    if (found) return found;
  }
  return firewalls?.length ? askServers(saga, expected) : [];
}

const findTitle = 'Learn the object ids of the new servers';

/** @returns undefined where no directory can tell, or it never listed as many as were ordered */
async function searchDirectory(saga: Saga, wanted: Omit<FindServers, 'again'>): Promise<number[] | undefined> {
  const step = saga.step('find-servers', findTitle);
  const settled = await attempt({ step }, (again) =>
    once('look into the server directory').findServers({ ...wanted, again }),
  );
  if (!settled.ok) {
    step.end('failed', settled.failure.message);
    return undefined;
  }
  if (settled.value.length === 0) {
    step.end('skipped', 'no server directory can tell');
    return undefined;
  }
  step.end('done');
  return settled.value;
}

async function askServers(saga: Saga, expected: number): Promise<number[]> {
  const step = saga.step('find-servers', findTitle);
  step.end('stuck');
  const decision = await saga.desk.ask({
    kind: 'servers',
    step: step.id,
    question: `The order is placed. What are the object ids of its ${String(expected)} servers?`,
    choices: ['provideServers'],
    objection: (decision) =>
      decision.decision === 'provideServers' ? miscounted(decision.vmObjectIds, expected) : undefined,
  });
  if (decision.decision !== 'provideServers') throw new Error(`${decision.decision} names no servers`);
  step.end('done', 'told by a person');
  return decision.vmObjectIds;
}

async function protect(saga: Saga, vmObjectIds: readonly number[], requested: readonly number[]): Promise<Server[]> {
  if (requested.length === 0) return vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [], verified: true }));
  const servers = vmObjectIds.map((vmObjectId) => ({
    vmObjectId,
    firewalls: [...requested],
    assigning: saga.step(`assign-firewalls-${String(vmObjectId)}`, `Assign firewalls to server ${String(vmObjectId)}`),
    verifying: saga.step(`verify-firewalls-${String(vmObjectId)}`, `Verify firewalls of server ${String(vmObjectId)}`),
  }));
  await saga.together(
    servers.map((server): Plan<void> => ({
      step: server.assigning,
      act: (again) =>
        once(`assign firewalls to ${String(server.vmObjectId)}`).assignFirewalls({ ...idsOf(server), again }),
    })),
    {
      refusal: 'ask',
      skippable: true,
      correction: {
        schema: () => z.strictObject({ firewalls: firewallsSchema() }),
        apply: ({ firewalls }) => {
          for (const server of servers) {
            if (server.assigning.status !== 'done') server.firewalls = firewalls as number[];
          }
        },
      },
    },
  );
  return verify(saga, servers);
}

type Protected = Omit<Server, 'verified'> & { assigning: Step; verifying: Step };

const idsOf = ({ vmObjectId, firewalls }: Protected) => ({ vmObjectId, firewalls });

async function verify(saga: Saga, servers: readonly Protected[]): Promise<Server[]> {
  const assigned = servers.filter(({ assigning }) => assigning.status === 'done');
  const outcomes = await saga.together(
    assigned.map(({ vmObjectId, firewalls, verifying }): Plan<FirewallList> => ({
      step: verifying,
      act: (again) =>
        once(`list firewalls of ${String(vmObjectId)}`).listFirewalls({ vmObjectId, expect: firewalls, again }),
    })),
    { refusal: 'ask', skippable: true },
  );
  return servers.map((server) => {
    const outcome = outcomes[assigned.indexOf(server)];
    if (outcome === undefined) {
      server.verifying.end('skipped');
      return { vmObjectId: server.vmObjectId, firewalls: [], verified: false };
    }
    if (!outcome.skipped && 'firewalls' in outcome.value) {
      return { vmObjectId: server.vmObjectId, firewalls: outcome.value.firewalls, verified: true };
    }
    if (!outcome.skipped) server.verifying.say('unverified: the list’s shape is not known');
    return { ...idsOf(server), verified: false };
  });
}
