/** Every call that the client can make, and what of its answer the document promises, read here a second time. */
import type { ProviderClient } from '../../../src/provider/client';

export interface ProviderCall {
  name: string;
  pivot: boolean;
  make: (client: ProviderClient) => Promise<unknown>;
  /** True if a body holds what the document shows of this call's success. */
  documented: (body: unknown) => boolean;
}

type Fields = Record<string, unknown>;

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
const isNumber = (value: unknown) =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) && Number.isFinite(Number(value));
const isYesOrNo = (value: unknown) => /^(?:true|false|0|1)$/.test(String(value)) && typeof value !== 'object';
const isDay = (value: unknown) => typeof value === 'string' && value.length <= 40;

function isQuote(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { available, total, currency, date_from, date_to } = own(body);
  if (!isYesOrNo(available) || !isNumber(total)) return false;
  if (typeof currency !== 'string' || currency === '' || currency !== currency.toLowerCase()) return false;
  return isDay(date_from) && isDay(date_to);
}

function isAdded(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { 0: id, data } = own(body);
  return (
    isId(Number(id)) && isNumber(id) && typeof data === 'object' && data !== null && Number(own(data)['code']) === 200
  );
}

/** An object's own fields, and not those that it inherits. */
function own(value: object): Fields {
  return Object.fromEntries<unknown>(Object.entries(value));
}

const change = { subscription_id: 5512, resources: [{ resource_name: 'vm_backup', delta_value: '1' }] };
const planSwitch = { subscription_id: 5512, plan_id: 21 };
const directory = { path: '/servers?account={account}', account: 'AB-1' };

type Promised = Partial<Pick<ProviderCall, 'pivot' | 'documented'>>;

const call = (name: string, make: ProviderCall['make'], promised: Promised = {}): ProviderCall => ({
  ...{ name, make, pivot: false, documented: () => true },
  ...promised,
});

/** The document's ten rows, and the directory that it does not have. */
export const calls: ProviderCall[] = [
  call('1 order', (client) => client.placeOrder({ account: 'AB-1', cartItems: [1] }), { pivot: true }),
  call('2 add to cart', (client) => client.addCartItem({ billing_cycle: 1 }), { documented: isAdded }),
  call('3 delete item', (client) => client.deleteCartItem(17)),
  call('4 change order', (client) => client.placeChangeOrder(change), { pivot: true }),
  call('5 change total', (client) => client.quoteChangeOrder(change), {
    documented: (body) => isQuote(body) && Array.isArray(own(body as object)['inapplicable_resources']),
  }),
  call('6 switch', (client) => client.switchPlan(5512, 21), {
    pivot: true,
    documented: (body) => isQuote(body) && /^(?:true|1)$/.test(String(own(body as object)['available'])),
  }),
  call('7 switch total', (client) => client.quotePlanSwitch(planSwitch), { documented: isQuote }),
  call('8 assign', (client) => client.assignFirewalls(9001, [143])),
  call('9 unassign', (client) => client.unassignFirewalls(9001, [143])),
  call('10 list', (client) => client.listFirewalls(9001)),
  call('directory', (client) => client.findServers(directory)),
];
