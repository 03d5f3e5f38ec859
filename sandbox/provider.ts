/** What the interface does with a complete call: it checks the credentials, and lets the right row work on it. */
import type { Destination } from './endpoints';
import type { Oddity } from './fault-kinds';
import type { Ledger } from './ledger';
import { Orders } from './orders';
import { type Answer, refuse, Refused } from './responses';
import { Servers } from './servers';
import type { Settings } from './settings';
import { Subscriptions } from './subscriptions';

export interface ProviderRequest {
  /** Undefined: nothing lives there. */
  to: Destination | undefined;
  authorization: string | undefined;
  query: URLSearchParams;
  body: unknown;
  /** The form of the answer, as far as it is about what the answer shows. */
  oddity?: Oddity | undefined;
  /** In the control panel, which knows neither locks nor servers that are not ready. */
  byHand?: true;
  /** It arrived while another add of the same plan was under way. */
  overlaps?: boolean;
}

export class Provider {
  readonly servers: Servers;
  private readonly orders: Orders;
  private readonly subscriptions: Subscriptions;

  constructor(
    ledger: Ledger,
    private readonly settings: () => Settings,
  ) {
    this.servers = new Servers(ledger, settings);
    this.orders = new Orders(ledger, settings, () => this.servers.build());
    this.subscriptions = new Subscriptions(ledger, settings);
  }

  /** Works on a call; its effects are in the ledger when this returns. */
  workOn(request: ProviderRequest): Answer {
    try {
      return this.accept(request);
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      throw error;
    }
  }

  private accept({ to, authorization, query, body, oddity, byHand, overlaps }: ProviderRequest): Answer {
    if (!to) refuse(404, 'There is no such path and method');
    const { token, cartLock } = this.settings();
    if (token !== null && authorization !== `Bearer ${token}`) {
      refuse(401, 'The credentials are missing or not accepted');
    }
    if (cartLock !== null && overlaps) refuse(cartLock, 'The cart is locked');
    const { name, row, pathId } = to;
    if (!byHand && row !== null && row >= 8) this.servers.refuseUnready(pathId);
    switch (name) {
      case 'place-order':
        return this.orders.placeOrder(body);
      case 'add-cart-item':
        return this.orders.addCartItem(body);
      case 'delete-cart-item':
        return this.orders.deleteCartItem(pathId);
      case 'place-change-order':
        return this.subscriptions.placeChangeOrder(body);
      case 'quote-change-order':
        return this.subscriptions.quoteChangeOrder(body);
      case 'switch-plan':
        return this.subscriptions.switchPlan(pathId, body);
      case 'quote-plan-switch':
        return this.subscriptions.quoteSwitch(body);
      case 'assign-firewalls':
        return this.servers.assignFirewalls(pathId, body);
      case 'unassign-firewalls':
        return this.servers.unassignFirewalls(pathId, body);
      case 'list-firewalls':
        return this.servers.listFirewalls(pathId, oddity);
      case 'find-servers':
        return this.servers.findServers(query, oddity);
    }
  }
}
