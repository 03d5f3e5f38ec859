/** The calls of the provider, as a person reads them: the method and the path of the document's row. */

/** `changes`: whether it changes something at the provider. */
export const providerCalls = {
  placeOrder: { call: 'POST /order', changes: true },
  addCartItem: { call: 'POST /order/add-to-cart', changes: true },
  deleteCartItem: { call: 'DELETE /order/cartItems/delete/{cart_item_id}', changes: true },
  placeChangeOrder: { call: 'POST /order/changeorder', changes: true },
  /** The method is the setting `PROVIDER_QUOTE_METHOD`. */
  quoteChangeOrder: { call: 'PUT|GET /order/changeorder/total', changes: false },
  switchPlan: { call: 'PUT /order/switch/{subscription_id}', changes: true },
  quotePlanSwitch: { call: 'PUT /order/switch/total', changes: false },
  assignFirewalls: { call: 'POST /firewalls/assign/object/{vm_object_id}', changes: true },
  unassignFirewalls: { call: 'POST /firewalls/unassign/object/{vm_object_id}', changes: true },
  listFirewalls: { call: 'GET /firewalls/object/{vm_object_id}', changes: false },
  /** The path is the setting `SERVER_DIRECTORY_PATH`; it is not in the document. */
  findServers: { call: 'GET SERVER_DIRECTORY_PATH', changes: false },
} as const;

export type ProviderCall = keyof typeof providerCalls;
