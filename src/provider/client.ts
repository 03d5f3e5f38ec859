/**
 * The provider's interface, one method per row of its document. Every method makes one call (and repeats it once after
 * a 401, with a renewed token), and throws only failures of `errors.ts`.
 */
import { Caller, type CallOptions } from './caller';
import type { ListAnswer } from './firewall-list';
import {
  cartItemAddedSchema,
  changeQuoteSchema,
  quoteSchema,
  switchedSchema,
  type CartItemBody,
  type ChangeOrderBody,
  type OrderBody,
  type PlanSwitchBody,
} from './schemas';

export type { CallOptions } from './caller';
export type { Secrets } from './excerpt';
export type { CallEvent, ProviderClientOptions } from './options';

export class ProviderClient extends Caller {
  /**
   * Row 1, a pivot: a second call orders a second time. The answer is not documented: it is `UnknownOutcome` where the
   * profile does not declare it as done.
   */
  placeOrder(body: OrderBody, options?: CallOptions): Promise<unknown> {
    return this.call('order', 'POST /order', options, { body });
  }

  /**
   * Row 2. A second call adds a second item. An answer without the documented id and code is `UnknownOutcome`: the item
   * may be in the cart under an id that nobody knows.
   */
  addCartItem(body: CartItemBody, options?: CallOptions): Promise<{ cartItemId: number }> {
    return this.call('add', 'POST /order/add-to-cart', options, { body, response: cartItemAddedSchema });
  }

  /**
   * Row 3. An item that does not exist counts as deleted, so a second call succeeds like the first. `NotDeclared` where
   * the profile does not say that it is deleted, or gone.
   */
  async deleteCartItem(cartItemId: number, options?: CallOptions): Promise<void> {
    const ids = { cart_item_id: cartItemId };
    await this.call('delete', 'DELETE /order/cartItems/delete/{cart_item_id}', options, { ids });
  }

  /** Row 4, a pivot: a second call adds the resources a second time. The answer is as little documented as row 1's. */
  placeChangeOrder(body: ChangeOrderBody, options?: CallOptions): Promise<unknown> {
    return this.call('changeOrder', 'POST /order/changeorder', options, { body });
  }

  /** Row 5: places nothing. PUT or GET, see the option `quoteMethod`. */
  quoteChangeOrder(body: ChangeOrderBody, options?: CallOptions) {
    const endpoint = `${this.options.quoteMethod} /order/changeorder/total` as const;
    return this.call('quote', endpoint, options, { body, response: changeQuoteSchema });
  }

  /**
   * Row 6, a pivot: it answers with a quote like row 7, but the document does not say that it has no effect. A quote
   * that cannot be read is `UnknownOutcome`.
   */
  switchPlan(subscriptionId: number, planId: number, options?: CallOptions) {
    const sent = { ids: { subscription_id: subscriptionId }, body: { plan_id: planId } };
    return this.call('switch', 'PUT /order/switch/{subscription_id}', options, { ...sent, response: switchedSchema });
  }

  /** Row 7: switches nothing. */
  quotePlanSwitch(body: PlanSwitchBody, options?: CallOptions) {
    return this.call('quote', 'PUT /order/switch/total', options, { body, response: quoteSchema });
  }

  /** Row 8. Neither the answer nor the effect of a second call is documented. @returns whether the profile has declared it */
  assignFirewalls(vmObjectId: number, firewallIds: readonly number[], options?: CallOptions): Promise<boolean> {
    const sent = firewallsOn(vmObjectId, firewallIds);
    return this.call('assign', 'POST /firewalls/assign/object/{vm_object_id}', options, sent);
  }

  /** Row 9, as {@link assignFirewalls}. */
  unassignFirewalls(vmObjectId: number, firewallIds: readonly number[], options?: CallOptions): Promise<boolean> {
    const sent = firewallsOn(vmObjectId, firewallIds);
    return this.call('unassign', 'POST /firewalls/unassign/object/{vm_object_id}', options, sent);
  }

  /** Row 10. The answer is not documented; `readFirewalls` reads it. */
  listFirewalls(vmObjectId: number, options?: CallOptions): Promise<ListAnswer> {
    return this.call('list', 'GET /firewalls/object/{vm_object_id}', options, { ids: { vm_object_id: vmObjectId } });
  }

  /**
   * A GET that the operator configures, for the ids of the servers of an order. It is not in the document.
   *
   * @param path below the base URL, with `{account}` and `{label}`, e.g. `/servers?account={account}&label={label}`
   */
  findServers({ path, account, label }: { path: string; account?: string; label?: string }, options?: CallOptions) {
    // Without the query: it may contain a key.
    const endpoint = `GET ${path.replace(/[?#].*$/s, '')}` as const;
    return this.call('directory', endpoint, options, { path, texts: { account, label } });
  }
}

function firewallsOn(vmObjectId: number, firewallIds: readonly number[]) {
  return { ids: { vm_object_id: vmObjectId }, body: { firewalls: firewallIds.map((id) => ({ id })) } };
}
