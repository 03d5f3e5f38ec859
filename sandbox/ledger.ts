/**
 * The truth for tests: every effect, in order, with its request; every call that was received; and every fault that
 * struck. One counter numbers all three, so that they can be ordered among each other.
 *
 * Nothing is blanked out here, also no password: a test that plants a canary needs to see that it arrived.
 */
import type { EndpointName } from './endpoints';
import type { CallMatch } from './call-match';
import type { FaultKind } from './fault-kinds';
import type { CartItem, Resource } from './rules';

export interface CartItemAdded {
  type: 'cartItemAdded';
  seq: number;
  cartItemId: number;
  item: CartItem;
}
export interface CartItemDeleted {
  type: 'cartItemDeleted';
  seq: number;
  cartItemId: number;
}
export interface OrderPlaced {
  type: 'orderPlaced';
  seq: number;
  orderId: number;
  account: string;
  currency: string;
  label: string | null;
  cartItems: number[];
  /** The cart items as they were added, in the order of `cartItems`. */
  items: CartItem[];
  /** One per unit of quantity of each item that is a server. */
  vmObjectIds: number[];
}
export interface ChangeOrderPlaced {
  type: 'changeOrderPlaced';
  seq: number;
  changeOrderId: number;
  subscriptionId: number;
  resources: Resource[];
  total: number;
  currency: string;
}
export interface PlanSwitched {
  type: 'planSwitched';
  seq: number;
  subscriptionId: number;
  planId: number;
  total: number;
  currency: string;
}
export interface FirewallsChanged {
  type: 'firewallsAssigned' | 'firewallsUnassigned';
  seq: number;
  vmObjectId: number;
  /** The requested firewalls; what changed is the difference of `before` and `after`. */
  firewalls: number[];
  before: number[];
  after: number[];
}

export type Placed = OrderPlaced | ChangeOrderPlaced | PlanSwitched;
export type LedgerEntry = CartItemAdded | CartItemDeleted | Placed | FirewallsChanged;

export interface Call {
  seq: number;
  /** When it had arrived completely, in milliseconds since 1970. */
  receivedMs: number;
  /** Null for a path or method that the interface does not have. */
  endpoint: EndpointName | null;
  row: number | null;
  method: string;
  /** The path with its query, as sent. */
  path: string;
  headers: Record<string, string>;
  /** Parsed if it was JSON, else the text; null for no body. */
  body: unknown;
  /** Taken from its path, query and body, and from what is known of the ids in them. */
  names: { [Field in keyof CallMatch]?: (string | number)[] };
  /** The status that was sent; null before that, and where none was sent (reset, hung). */
  status: number | null;
  faults: { id: string; kind: FaultKind }[];
  /** `seq` of its effects. */
  effects: number[];
}

export interface FaultStruck {
  seq: number;
  faultId: string;
  kind: FaultKind;
  endpoint: EndpointName;
  callSeq: number;
}

/** A server that existed before any order. */
export interface SeededServer {
  seq: number;
  vmObjectId: number;
  account: string | null;
  label: string | null;
  firewalls: number[];
}

/** The sentences read it, as JSON. The running ledger has the same shape, so they accept either. */
export interface LedgerSnapshot {
  readonly entries: readonly LedgerEntry[];
  readonly calls: readonly Call[];
  readonly faultsStruck: readonly FaultStruck[];
  readonly seededServers: readonly SeededServer[];
}

type Unnumbered<T> = T extends { seq: number } ? Omit<T, 'seq'> : never;

export class Ledger implements LedgerSnapshot {
  readonly entries: LedgerEntry[] = [];
  readonly calls: Call[] = [];
  readonly faultsStruck: FaultStruck[] = [];
  readonly seededServers: SeededServer[] = [];
  private lastSeq = 0;

  tookEffect<T extends LedgerEntry>(entry: Unnumbered<T>): T {
    return this.write(this.entries, entry) as T;
  }

  called(call: Unnumbered<Call>): Call {
    return this.write(this.calls, call);
  }

  struck(strike: Unnumbered<FaultStruck>): FaultStruck {
    return this.write(this.faultsStruck, strike);
  }

  seeded(server: Unnumbered<SeededServer>): SeededServer {
    return this.write(this.seededServers, server);
  }

  /** A copy that later calls do not change. */
  snapshot(): LedgerSnapshot {
    const { entries, calls, faultsStruck, seededServers } = this;
    return structuredClone({ entries, calls, faultsStruck, seededServers });
  }

  private write<T extends { seq: number }>(list: T[], record: Unnumbered<T>): T {
    const numbered = { seq: ++this.lastSeq, ...record } as unknown as T;
    list.push(numbered);
    return numbered;
  }
}
