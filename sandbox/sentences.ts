/**
 * Questions to the ledger, in the words of a test. Pure functions of a snapshot (or of the running ledger), so they
 * work for a sandbox in this process and for one in another.
 */
import type { EndpointName } from './endpoints';
import type {
  Call,
  CartItemAdded,
  ChangeOrderPlaced,
  FirewallsChanged,
  LedgerEntry,
  LedgerSnapshot,
  OrderPlaced,
  PlanSwitched,
} from './ledger';

/**
 * Added, and neither deleted nor ordered. A closed item stays closed: no row puts it back into the cart. A deleted item's
 * id may be given again.
 */
export function openCartItems(ledger: LedgerSnapshot): CartItemAdded[] {
  const open = new Map<number, CartItemAdded>();
  for (const entry of ledger.entries) {
    if (entry.type === 'cartItemAdded') open.set(entry.cartItemId, entry);
    if (entry.type === 'cartItemDeleted') open.delete(entry.cartItemId);
    if (entry.type === 'orderPlaced') for (const id of entry.cartItems) open.delete(id);
  }
  return [...open.values()];
}

/**
 * Open cart items that an outcome does not report: those that are not among its ids, as far as they are more than its
 * adds of unknown outcome.
 */
export function silentLeftovers(
  ledger: LedgerSnapshot,
  listedCartItemIds: readonly number[] = [],
  unknownAdds = 0,
): CartItemAdded[] {
  const unlisted = openCartItems(ledger).filter((item) => !listedCartItemIds.includes(item.cartItemId));
  return unlisted.length > unknownAdds ? unlisted : [];
}

/**
 * Cart items that were deleted after an order took them; must be empty. The order still stands and is paid for, so this
 * would be an undo of a purchase. Possible only with the setting `closedCartItems: 'take'`.
 */
export function orderedItemsDeleted(ledger: LedgerSnapshot): CartItemAdded[] {
  const ordered = new Set<number>();
  const deletedLater = new Set<number>();
  for (const entry of ledger.entries) {
    if (entry.type === 'orderPlaced') for (const id of entry.cartItems) ordered.add(id);
    if (entry.type === 'cartItemDeleted' && ordered.has(entry.cartItemId)) deletedLater.add(entry.cartItemId);
  }
  return entriesOf(ledger, 'cartItemAdded').filter((added) => deletedLater.has(added.cartItemId));
}

/**
 * Cart items that are in more than one order; must be empty. Unlike `placedTwice` it ignores label and account: the
 * same items under another label are bought twice, too. Possible only with the setting `closedCartItems: 'take'`.
 */
export function orderedTwice(ledger: LedgerSnapshot): CartItemAdded[] {
  const ordered = new Set<number>();
  const orderedAgain = new Set<number>();
  for (const { cartItems } of orders(ledger)) {
    for (const id of new Set(cartItems)) (ordered.has(id) ? orderedAgain : ordered).add(id);
  }
  return entriesOf(ledger, 'cartItemAdded').filter((added) => orderedAgain.has(added.cartItemId));
}

export function orders(ledger: LedgerSnapshot): OrderPlaced[] {
  return entriesOf(ledger, 'orderPlaced');
}

export function ordersOf(ledger: LedgerSnapshot, account: string): OrderPlaced[] {
  return orders(ledger).filter((order) => order.account === account);
}

export function ordersWithLabel(ledger: LedgerSnapshot, label: string): OrderPlaced[] {
  return orders(ledger).filter((order) => order.label === label);
}

export function changeOrdersOf(ledger: LedgerSnapshot, subscriptionId: number): ChangeOrderPlaced[] {
  return entriesOf(ledger, 'changeOrderPlaced').filter((change) => change.subscriptionId === subscriptionId);
}

export function switchesOf(ledger: LedgerSnapshot, subscriptionId: number): PlanSwitched[] {
  return entriesOf(ledger, 'planSwitched').filter((change) => change.subscriptionId === subscriptionId);
}

export function callsTo(ledger: LedgerSnapshot, endpoint: number | EndpointName): Call[] {
  return ledger.calls.filter((call) => (typeof endpoint === 'number' ? call.row : call.endpoint) === endpoint);
}

/** An order by account and label, or by account and contents without one; a change or switch by what it asks for. */
function purchaseIn(entry: LedgerEntry): string | undefined {
  switch (entry.type) {
    case 'orderPlaced':
      return JSON.stringify(['order', entry.account, entry.label ?? entry.items]);
    case 'changeOrderPlaced':
      return JSON.stringify(['change', entry.subscriptionId, entry.resources]);
    case 'planSwitched':
      return JSON.stringify(['switch', entry.subscriptionId, entry.planId]);
    case 'cartItemAdded':
    case 'cartItemDeleted':
    case 'firewallsAssigned':
    case 'firewallsUnassigned':
      return undefined;
  }
}

/** The second and later effects of the same purchase; must be empty. A failing test prints them. */
export function placedTwice(ledger: LedgerSnapshot): LedgerEntry[] {
  const seen = new Set<string>();
  return ledger.entries.filter((entry) => {
    const purchase = purchaseIn(entry);
    if (purchase === undefined) return false;
    const again = seen.has(purchase);
    seen.add(purchase);
    return again;
  });
}

/** No order, change order or plan switch took effect twice. */
export function noOrderPlacedTwice(ledger: LedgerSnapshot): boolean {
  return placedTwice(ledger).length === 0;
}

export interface KnownServer {
  vmObjectId: number;
  account: string | null;
  label: string | null;
  /** Null for a seeded server. */
  orderId: number | null;
}

/** All servers: the seeded ones, then those of the orders. */
export function servers(ledger: LedgerSnapshot): KnownServer[] {
  const seeded = ledger.seededServers.map(({ vmObjectId, account, label }) => ({
    vmObjectId,
    account,
    label,
    orderId: null,
  }));
  const ordered = orders(ledger).flatMap(({ vmObjectIds, account, label, orderId }) =>
    vmObjectIds.map((vmObjectId) => ({ vmObjectId, account, label, orderId })),
  );
  return [...seeded, ...ordered];
}

export function serversOf(ledger: LedgerSnapshot, account: string): KnownServer[] {
  return servers(ledger).filter((server) => server.account === account);
}

export interface FirewallMoment {
  /** The ledger entry's. */
  seq: number;
  firewalls: number[];
}

/** The firewalls of a server over time: one moment per change, the first with those that it started with. */
export function firewallMoments(ledger: LedgerSnapshot, vmObjectId: number): FirewallMoment[] {
  const seeded = ledger.seededServers.find((server) => server.vmObjectId === vmObjectId);
  const order = orders(ledger).find((placed) => placed.vmObjectIds.includes(vmObjectId));
  const changes = ledger.entries.filter(
    (entry): entry is FirewallsChanged =>
      (entry.type === 'firewallsAssigned' || entry.type === 'firewallsUnassigned') && entry.vmObjectId === vmObjectId,
  );
  return [
    { seq: seeded?.seq ?? order?.seq ?? 0, firewalls: seeded?.firewalls ?? [] },
    ...changes.map((change) => ({ seq: change.seq, firewalls: change.after })),
  ];
}

export function firewallsOf(ledger: LedgerSnapshot, vmObjectId: number): number[] {
  return firewallMoments(ledger, vmObjectId).at(-1)?.firewalls ?? [];
}

/**
 * True if the server had, at each moment, all firewalls that it started with, or all that were wanted. On the way from
 * one set to the other it has, if the new ones are assigned first.
 *
 * `wanted` defaults to the last moment's. Set it where the change may be incomplete or undone: else a server that lost
 * all its firewalls would count as one that wants none.
 *
 * @param besides firewalls that others change: they are ignored
 */
export function neverLessProtected(
  ledger: LedgerSnapshot,
  vmObjectId: number,
  wanted: readonly number[] = firewallsOf(ledger, vmObjectId),
  besides: readonly number[] = [],
): boolean {
  const moments = firewallMoments(ledger, vmObjectId);
  const atFirst = moments[0]?.firewalls ?? [];
  return moments.every(({ firewalls }) =>
    [atFirst, wanted].some((ids) => ids.every((id) => firewalls.includes(id) || besides.includes(id))),
  );
}

function entriesOf<T extends LedgerEntry['type']>(
  ledger: LedgerSnapshot,
  type: T,
): Extract<LedgerEntry, { type: T }>[] {
  return ledger.entries.filter((entry): entry is Extract<LedgerEntry, { type: T }> => entry.type === type);
}
