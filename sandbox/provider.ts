/** What the interface does with a complete call: it checks credentials and body, and lets the right row work on it. */
import type { Destination } from './endpoints';
import type { Oddity } from './fault-kinds';
import type { Ledger } from './ledger';
import { Orders } from './orders';
import { bodyBytesMax, type ReceivedBody } from './request';
import { type Answer, refusal } from './responses';
import { Servers } from './servers';
import type { Settings } from './settings';
import { Subscriptions } from './subscriptions';

export interface ProviderRequest {
  to: Destination;
  authorization: string | undefined;
  query: URLSearchParams;
  body: ReceivedBody;
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
  workOn({ to, authorization, query, body, oddity, byHand, overlaps }: ProviderRequest): Answer {
    if (!to.endpoint) {
      if (to.allowed.length === 0) return refusal(404, 'There is no such path');
      return { ...refusal(405, 'There is no such method here'), headers: { allow: to.allowed.join(', ') } };
    }
    const { token, cartLock } = this.settings();
    if (token !== null && authorization !== `Bearer ${token}`) {
      return refusal(401, 'The credentials are missing or not accepted');
    }
    if (body.tooLarge) return refusal(413, `The body is larger than ${bodyBytesMax} bytes`);
    if (to.endpoint.takesBody && !body.json) return refusal(400, 'The body is not JSON');

    const { pathId } = to;
    const payload = body.json?.value;
    if (cartLock !== null && overlaps) return refusal(cartLock, 'The cart is locked');
    if (!byHand && [8, 9, 10].includes(to.endpoint.row ?? 0)) {
      const unready = this.servers.refuseUnready(pathId);
      if (unready) return unready;
    }
    switch (to.endpoint.name) {
      case 'place-order':
        return this.orders.placeOrder(payload);
      case 'add-cart-item':
        return this.orders.addCartItem(payload);
      case 'delete-cart-item':
        return this.orders.deleteCartItem(pathId);
      case 'place-change-order':
        return this.subscriptions.placeChangeOrder(payload);
      case 'quote-change-order':
        return this.subscriptions.quoteChangeOrder(payload);
      case 'switch-plan':
        return this.subscriptions.switchPlan(pathId, payload);
      case 'quote-plan-switch':
        return this.subscriptions.quoteSwitch(payload);
      case 'assign-firewalls':
        return this.servers.assignFirewalls(pathId, payload);
      case 'unassign-firewalls':
        return this.servers.unassignFirewalls(pathId, payload);
      case 'list-firewalls':
        return this.servers.listFirewalls(pathId, oddity);
      case 'find-servers':
        return this.servers.findServers(query, oddity);
    }
  }
}
