/** The interface checks the credentials of a complete call, and lets the right row work on it. */
import type { Destination, EndpointName } from './endpoints';
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

type Asked = Pick<ProviderRequest, 'query' | 'body' | 'oddity'> & Pick<Destination, 'pathId'>;

export class Provider {
  readonly servers: Servers;
  readonly orders: Orders;
  private readonly rows: Record<EndpointName, (asked: Asked) => Answer>;

  constructor(
    ledger: Ledger,
    private readonly settings: () => Settings,
  ) {
    this.servers = new Servers(ledger, settings);
    const orders = (this.orders = new Orders(ledger, settings, () => this.servers.build()));
    const subscriptions = new Subscriptions(ledger, settings);
    this.rows = {
      'place-order': ({ body }) => orders.placeOrder(body),
      'add-cart-item': ({ body }) => orders.addCartItem(body),
      'delete-cart-item': ({ pathId }) => orders.deleteCartItem(pathId),
      'place-change-order': ({ body }) => subscriptions.placeChangeOrder(body),
      'quote-change-order': ({ body }) => subscriptions.quoteChangeOrder(body),
      'switch-plan': ({ pathId, body }) => subscriptions.switchPlan(pathId, body),
      'quote-plan-switch': ({ body }) => subscriptions.quoteSwitch(body),
      'assign-firewalls': ({ pathId, body }) => this.servers.assignFirewalls(pathId, body),
      'unassign-firewalls': ({ pathId, body }) => this.servers.unassignFirewalls(pathId, body),
      'list-firewalls': ({ pathId, oddity }) => this.servers.listFirewalls(pathId, oddity),
      'find-servers': ({ query, oddity }) => this.servers.findServers(query, oddity),
    };
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
    return this.rows[name]({ pathId, query, body, oddity });
  }
}
