/** The price of an order by the operator's list, as the provider has none; if that lacks anything, nobody knows. */
import type { CartItem, ProvisionServersRequest } from './requests';
import { amountMax } from './values';

export interface PriceList {
  /** In lower case. */
  currency: string;
  plans: ReadonlyMap<string, number>;
  addons: ReadonlyMap<string, number>;
}

/** `unpriced`: why there is no estimate, as a sentence. */
export type Estimate =
  | { total: number; currency: string; unpriced?: undefined }
  | { total?: undefined; currency?: undefined; unpriced: string };

/** Three letters, and one that there is: any other word would be a currency that nothing is priced in. */
export const isCurrencyCode = (text: string): boolean =>
  /^[A-Za-z]{3}$/.test(text) && Intl.supportedValuesOf('currency').includes(text.toUpperCase());

/** How a price is found. */
export const priceKey = (id: number | undefined, billingCycle: number) =>
  `${id ?? 'a plan without an id'}, cycle ${billingCycle}`;

export function estimateOf(
  { items, currency }: Pick<ProvisionServersRequest, 'items' | 'currency'>,
  list: PriceList,
): Estimate {
  if (currency !== undefined && currency.toLowerCase() !== list.currency) {
    return { unpriced: `the price list is in ${list.currency}, and the order is not` };
  }
  let total = 0;
  for (const [index, item] of items.entries()) {
    const price = priceOf(item, list);
    if (typeof price === 'string') return { unpriced: `the price list has no price for item ${index + 1}: ${price}` };
    total += price;
  }
  if (total > amountMax) return { unpriced: 'its price is too high to be exact' };
  return { total: Math.round(total * 1e6) / 1e6, currency: list.currency };
}

/** @returns what has no price, where something has none */
function priceOf({ plan_id, billing_cycle, addons = [], quantity = 1 }: CartItem, list: PriceList): number | string {
  const plan = priceKey(plan_id, billing_cycle);
  let one = list.plans.get(plan);
  if (one === undefined) return `plan ${plan}`;
  for (const { id, additional_value } of addons) {
    const addon = priceKey(id, billing_cycle);
    const price = list.addons.get(addon);
    if (price === undefined) return `add-on ${addon}`;
    one += price * Math.max(0, additional_value);
  }
  return one * quantity;
}
