/**
 * The promises that are never broken: asked of the sandbox's ledger, and of what the saga says only where it must own
 * up. Each broken promise is a sentence; none is good.
 *
 * It holds for requests whose label is their reference (`requests.ts`), and where whoever decides tells the truth
 * (`operator.ts`): a person who says that an order is not there when it is will have a second one.
 */
import {
  changeOrdersOf,
  firewallMoments,
  firewallsOf,
  neverLessProtected,
  orderedItemsDeleted,
  orderedTwice,
  orders,
  ordersWithLabel,
  placedTwice,
  silentLeftovers,
  switchesOf,
} from '../../sandbox/sentences';
import type { EndpointName } from '../../sandbox/endpoints';
import type { LedgerSnapshot, OrderPlaced, Placed } from '../../sandbox/ledger';
import type { RequestOf } from '../../src/domain/requests';
import type { WorkflowName } from '../../src/domain/identity';
import type { SagaOutcome } from '../../src/domain/outcomes';
import type { Report, ResultOf } from '../../src/domain/results';
import { planIdOf } from './requests';
import { leftoversOf, reportOf, type Ended } from './sagas';

/** The row of the call that cannot be undone, and the step that makes it. */
export const pivotOfEach = {
  provisionServers: 'place-order',
  changeOrder: 'place-change-order',
  switchPlan: 'switch-plan',
  setFirewalls: undefined,
  cleanCart: undefined,
} as const satisfies Record<WorkflowName, EndpointName | undefined>;

export const pivots = Object.values(pivotOfEach).filter((pivot) => pivot !== undefined);

/** A workflow and the request that it was started with. */
export type Asked = { [W in WorkflowName]: { workflow: W; request: RequestOf[W] } }[WorkflowName];

/**
 * @param others firewalls that other sagas change on the same server
 * @returns the promises that this saga broke, as sentences
 */
export function brokenPromises(
  ledger: LedgerSnapshot,
  asked: Asked,
  ended: Ended,
  others: readonly number[] = [],
): string[] {
  const told = { ...ended, report: reportOf(ended) };
  const broken = [...promisesOf(ledger, asked, told, others), ...hiddenByWords(ended)];
  return broken.map((sentence) => `${asked.workflow} ${asked.request.reference}: ${sentence}`);
}

export function placementsOf(ledger: LedgerSnapshot, { workflow, request }: Asked): Placed[] {
  switch (workflow) {
    case 'changeOrder':
      return changeOrdersOf(ledger, request.subscription_id);
    case 'switchPlan':
      return switchesOf(ledger, request.subscription_id);
    case 'provisionServers':
    case 'cleanCart':
      return ordersWithLabel(ledger, request.reference);
    case 'setFirewalls':
      return [];
  }
}

/** The whole ledger shows that nothing was bought twice, whoever asked for it. */
export function brokenByAll(ledger: LedgerSnapshot): string[] {
  return [
    ...placedTwice(ledger).map((placed) => `bought twice: ${JSON.stringify(placed)}`),
    ...orderedTwice(ledger).map(({ cartItemId }) => `cart item ${cartItemId} was ordered twice`),
    ...orderedItemsDeleted(ledger).map(({ cartItemId }) => `cart item ${cartItemId} was ordered, and then deleted`),
  ];
}

const isWhole: Record<SagaOutcome, boolean> = {
  done: true,
  partly: false,
  reversed: true,
  'reversed-with-leftovers': false,
  untouched: true,
};

/** The word for it all hides nothing of what stands beside it. */
export function hiddenByWords(ended: Ended): string[] {
  const { outcome } = (ended.result ?? reportOf(ended) ?? {}) as { outcome?: SagaOutcome };
  if (outcome === undefined) return [];
  const { skipped = [] } = (ended.result ?? {}) as { skipped?: string[] };
  const isLeft = leftoversOf(ended).length + skipped.length > 0;
  if (isWhole[outcome] && isLeft) return [`it is called ${outcome}, and something was skipped or is left over`];
  const isPivot = (id: string) => pivots.some((pivot) => pivot === id);
  const isPlaced = reportOf(ended)?.steps.some(({ id, status }) => isPivot(id) && status === 'done') ?? false;
  const isCancelled = ended.failure?.type === 'OrderCancelled';
  return isPlaced && !isCancelled && outcome.startsWith('reversed')
    ? [`it is called ${outcome}, and it was placed`]
    : [];
}

type Told = Ended & { report: Report | undefined };

function promisesOf(ledger: LedgerSnapshot, asked: Asked, told: Told, others: readonly number[]): string[] {
  switch (asked.workflow) {
    case 'provisionServers':
      return provisioned(ledger, asked.request, told);
    case 'changeOrder':
    case 'switchPlan': {
      const placed = placementsOf(ledger, asked);
      const step = pivotOfEach[asked.workflow];
      if (!asked.request.quoteOnly) return placedOnce(placed, step, told);
      return placed.length === 0 ? [] : ['it was only asked for a quote, and it placed'];
    }
    case 'setFirewalls':
      return protectedThroughout(ledger, asked.request, told, others);
    case 'cleanCart':
      return cleaned(ledger, asked.request.reference, told);
  }
}

/** At most once, and owned up to: an outcome neither hides what was placed nor claims what was not. */
function placedOnce(placed: readonly Placed[], step: string, { result, report }: Told): string[] {
  const broken: string[] = [];
  if (placed.length > 1) broken.push(`${step} took effect ${placed.length} times`);
  const claims = result !== undefined || report?.steps.find(({ id }) => id === step)?.status === 'done';
  const admitsDoubt = report?.leftovers.some(({ kind }) => kind === 'placement-unknown') ?? false;
  if (placed.length === 0 && claims) broken.push(`the outcome says that ${step} took effect, and it did not`);
  if (placed.length > 0 && !claims && !admitsDoubt) broken.push(`${step} took effect, and the outcome does not say so`);
  return broken;
}

function provisioned(ledger: LedgerSnapshot, request: RequestOf['provisionServers'], told: Told): string[] {
  const placed = ordersWithLabel(ledger, request.reference);
  const broken = [...placedOnce(placed, 'place-order', told), ...leftInTheCart(ledger, request.reference, told)];
  for (const order of placed) {
    if (!boughtAsAsked(order, request, told)) broken.push('the order does not hold what was asked for');
    for (const id of order.vmObjectIds) {
      const moments = firewallMoments(ledger, id).map(({ firewalls }) => firewalls);
      const lost = moments.some((held, index) => moments[index - 1]?.some((before) => !held.includes(before)));
      if (lost) broken.push(`server ${id} lost a firewall`);
    }
  }
  const { servers = [], skipped = [] } = (told.result ?? {}) as Partial<ResultOf['provisionServers']>;
  const wanted = isCorrected(told) ? [] : (request.firewalls ?? []);
  for (const { vmObjectId, verified } of servers) {
    if (!placed.some((order) => order.vmObjectIds.includes(vmObjectId)))
      broken.push(`server ${vmObjectId} is not of this order`);
    const holds = wanted.every((firewall) => firewallsOf(ledger, vmObjectId).includes(firewall));
    if (verified && !holds) broken.push(`server ${vmObjectId} is called verified and lacks a firewall`);
    if (!holds && !skipped.includes(`assign-firewalls-${vmObjectId}`))
      broken.push(`server ${vmObjectId} lacks a firewall, and nobody left it out`);
  }
  if (told.failure?.type === 'OrderCancelled' && placed.length > 0)
    broken.push('the outcome says that the provider has cancelled the order, and it stands');
  broken.push(...silentlyUnprotected(ledger, placed, wanted, told));
  const unprotected =
    told.result !== undefined && wanted.length > 0 && servers.length !== placed[0]?.vmObjectIds.length;
  if (unprotected) broken.push('it is done, and not all its servers are named');
  return broken;
}

/**
 * A server without what was asked for is told, by its id or with all of the order; or nobody knows of the order at all.
 */
function silentlyUnprotected(
  ledger: LedgerSnapshot,
  placed: readonly OrderPlaced[],
  wanted: readonly number[],
  told: Told,
): string[] {
  const leftovers = leftoversOf(told);
  if (told.result === undefined && told.report === undefined) return [];
  if (leftovers.some(({ kind }) => kind === 'placement-unknown')) return [];
  const isTold = (id: number, firewall: number) =>
    leftovers.some(
      (one) => one.kind === 'server-unprotected' && (one.vmObjectId ?? id) === id && one.firewalls.includes(firewall),
    );
  return placed.flatMap(({ vmObjectIds }) =>
    vmObjectIds
      .filter((id) => {
        const held = firewallsOf(ledger, id);
        return wanted.some((firewall) => !held.includes(firewall) && !isTold(id, firewall));
      })
      .map((id) => `server ${id} runs without firewalls that were asked for, and no leftover says so`),
  );
}

function leftInTheCart(ledger: LedgerSnapshot, reference: string, told: Told): string[] {
  const own = { ...ledger, entries: ledger.entries.filter((entry) => isItemOf(entry, reference)) };
  const leftovers = leftoversOf(told);
  const listed = leftovers.flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : []));
  const unknown = leftovers.filter(({ kind }) => kind === 'cart-item-unknown').length;
  return [
    ...silentLeftovers(own, listed, unknown).map(
      ({ cartItemId }) => `cart item ${cartItemId} was left behind silently`,
    ),
    ...orderedItemsDeleted(own).map(({ cartItemId }) => `cart item ${cartItemId} was ordered, and then deleted`),
    ...orderedTwice(own).map(({ cartItemId }) => `cart item ${cartItemId} is in two orders`),
  ];
}

/** Additions of this reference; what took items away may be anybody's. */
function isItemOf(entry: LedgerSnapshot['entries'][number], reference: string): boolean {
  return entry.type !== 'cartItemAdded' || entry.item.plan_id === planIdOf(reference);
}

function boughtAsAsked(order: OrderPlaced, request: RequestOf['provisionServers'], told: Told): boolean {
  if (order.account !== request.account) return false;
  if (isCorrected(told)) return order.items.length === request.items.length;
  const sorted = (items: readonly object[]) =>
    items.map((item) => JSON.stringify(Object.entries(item).sort(([a], [b]) => a.localeCompare(b)))).sort();
  const { instead = [] } = (told.result ?? told.report?.known ?? {}) as Partial<ResultOf['provisionServers']>;
  const wanted = request.items.map(({ alternatives = [], ...item }, index) => {
    const taken = instead.find((one) => one.item === index + 1);
    return { ...item, ...(taken && alternatives[taken.alternative - 1]) };
  });
  return JSON.stringify(sorted(order.items)) === JSON.stringify(sorted(wanted));
}

function isCorrected({ result, report }: Told): boolean {
  const { decisions = [] } = (result ?? report ?? {}) as Partial<Report>;
  return decisions.some(({ correction }) => correction !== undefined);
}

function protectedThroughout(
  ledger: LedgerSnapshot,
  request: RequestOf['setFirewalls'],
  told: Told,
  others: readonly number[],
): string[] {
  const { vmObjectId, assign = [], unassign = [], exactly } = request;
  const own = (firewalls: readonly number[]) => firewalls.filter((id) => !others.includes(id));
  const before = own(firewallMoments(ledger, vmObjectId)[0]?.firewalls ?? []);
  const wanted = exactly ?? [...new Set([...before, ...assign])].filter((id) => !unassign.includes(id));
  const broken: string[] = [];
  if (!neverLessProtected(ledger, vmObjectId, wanted, others))
    broken.push('the server was less protected for a moment');
  const after = own(firewallsOf(ledger, vmObjectId));
  if (told.result !== undefined) {
    if (!sameSet(after, wanted)) broken.push(`it is done, and the firewalls are ${after.join()}, not ${wanted.join()}`);
    return broken;
  }
  const owned = leftoversOf(told).flatMap((one) => (one.kind === 'firewalls' ? one.firewalls : []));
  const changed = [...after.filter((id) => !before.includes(id)), ...before.filter((id) => !after.includes(id))];
  const silent = changed.filter((id) => !owned.includes(id));
  if (silent.length > 0) broken.push(`firewalls ${silent.join()} were changed, and neither undone nor told`);
  return broken;
}

function cleaned(ledger: LedgerSnapshot, reference: string, told: Told): string[] {
  if (told.result === undefined) return [];
  const { deleted, leftAlone } = told.result as ResultOf['cleanCart'];
  const broken = leftInTheCart(ledger, reference, told);
  const ordered = orders(ledger).flatMap(({ cartItems }) => cartItems);
  const deletedAfter = orderedItemsDeleted(ledger).map(({ cartItemId }) => cartItemId);
  for (const id of deleted) if (deletedAfter.includes(id)) broken.push(`cart item ${id} is ordered, and was deleted`);
  for (const id of leftAlone) if (!ordered.includes(id)) broken.push(`cart item ${id} was left alone for nothing`);
  return broken;
}

function sameSet(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((id) => other.includes(id));
}
