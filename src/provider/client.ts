/**
 * The provider's interface, one method per row of its document. Every method makes one call (and repeats it once after
 * a 401, with a renewed token), and throws only failures of `errors.ts`.
 */
import { Caller, type CallOptions } from './caller';
import {
  cartItemAddedSchema,
  changeQuoteSchema,
  notShownSchema,
  quoteSchema,
  type CartItemBody,
  type ChangeOrderBody,
  type ChangeQuote,
  type OrderBody,
  type PlanSwitchBody,
  type Quote,
} from './schemas';

export type { CallOptions } from './caller';
export type { Secrets } from './excerpt';
export type { CallEvent, ProviderClientOptions } from './options';

/** Where servers are looked up. This is not in the document. */
export interface ServerLookup {
  /** Below the base URL, with `{account}` and `{label}`, e.g. `/servers?account={account}&label={label}`. */
  path: string;
  account?: string | undefined;
  label?: string | undefined;
}

export class ProviderClient extends Caller {
  /**
   * Row 1, a pivot: a second call orders a second time. The answer is not documented: any JSON, or null for an empty
   * body.
   */
  placeOrder(body: OrderBody, options?: CallOptions): Promise<unknown> {
    return this.call({ kind: 'pivot', method: 'POST', endpoint: '/order', body, response: notShownSchema }, options);
  }

  /**
   * Row 2. A second call adds a second item. An answer without the documented id and code is `UnknownOutcome`: the item
   * may be in the cart under an id that nobody knows.
   */
  addCartItem(body: CartItemBody, options?: CallOptions): Promise<{ cartItemId: number }> {
    return this.call(
      { kind: 'add', method: 'POST', endpoint: '/order/add-to-cart', body, response: cartItemAddedSchema },
      options,
    );
  }

  /** Row 3. An item that does not exist counts as deleted, so a second call succeeds like the first. */
  async deleteCartItem(cartItemId: number, options?: CallOptions): Promise<void> {
    await this.call(
      {
        kind: 'delete',
        method: 'DELETE',
        endpoint: '/order/cartItems/delete/{cart_item_id}',
        ids: { cart_item_id: cartItemId },
        response: notShownSchema,
      },
      options,
    );
  }

  /** Row 4, a pivot: a second call adds the resources a second time. The answer is not documented. */
  placeChangeOrder(body: ChangeOrderBody, options?: CallOptions): Promise<unknown> {
    return this.call(
      { kind: 'pivot', method: 'POST', endpoint: '/order/changeorder', body, response: notShownSchema },
      options,
    );
  }

  /** Row 5: places nothing. PUT or GET, see the option `quoteMethod`. */
  quoteChangeOrder(body: ChangeOrderBody, options?: CallOptions): Promise<ChangeQuote> {
    const method = this.options.quoteMethod;
    return this.call(
      { kind: 'quote', method, endpoint: '/order/changeorder/total', body, response: changeQuoteSchema },
      options,
    );
  }

  /**
   * Row 6, a pivot: it answers with a quote like row 7, but the document does not say that it has no effect. A quote
   * that cannot be read is `UnknownOutcome`.
   */
  switchPlan(subscriptionId: number, planId: number, options?: CallOptions): Promise<Quote> {
    return this.call(
      {
        kind: 'pivot',
        method: 'PUT',
        endpoint: '/order/switch/{subscription_id}',
        ids: { subscription_id: subscriptionId },
        body: { plan_id: planId },
        response: quoteSchema,
      },
      options,
    );
  }

  /** Row 7: switches nothing. */
  quotePlanSwitch(body: PlanSwitchBody, options?: CallOptions): Promise<Quote> {
    return this.call(
      { kind: 'quote', method: 'PUT', endpoint: '/order/switch/total', body, response: quoteSchema },
      options,
    );
  }

  /** Row 8. Neither the answer nor the effect of a second call is documented. */
  assignFirewalls(vmObjectId: number, firewallIds: readonly number[], options?: CallOptions): Promise<unknown> {
    return this.changeFirewalls('assign', vmObjectId, firewallIds, options);
  }

  /** Row 9. Neither the answer nor the effect of a second call is documented. */
  unassignFirewalls(vmObjectId: number, firewallIds: readonly number[], options?: CallOptions): Promise<unknown> {
    return this.changeFirewalls('unassign', vmObjectId, firewallIds, options);
  }

  /** Row 10. The answer is not documented; `readFirewallIds` reads it as far as possible. */
  listFirewalls(vmObjectId: number, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        kind: 'list',
        method: 'GET',
        endpoint: '/firewalls/object/{vm_object_id}',
        ids: { vm_object_id: vmObjectId },
        response: notShownSchema,
      },
      options,
    );
  }

  /** A GET that the operator configures, for the ids of the servers of an order. It is not in the document. */
  findServers({ path, account, label }: ServerLookup, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        kind: 'directory',
        method: 'GET',
        // Without the query: it may contain a key.
        endpoint: path.replace(/[?#].*$/s, ''),
        path,
        texts: { account, label },
        response: notShownSchema,
      },
      options,
    );
  }

  private changeFirewalls(
    verb: 'assign' | 'unassign',
    vmObjectId: number,
    firewallIds: readonly number[],
    options: CallOptions | undefined,
  ): Promise<unknown> {
    return this.call(
      {
        kind: 'assign',
        method: 'POST',
        endpoint: `/firewalls/${verb}/object/{vm_object_id}`,
        ids: { vm_object_id: vmObjectId },
        body: { firewalls: firewallIds.map((id) => ({ id })) },
        response: notShownSchema,
      },
      options,
    );
  }
}
