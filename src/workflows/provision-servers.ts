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
 */
import { z } from 'zod';
import type { CallContext } from '../activities/call';
import type { FirewallList } from '../activities/firewalls';
import type { Standing } from '../activities/journal';
import type { FindServers, PlacedOrder } from '../activities/orders';
import type { Placement } from '../domain/effects';
import { fits, isExact, type ServersOrdered } from '../domain/plan-types';
import { firewallsSchema, type ProvisionServersRequest } from '../domain/requests';
import type { ResultOf, Server } from '../domain/results';
import { attempt, failureOf } from '../saga/attempts';
import { Cart } from './cart';
import { deleteStrayItems, findStrayItems, reportDoubtfulAdds } from './cart-items';
import { seen } from '../saga/by-hand';
import type { PivotStep } from '../saga/look-back';
import { miscounted, rangeOf } from '../saga/doubt';
import { placePivot } from '../saga/pivot';
import type { Step } from '../saga/progress';
import { Protection, type Protected } from './protection';
import { Purchase } from './purchase';
import type { StepOutcome, StepSpec } from '../saga/step-runner';
import type { Saga } from '../saga/saga';
import { runSaga, type StoryContext } from '../saga/run-saga';
import { activities } from '../saga/activities';
import { UnknownAdds } from './unknown-adds';
import type { SecretsSent } from './secrets-sent';

const placing: PivotStep = {
  id: 'place-order',
  title: 'Place the order',
  known: (placed) => ({ order: orderOf(placed) }),
};

export function provisionServers(input: unknown): Promise<ResultOf['provisionServers']> {
  let asked: { purchase: Purchase; protection: Protection } | undefined;
  const unknownAdds = new UnknownAdds();
  const story = async (saga: Saga, first: ProvisionServersRequest, { planTypesMore, corrections }: StoryContext) => {
    const { progress } = saga;
    const purchase = new Purchase(saga, first, planTypesMore, corrections);
    const protection = new Protection(first.firewalls ?? []);
    asked = { purchase, protection };
    await purchase.agree();
    const { cartItemIds, placement } = await saga.relying(
      async () => {
        const cart = new Cart(saga, purchase, unknownAdds);
        await fill(saga, cart);
        return cart;
      },
      async (cart) => {
        const placement = await placeOrder(saga, purchase, cart);
        return { cartItemIds: cart.itemIds, placement };
      },
    );
    protection.isPlaced = true;
    const { request, ordered, told } = purchase;
    const strays = saga.journal.inDoubt ? await findStrayItems(saga, unknownAdds.numbers) : [];

    // The servers exist from here on and somebody pays for them: what fails now waits for a person, nothing is undone.
    const order = orderOf(placement);
    progress.known['order'] = order;
    const vmObjectIds = await findServers(saga, request, placement, { ordered, told });
    progress.known['vmObjectIds'] = vmObjectIds;
    const servers = await protect(saga, protection, { vmObjectIds, requested: request.firewalls ?? [], told });
    protection.ownUp(saga);

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
  const ownUp = (saga: Saga, standing: Standing | undefined) => {
    if (asked === undefined) return;
    if (standing === undefined) reportDoubtfulAdds(saga, unknownAdds.numbers);
    const { purchase, protection } = asked;
    const { request, ordered } = purchase;
    const placement = standing?.placement.how === 'placed' ? standing.placement.placed : undefined;
    if (placement === undefined && !protection.isPlaced) return;
    const { assigned = [] } = standing ?? {};
    const ids = knownIds(saga, request, placement, ordered) ?? idsAmong(assigned, ordered);
    protection.ownUp(saga, assigned, ids);
  };
  return runSaga('provisionServers', input, story, { pivot: placing, tidyUp: deleteStrayItems, ownUp });
}

/** Where an earlier run knew the servers: all of them, or nothing is said of any. */
function idsAmong(assigned: Standing['assigned'], expected: ServersOrdered): number[] | undefined {
  const ids = [...new Set(assigned.map(({ vmObjectId }) => vmObjectId))];
  return isExact(expected) && ids.length === expected.most ? ids : undefined;
}

/** The object ids, where nobody has to be asked for them: the request may name other servers than the order brought. */
function knownIds(
  { progress }: Saga,
  { vmObjectIds }: Pick<ProvisionServersRequest, 'vmObjectIds'>,
  placement: Placement<unknown> | undefined,
  expected: ServersOrdered,
): number[] | undefined {
  const learnt = progress.known['vmObjectIds'] as number[] | undefined;
  if (learnt !== undefined && fits(learnt.length, expected)) return learnt;
  const told = toldIds(placement, expected);
  const named = vmObjectIds !== undefined && fits(vmObjectIds.length, expected) ? vmObjectIds : undefined;
  return told && named && !isSame(told, named) ? undefined : (told ?? named);
}

/** By the provider's answer, or by whoever has seen the order. */
function toldIds(placement: Placement<unknown> | undefined, expected: ServersOrdered): number[] | undefined {
  const ids = placement?.how === 'answered' ? (placement.value as PlacedOrder).vmObjectIds : placement?.vmObjectIds;
  return ids !== undefined && fits(ids.length, expected) ? ids : undefined;
}

function isSame(ones: readonly number[], others: readonly number[]): boolean {
  return ones.length === others.length && ones.every((id) => others.includes(id));
}

/** The provider's answer; null where the order is known without one. */
function orderOf(placed: Placement<unknown>): unknown {
  return placed.how === 'answered' ? (placed.value as PlacedOrder).order : null;
}

async function fill({ progress }: Saga, cart: Cart): Promise<void> {
  await cart.fill();
  progress.known['cartItemIds'] = cart.itemIds;
}

function placeOrder(saga: Saga, purchase: Purchase, cart: Cart): Promise<Placement<PlacedOrder>> {
  const { told } = purchase;
  const order = () => {
    const { account, currency, label, payment_type } = purchase.request;
    return {
      account,
      ...(currency === undefined ? {} : { currency }),
      ...(label === undefined ? {} : { label }),
      cartItems: cart.itemIds,
      ...(payment_type === undefined ? {} : { payment_type }),
    };
  };
  return placePivot(saga, {
    step: saga.step(placing.id, placing.title),
    noun: 'the order',
    note: () => {
      const { account, label } = purchase.request;
      return {
        foundBy: `account ${account.slice(0, 40)}${label === undefined ? '' : `, label “${label.slice(0, 60)}”`}`,
      };
    },
    act: (asked) => activities('place the order').placeOrder({ order: order(), ...told.withThePivot, ...asked }),
    refusal: 'OrderRejected',
    approval: purchase.request.approval,
    corrections: purchase.correctionsOfOrder(cart),
    timesCorrected: () => purchase.timesCorrected,
    isAgreed: () => purchase.isAgreed,
    beforeAgain: async () => {
      if (!purchase.isAgreed) await purchase.agree();
      // What was corrected is not in the cart any more.
      await fill(saga, cart);
    },
    look: async () => {
      const { request, ordered: expected } = purchase;
      if (expected.most === 0) return undefined;
      const { account, label } = request;
      return searchDirectory(saga, { account, label, expected, settles: true, ...told.withOthers });
    },
    get servers() {
      return purchase.ordered;
    },
  });
}

/** What the steps after an order have in common. */
interface Ordering {
  ordered: ServersOrdered;
  told: SecretsSent;
}

/**
 * The object ids, from the first that knows them: the order's response, or the person who confirmed it; the request; the server
 * directory; a person, also where the first two differ. Without firewalls nothing more is to be done with them, and nobody is asked.
 */
async function findServers(
  saga: Saga,
  request: ProvisionServersRequest,
  placement: Placement<PlacedOrder>,
  { ordered: expected, told: secrets }: Ordering,
): Promise<number[]> {
  if (expected.most === 0) return [];
  const { firewalls, account, label } = request;
  const known = knownIds(saga, request, placement, expected);
  if (known) return known;
  const told = toldIds(placement, expected);
  if (told) return firewalls?.length ? askServers(saga, expected, whoNames(request, placement, told)) : told;
  if (placement.how !== 'answered' || placement.value.directory) {
    const found = await searchDirectory(saga, { account, label, expected, ...secrets.withOthers });
    if (found) return found;
  }
  return firewalls?.length ? askServers(saga, expected) : [];
}

const findTitle = 'Learn the object ids of the new servers';

/** @returns undefined where no directory can tell, or it never listed as many as were ordered */
async function searchDirectory(saga: Saga, wanted: Omit<FindServers, 'again'>): Promise<number[] | undefined> {
  const step = saga.step('find-servers', findTitle);
  const settled = await attempt({ step, journal: saga.journal }, ({ retry }) =>
    activities('look into the server directory').findServers({ ...wanted, retry }),
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

/** So many ids of each stand in a question. */
const idsShownMax = 20;

/** For the question, where the request names other servers than the order brought. */
function whoNames(
  { vmObjectIds = [] }: Pick<ProvisionServersRequest, 'vmObjectIds'>,
  { how }: Placement<unknown>,
  told: readonly number[],
): string {
  const list = (ids: readonly number[]) =>
    ids.slice(0, idsShownMax).join(', ') + (ids.length > idsShownMax ? ' and more' : '');
  const who = {
    answered: 'the order’s answer',
    found: 'the server directory',
    confirmed: 'whoever confirmed the order',
  };
  return ` The request names ${list(vmObjectIds)}, but ${who[how]} names ${list(told)}.`;
}

async function askServers(saga: Saga, expected: ServersOrdered, differing = ''): Promise<number[]> {
  const step = saga.step('find-servers', findTitle);
  step.end('stuck');
  const none = expected.least === 0 ? ' Where there are none, name none: []' : '';
  const servers = isExact(expected) ? `${expected.most} servers?` : `servers? It brings ${rangeOf(expected)}.${none}`;
  const decision = await saga.humanDecisions.ask({
    kind: 'servers',
    step: step.id,
    question: `The order is placed. What are the object ids of its ${servers}${differing}`,
    choices: ['provideServers'],
    objection: (decision) =>
      decision.decision === 'provideServers' ? miscounted(decision.vmObjectIds, expected) : undefined,
  });
  if (decision.decision !== 'provideServers') throw new Error(`${decision.decision} names no servers`);
  step.end('done', 'told by a person');
  return decision.vmObjectIds;
}

async function protect(
  saga: Saga,
  protection: Protection,
  { vmObjectIds, requested, told }: { vmObjectIds: readonly number[]; requested: readonly number[]; told: SecretsSent },
): Promise<Server[]> {
  if (requested.length === 0) return vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [], verified: true }));
  const servers = vmObjectIds.map((vmObjectId): Guarded => ({
    vmObjectId,
    firewalls: [...requested],
    assigning: saga.step(`assign-firewalls-${String(vmObjectId)}`, `Assign firewalls to server ${String(vmObjectId)}`),
    verifying: saga.step(`verify-firewalls-${String(vmObjectId)}`, `Verify firewalls of server ${String(vmObjectId)}`),
  }));
  protection.servers = servers;
  const outcomes = await saga.together(
    servers.map((server): StepSpec<unknown> => ({
      step: server.assigning,
      act: async (asked) => {
        const answer = await activities(`assign firewalls to ${server.vmObjectId}`).assignFirewalls({
          ...idsOf(server),
          countsByHand: true,
          ...told.withOthers,
          ...asked,
        });
        server.lacks = [];
        return answer;
      },
      byHand: {
        counts: () => (server.lacks = []),
        call: (step) => ({ step, kind: 'mutate', activity: 'assignFirewalls', about: idsOf(server) }),
      },
    })),
    {
      refusal: 'ask',
      skippable: true,
      corrections: {
        stuck: {
          schema: () => z.strictObject({ firewalls: firewallsSchema() }),
          apply: ({ firewalls }) => {
            for (const server of servers) {
              if (server.assigning.status !== 'done') server.firewalls = firewalls as number[];
            }
          },
        },
      },
    },
  );
  servers.forEach((server, index) => keepNote(server, outcomes[index]));
  return verify(saga, servers, told);
}

type Guarded = Protected & { assigning: Step; verifying: Step };

const idsOf = ({ vmObjectId, firewalls }: Protected) => ({ vmObjectId, firewalls });

function keepNote(server: Protected, outcome: StepOutcome<unknown> | undefined): void {
  if (outcome?.skipped && outcome.note !== undefined) server.note = outcome.note;
}

async function verify(saga: Saga, servers: readonly Guarded[], told: SecretsSent): Promise<Server[]> {
  const assigned = servers.filter(({ assigning }) => assigning.status === 'done');
  const outcomes = await saga.together(
    assigned.map((server): StepSpec<FirewallList | typeof seen> => ({
      step: server.verifying,
      act: ({ retry }) => listUntilShown(server, told, retry),
      byHand: {
        counts: () => {
          server.lacks = [];
          return seen;
        },
      },
    })),
    { refusal: 'ask', skippable: true },
  );
  return servers.map((server) => {
    const outcome = outcomes[assigned.indexOf(server)];
    keepNote(server, outcome);
    if (outcome === undefined) {
      server.verifying.end('skipped');
      return { vmObjectId: server.vmObjectId, firewalls: [], verified: false };
    }
    if (!outcome.skipped && outcome.value !== seen && 'firewalls' in outcome.value) {
      return { vmObjectId: server.vmObjectId, firewalls: outcome.value.firewalls, verified: true };
    }
    if (!outcome.skipped && outcome.value !== seen) server.verifying.say('unverified: the list’s shape is not known');
    const { vmObjectId, firewalls, lacks = [] } = server;
    return { vmObjectId, firewalls: firewalls.filter((id) => !lacks.includes(id)), verified: false };
  });
}

/** What the list does not show is what the server lacks, whatever was answered to the assignment. */
async function listUntilShown(
  server: Protected,
  told: SecretsSent,
  retry: CallContext['retry'],
): Promise<FirewallList> {
  const { vmObjectId, firewalls } = server;
  try {
    const list = await activities(`list firewalls of ${vmObjectId}`).listFirewalls({
      vmObjectId,
      expect: firewalls,
      ...told.withOthers,
      retry,
    });
    server.lacks = [];
    return list;
  } catch (error) {
    const lacks = failureOf(error)?.lacks;
    if (lacks !== undefined) server.lacks = lacks;
    throw error;
  }
}
