/**
 * Questions to the ledger, worded as a test would say them. Pure functions over a snapshot (or over the running
 * ledger), so they read the same for a sandbox in this process and for one in another.
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
  Placed,
  PlanSwitched,
} from './ledger';

/** Added, and neither deleted nor ordered. What is closed stays closed: no row puts an item back into the cart. */
export function openCartItems(ledger: LedgerSnapshot): CartItemAdded[] {
  const gone = new Set<number>();
  for (const entry of ledger.entries) {
    if (entry.type === 'cartItemDeleted') gone.add(entry.cartItemId);
    if (entry.type === 'orderPlaced') for (const id of entry.cartItems) gone.add(id);
  }
  return entriesOf(ledger, 'cartItemAdded').filter((added) => !gone.has(added.cartItemId));
}

/**
 * Open cart items that an outcome does not own up to: those not among the ids it lists, as far as they are more than
 * the adds of which it says that it never learnt what became of them.
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
 * Cart items that were deleted after an order took them; empty is good. The order still stands and is paid for, so this
 * is an undo of something that was bought. Only where the setting `closedCartItems` is `take`.
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
 * Cart items that are in more than one order; empty is good. Unlike `placedTwice` it does not ask what the orders call
 * themselves: the same items under another label or for another account are bought twice too. Only where the setting
 * `closedCartItems` is `take`.
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

/** What counts as the same thing bought. Undefined leaves the entry out of the comparison. */
export type SameThing = (placed: Placed) => string | undefined;

/** An order by account and label, or by account and contents without one; a change or switch by what it asks for. */
export const sameRequest: SameThing = (placed) => {
  switch (placed.type) {
    case 'orderPlaced':
      return JSON.stringify(['order', placed.account, placed.label ?? placed.items]);
    case 'changeOrderPlaced':
      return JSON.stringify(['change', placed.subscriptionId, placed.resources]);
    case 'planSwitched':
      return JSON.stringify(['switch', placed.subscriptionId, placed.planId]);
  }
};

/** The second and later effects of the same thing bought; empty is good. Here for what a failing test prints. */
export function placedTwice(ledger: LedgerSnapshot, sameThing: SameThing = sameRequest): Placed[] {
  const seen = new Set<string>();
  return ledger.entries.filter((entry): entry is Placed => {
    if (entry.type !== 'orderPlaced' && entry.type !== 'changeOrderPlaced' && entry.type !== 'planSwitched')
      return false;
    const key = sameThing(entry);
    if (key === undefined) return false;
    const again = seen.has(key);
    seen.add(key);
    return again;
  });
}

/** No order, change order or plan switch took effect twice. */
export function noOrderPlacedTwice(ledger: LedgerSnapshot, sameThing: SameThing = sameRequest): boolean {
  return placedTwice(ledger, sameThing).length === 0;
}

export interface KnownServer {
  vmObjectId: number;
  account: string | null;
  label: string | null;
  /** Null for a seeded server. */
  orderId: number | null;
}

/** Every server there is: the seeded ones, then those of the orders. */
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
  /** Of the entry that brought it about. */
  seq: number;
  firewalls: number[];
}

/** What protected a server, from its beginning on: one moment per change, the first being what it started with. */
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
 * The moments at which a server had neither all the firewalls it started with nor all that were wanted; empty is good.
 * On the way from one set to the other, assigning first keeps it from ever passing through such a moment.
 *
 * `wanted` defaults to the last moment's. Name it where the way may have been left half-way or undone: a server that
 * lost everything would count as wanting nothing, and one that came back as never having been on the way.
 *
 * @param besides firewalls that somebody else changes: nothing is said of them
 */
export function lessProtectedMoments(
  ledger: LedgerSnapshot,
  vmObjectId: number,
  wanted: readonly number[] = firewallsOf(ledger, vmObjectId),
  besides: readonly number[] = [],
): FirewallMoment[] {
  const moments = firewallMoments(ledger, vmObjectId);
  const atFirst = moments[0]?.firewalls ?? [];
  const holdsAll = (moment: FirewallMoment, ids: readonly number[]) =>
    ids.every((id) => moment.firewalls.includes(id) || besides.includes(id));
  return moments.filter((moment) => !holdsAll(moment, atFirst) && !holdsAll(moment, wanted));
}

export function neverLessProtected(
  ledger: LedgerSnapshot,
  vmObjectId: number,
  wanted?: readonly number[],
  besides?: readonly number[],
): boolean {
  return lessProtectedMoments(ledger, vmObjectId, wanted, besides).length === 0;
}

function entriesOf<T extends LedgerEntry['type']>(
  ledger: LedgerSnapshot,
  type: T,
): Extract<LedgerEntry, { type: T }>[] {
  return ledger.entries.filter((entry): entry is Extract<LedgerEntry, { type: T }> => entry.type === type);
}
