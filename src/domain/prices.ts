/**
 * What an order may cost, by the operator's own list: the provider quotes no order. It is an estimate, and said as one;
 * an order with anything that the list does not know has none.
 */
import { z } from 'zod';
import { lazy } from './lazy';
import type { CartItem, ProvisionServersRequest } from './requests';

const id = () => z.int('must be a whole number').positive('must be above 0');
const cycle = () => z.literal([1, 3, 12], 'must be 1, 3 or 12');
const price = () => z.number('must be a number').nonnegative('must not be negative');

/** Prices are for one billing cycle: of one server of a plan, and of 1 in an add-on's `additional_value`. */
const priceListSchema = lazy(() =>
  z.strictObject({
    currency: z
      .string('must be a currency, like USD')
      .regex(/^[A-Za-z]{3,16}$/, 'must be a currency, like USD')
      .transform((text) => text.toLowerCase()),
    plans: z.array(z.strictObject({ plan_id: id(), billing_cycle: cycle(), price: price() }), 'must be a list'),
    addons: z.array(z.strictObject({ id: id(), billing_cycle: cycle(), price: price() }), 'must be a list').default([]),
  }),
);

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

/** @throws Error that says which entry is wrong */
export function parsePriceList(text: string): PriceList {
  const read = priceListSchema().safeParse(JSON.parse(text));
  if (!read.success) {
    const [{ path, message } = { path: [], message: '' }] = read.error.issues;
    throw new Error(`${path.join('.') || 'the list'}: ${message}`);
  }
  const { currency, plans, addons } = read.data;
  return {
    currency,
    plans: byKey(plans.map(({ plan_id, billing_cycle, price }) => [keyOf(plan_id, billing_cycle), price])),
    addons: byKey(addons.map(({ id, billing_cycle, price }) => [keyOf(id, billing_cycle), price])),
  };
}

/** @throws Error where a price is in it twice */
function byKey(entries: [key: string, price: number][]): ReadonlyMap<string, number> {
  const prices = new Map(entries);
  if (prices.size === entries.length) return prices;
  const twice = entries.find(([key], index) => entries.findIndex(([other]) => other === key) < index);
  throw new Error(`${twice?.[0] ?? ''} has two prices`);
}

const keyOf = (id: number | undefined, billingCycle: number) =>
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
  return { total: Math.round(total * 1e6) / 1e6, currency: list.currency };
}

/** @returns what has no price, where something has none */
function priceOf({ plan_id, billing_cycle, addons = [], quantity = 1 }: CartItem, list: PriceList): number | string {
  const plan = keyOf(plan_id, billing_cycle);
  let one = list.plans.get(plan);
  if (one === undefined) return `plan ${plan}`;
  for (const { id, additional_value } of addons) {
    const addon = keyOf(id, billing_cycle);
    const price = list.addons.get(addon);
    if (price === undefined) return `add-on ${addon}`;
    one += price * Math.max(0, additional_value);
  }
  return one * quantity;
}
