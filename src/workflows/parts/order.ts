/** The order itself: how it is sent, found again, and corrected; and the object ids of the servers that it brought. */
import type { Standing } from '../../activities/journal';
import type { PlacedOrder } from '../../activities/orders';
import { choicesOf } from '../../domain/answers';
import { definedOnly } from '../../domain/defined-only';
import type { Placement } from '../../domain/effects';
import { countOf, fits, isExact, type ServersOrdered } from '../../domain/plan-types';
import { cutWell } from '../../domain/markdown';
import type { ProvisionServersRequest } from '../../domain/requests';
import type { Leftover } from '../../domain/leftovers';
import { describeOthers, type OfOther } from '../../domain/servers';
import { activities } from '../../saga/activities';
import { attempt, type Act } from '../../saga/attempts';
import type { Confirming } from '../../saga/doubt';
import type { Looked, Pivot } from '../../saga/pivot';
import type { Saga } from '../../saga/saga';
import type { Cart } from './cart';
import type { Purchase } from './purchase';

export function ordering(saga: Saga, purchase: Purchase, cart: Cart): Pivot<PlacedOrder> {
  const { secrets } = purchase;
  return {
    get step() {
      return saga.step('place-order', 'Place the order');
    },
    noun: 'the order',
    known: (placed) => ({ order: orderOf(placed), ...definedOnly({ orderId: orderIdOf(placed) }) }),
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
    approving: (terms, why) => purchase.approving(terms, why),
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

const orderIdOf = (placed: Placement<PlacedOrder>) =>
  placed.how === 'answered' ? placed.value.orderId : placed.how === 'confirmed' ? placed.orderId : undefined;

/**
 * The answers in the provider's document name no object ids, so they come from the first source that knows them, in this
 * order: the order's response, or the person who confirmed it; the request; the server directory;
 * a person, who is also asked where the first two differ. Without firewalls the ids are not needed, and nobody is
 * asked.
 */
export async function findServers(
  saga: Saga,
  purchase: Purchase,
  placement: Placement<PlacedOrder>,
): Promise<number[]> {
  const { request, ordered: expected } = purchase;
  const pointsNowhere = placement.how === 'answered' && placement.value.pointsNowhere === true;
  if (pointsNowhere) {
    saga
      .step('place-order', '')
      .say('the answer has no object ids where `order.servers` of the provider’s profile points');
  }
  const named = idsNamed(placement) ?? [];
  const odd = (named.length > 0 || pointsNowhere) && !fits(named.length, expected) ? named : undefined;
  const tellOdd = () => {
    if (odd !== undefined) saga.progress.leave(miscountedBy(placement, odd, expected));
    return [];
  };
  if (expected.most === 0) return tellOdd();
  const isAsked = (request.firewalls ?? []).length > 0;
  const known = knownIds(saga, request, placement, expected);
  const differs = known === undefined && named.length > 0 ? whoNames(request, placement, named) : '';
  const ids = known ?? (odd === undefined && !isAsked && named.length > 0 ? named : undefined);
  const areOurs = ids !== undefined && placement.how === 'answered' && placement.value.areOurs && isSame(ids, named);
  const others = ids === undefined || areOurs ? [] : await claim(saga, ids);
  if (ids !== undefined && others.length === 0) {
    if (named.length > 0) tellOdd();
    return [...ids];
  }
  const isDecided = named.length > 0 && odd === undefined && others.length === 0;
  if (!isDecided && (placement.how !== 'answered' || placement.value.directory)) {
    const found = await searchDirectory(saga, purchase);
    if (Array.isArray(found) && odd?.every((id) => found.includes(id)) !== false) return found;
  }
  if (isAsked) return askServers(saga, expected, differs + describeOthers(others));
  if (others.length > 0) saga.progress.leave(ofOthers(others, expected));
  return tellOdd();
}

/** The journal says whose they are. @returns those that other orders have */
function claim(saga: Saga, vmObjectIds: readonly number[]): Promise<OfOther[]> {
  return saga.write('write-servers', 'Write into the journal which servers it has', ({ retry }) =>
    activities('write the servers into the journal').claimServers({ vmObjectIds, retry }),
  );
}

/** Where nobody is asked. */
function ofOthers(others: readonly OfOther[], expected: ServersOrdered): Leftover {
  const why = `look in the panel:${describeOthers(others)}`;
  return { kind: 'servers-miscounted', ordered: countOf(expected), named: others.map((one) => one.vmObjectId), why };
}

/** The servers exist, and nobody has asked for firewalls: it is told, and nobody is asked. */
function miscountedBy({ how }: Placement<unknown>, named: readonly number[], expected: ServersOrdered): Leftover {
  const ordered = countOf(expected);
  const why = `${sources[how]} names ${named.length} servers, and ${ordered} were ordered: look in the panel`;
  return { kind: 'servers-miscounted', ordered, named: [...named], why };
}

const findTitle = 'Learn the object ids of the new servers';

/** @param settles whether it was placed at all. @returns undefined where it never listed as many as were ordered */
async function searchDirectory(
  saga: Saga,
  { request: { account, label }, ordered: expected, secrets }: Purchase,
  { settles }: { settles?: true } = {},
): Promise<Looked> {
  if (expected.most === 0) return 'nobody';
  const wanted = { account, label, expected, ...definedOnly({ settles }), ...secrets.withOthers };
  const step = saga.step('find-servers', findTitle);
  const act: Act<number[]> = ({ retry }) =>
    activities('look into the server directory').findServers({ ...wanted, retry });
  const settled = await attempt({ step, act }, saga);
  if (!settled.ok) {
    step.end('failed', settled.failure.message);
    return undefined;
  }
  if (settled.value.length === 0) {
    step.end('skipped', 'no server directory can answer');
    return 'nobody';
  }
  step.end('done');
  return settled.value;
}

/** How many ids of each source a question shows. */
const idsShownMax = 20;

const sources = {
  answered: 'the order’s answer',
  found: 'the server directory',
  confirmed: 'the person who confirmed the order',
};

/** A sentence for the question: the request names other servers than another source. */
function whoNames(
  { vmObjectIds = [] }: Pick<ProvisionServersRequest, 'vmObjectIds'>,
  { how }: Placement<unknown>,
  named: readonly number[],
): string {
  const list = (ids: readonly number[]) =>
    ids.slice(0, idsShownMax).join(', ') + (ids.length > idsShownMax ? ' and more' : '');
  const said = `${sources[how]} names ${list(named)}.`;
  return vmObjectIds.length > 0 ? ` The request names ${list(vmObjectIds)}, but ${said}` : ` But ${said}`;
}

async function askServers(saga: Saga, expected: ServersOrdered, said: string): Promise<number[]> {
  const step = saga.step('find-servers', findTitle);
  step.end('stuck');
  const none = expected.least === 0 ? ' If it brings none, give an empty list: []' : '';
  const servers = isExact(expected) ? `${expected.most} servers?` : `servers? It brings ${rangeOf(expected)}.${none}`;
  const decision = await saga.humanDecisions.ask({
    kind: 'servers',
    step: step.id,
    servers: expected.most,
    question: `The order is placed. What are the object ids of its ${servers}${said}`,
    choices: choicesOf('servers'),
    objection: (decision) =>
      decision.decision === 'provideServers' ? miscounted(decision.vmObjectIds, expected) : undefined,
  });
  if (decision.decision === 'markCancelled') {
    await saga.writeCancelled(decision);
    step.end('skipped', 'the provider has cancelled the order');
    throw saga.asCancelled();
  }
  const others = await claim(saga, decision.vmObjectIds);
  if (others.length > 0) return askServers(saga, expected, describeOthers(others));
  step.end('done', 'named by a person');
  return decision.vmObjectIds;
}

/** Which object ids a person may give who confirms an order. Undefined where the order brings no servers. */
function confirmingServers(expected: ServersOrdered): Confirming | undefined {
  if (expected.most === 0) return undefined;
  return {
    ...(isExact(expected) ? {} : { hint: `It brings ${rangeOf(expected)}.` }),
    objection: (vmObjectIds) => miscounted(vmObjectIds, expected),
  };
}

function miscounted(vmObjectIds: readonly number[], servers: ServersOrdered): string | undefined {
  if (fits(vmObjectIds.length, servers)) return undefined;
  return `vmObjectIds: names ${vmObjectIds.length} servers, but ${countOf(servers)} were ordered`;
}

function rangeOf(servers: ServersOrdered): string {
  return `${countOf(servers)} servers: not every item’s plan type says whether the item is a server`;
}

/** The servers that an earlier run knew; undefined where it did not know all of them. */
export function idsAmong(assigned: Standing['assigned'], expected: ServersOrdered): number[] | undefined {
  const ids = [...new Set(assigned.map(({ vmObjectId }) => vmObjectId))];
  return isExact(expected) && ids.length === expected.most ? ids : undefined;
}

/** Finds them without asking; undefined also if the request names other servers than the placement. */
function knownIds(
  { progress }: Saga,
  { vmObjectIds }: { vmObjectIds?: number[] | undefined },
  placement: Placement<unknown> | undefined,
  expected: ServersOrdered,
): number[] | undefined {
  const fitting = (ids: number[] | undefined) => (ids && fits(ids.length, expected) ? ids : undefined);
  const learnt = fitting(progress.known['vmObjectIds'] as number[] | undefined);
  if (learnt) return learnt;
  const placed = fitting(idsNamed(placement));
  const asked = fitting(vmObjectIds);
  return placed && asked && !isSame(placed, asked) ? undefined : (placed ?? asked);
}

/** The ids in the provider's answer, or those that the directory or a person named. */
function idsNamed(placement: Placement<unknown> | undefined): number[] | undefined {
  return placement?.how === 'answered' ? (placement.value as PlacedOrder).vmObjectIds : placement?.vmObjectIds;
}

function isSame(ones: readonly number[], others: readonly number[]): boolean {
  return ones.length === others.length && ones.every((id) => others.includes(id));
}
