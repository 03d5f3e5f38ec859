/** The order itself: how it is sent, found again, and corrected; and the object ids of the servers that it brought. */
import type { PlacedOrder } from '../../activities/orders';
import type { Placement } from '../../domain/effects';
import { countOf, fits, isExact, type ServersOrdered } from '../../domain/plan-types';
import { cutWell } from '../../domain/markdown';
import type { ProvisionServersRequest } from '../../domain/requests';
import type { Leftover } from '../../domain/outcomes';
import { describeOthers, type OfOther } from '../../domain/servers';
import { activities } from '../../saga/activities';
import { attempt, type Act } from '../../saga/attempts';
import type { Looked, Pivot } from '../../saga/steps';
import type { Saga } from '../../saga/saga';
import type { Cart } from './cart';
import type { Purchase } from './purchase';

export function ordering(saga: Saga, purchase: Purchase, cart: Cart): Pivot<PlacedOrder> {
  return {
    step: () => saga.step('place-order', 'Place the order'),
    noun: 'the order',
    facts: (placed) => ({ order: orderOf(placed), orderId: orderIdOf(placed) }),
    note: () => {
      const { account, label } = purchase.request;
      const labelled = label === undefined ? '' : `, label “${cutWell(label, 60)}”`;
      return { foundBy: `account ${account.slice(0, 40)}${labelled}`, label };
    },
    act: (asked) => {
      const { account, currency, label, payment_type, firewalls, vmObjectIds } = purchase.request;
      return activities('place the order').placeOrder({
        order: { account, cartItems: cart.itemIds, currency, label, payment_type },
        firewalls,
        vmObjectIds,
        noServers: purchase.ordered.most === 0,
        ...purchase.secrets.withThePivot,
        ...asked,
      });
    },
    approval: purchase.request.approval,
    approving: (terms, why) => purchase.approving(terms, why),
    corrections: purchase.correctionsOfOrder(cart),
    timesCorrected: () => purchase.timesCorrected,
    look: (once) => searchDirectory(saga, purchase, { settles: true, once }),
    confirming: () => {
      const { ordered } = purchase;
      if (ordered.most === 0) return undefined;
      const hint = isExact(ordered) ? undefined : `It brings ${rangeOf(ordered)}.`;
      return { hint, objection: (vmObjectIds) => countObjection(vmObjectIds, ordered) };
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
  const { progress } = saga;
  const { pointsNowhere, areOurs, directory, vmObjectIds }: Partial<PlacedOrder> =
    placement.how === 'answered' ? placement.value : { vmObjectIds: placement.vmObjectIds };
  if (pointsNowhere) {
    const why = 'the answer has no object ids where `order.servers` of the provider’s profile points';
    saga.step('place-order', '').setDetail(why);
  }
  const named = vmObjectIds ?? [];
  const isOdd = (named.length > 0 || pointsNowhere === true) && !fits(named.length, expected);
  const tellOdd = () => {
    const why = `${sources[placement.how]} names ${named.length} servers, and ${countOf(expected)} were ordered: look in the panel`;
    if (isOdd) progress.addLeftovers(miscounted(named, expected, why));
    return [];
  };
  if (expected.most === 0) return tellOdd();
  const fitting = (ids: number[] | undefined) => (ids && fits(ids.length, expected) ? ids : undefined);
  const learnt = fitting(progress.facts['vmObjectIds'] as number[] | undefined);
  const placed = fitting(vmObjectIds);
  const asked = fitting(request.vmObjectIds);
  const differ = placed !== undefined && asked !== undefined && !isSame(placed, asked);
  const known = learnt ?? (differ ? undefined : (placed ?? asked));
  const isAsked = (request.firewalls ?? []).length > 0;
  const ids = known ?? (isAsked || named.length === 0 ? undefined : placed);
  const others = ids === undefined || (areOurs && isSame(ids, named)) ? [] : await claim(saga, ids);
  if (ids !== undefined && others.length === 0) {
    if (named.length > 0) tellOdd();
    return [...ids];
  }
  const isDecided = named.length > 0 && !isOdd && others.length === 0;
  if (!isDecided && (placement.how !== 'answered' || directory)) {
    const found = await searchDirectory(saga, purchase);
    if (Array.isArray(found) && (!isOdd || named.every((id) => found.includes(id)))) return found;
  }
  if (isAsked) {
    const differs = known === undefined && named.length > 0 ? whoNames(request, placement, named) : '';
    return askServers(saga, expected, differs + describeOthers(others));
  }
  const theirs = others.map(({ vmObjectId }) => vmObjectId);
  if (theirs.length > 0)
    progress.addLeftovers(miscounted(theirs, expected, `look in the panel:${describeOthers(others)}`));
  return tellOdd();
}

/** The journal says whose they are. @returns those that other orders have */
function claim(saga: Saga, vmObjectIds: readonly number[]): Promise<OfOther[]> {
  return saga.write('write-servers', 'Write into the journal which servers it has', ({ retry }) =>
    activities('write the servers into the journal').claimServers({ vmObjectIds, retry }),
  );
}

/** The servers exist, and nobody has asked for firewalls: it is told, and nobody is asked. */
function miscounted(named: readonly number[], expected: ServersOrdered, why: string): Leftover {
  return { kind: 'servers-miscounted', ordered: countOf(expected), named: [...named], why };
}

const findTitle = 'Learn the object ids of the new servers';

/** @param settles whether it was placed at all. @returns undefined where it never listed as many as were ordered */
async function searchDirectory(
  saga: Saga,
  { request: { account, label }, ordered: expected, secrets }: Purchase,
  { settles, once }: { settles?: true; once?: boolean | undefined } = {},
): Promise<Looked> {
  if (expected.most === 0) return 'nobody';
  const wanted = { account, label, expected, settles, ...secrets.withOthers };
  const step = saga.step('find-servers', findTitle);
  const act: Act<number[]> = ({ retry }) =>
    activities('look into the server directory').findServers({ ...wanted, retry });
  const settled = await attempt({ step, act }, saga, false, once);
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
    objection: (decision) =>
      decision.decision === 'provideServers' ? countObjection(decision.vmObjectIds, expected) : undefined,
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

function countObjection(vmObjectIds: readonly number[], servers: ServersOrdered): string | undefined {
  if (fits(vmObjectIds.length, servers)) return undefined;
  return `vmObjectIds: names ${vmObjectIds.length} servers, but ${countOf(servers)} were ordered`;
}

function rangeOf(servers: ServersOrdered): string {
  return `${countOf(servers)} servers: not every item’s plan type says whether the item is a server`;
}

function isSame(ones: readonly number[], others: readonly number[]): boolean {
  return ones.length === others.length && ones.every((id) => others.includes(id));
}
