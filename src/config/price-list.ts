/** The operator's price list, as it stands in its file. */
import { z } from 'zod';
import { parseJson } from '../domain/json';
import { isCurrencyCode, priceKey, type PriceList } from '../domain/prices';
import { describeProblems, problemsOf } from '../domain/problems';

const id = () => z.int('must be a whole number').positive('must be above 0');
const priced = () => ({
  billing_cycle: z.literal([1, 3, 12], 'must be 1, 3 or 12'),
  /** No sum of such prices is infinite: JSON would make nothing of it, which no guard is below. */
  price: z
    .number('must be a number that has at most 15 digits')
    .nonnegative('must not be negative')
    .max(1_000_000_000, 'must be at most 1000000000'),
});

/** Prices are for one billing cycle: of one server of a plan, and of 1 in an add-on's `additional_value`. */
const priceListSchema = z.strictObject({
  currency: z
    .string('must be a currency, like USD')
    .refine(isCurrencyCode, 'must be a currency, like USD')
    .transform((text) => text.toLowerCase()),
  plans: z.array(z.strictObject({ plan_id: id(), ...priced() })),
  addons: z.array(z.strictObject({ id: id(), ...priced() })).default([]),
});

/** @throws Error that says which entry is wrong */
export function parsePriceList(text: string): PriceList {
  const read = priceListSchema.safeParse(parseJson(text, 'the list'));
  if (!read.success) throw new Error(describeProblems(problemsOf(read.error)));
  const { currency, plans, addons } = read.data;
  return {
    currency,
    plans: byKey(plans.map(({ plan_id, billing_cycle, price }) => [priceKey(plan_id, billing_cycle), price])),
    addons: byKey(addons.map(({ id, billing_cycle, price }) => [priceKey(id, billing_cycle), price])),
  };
}

/** @throws Error where a price is in it twice */
function byKey(entries: [key: string, price: number][]): ReadonlyMap<string, number> {
  const prices = new Map(entries);
  if (prices.size === entries.length) return prices;
  const twice = entries.find(([key], index) => entries.findIndex(([other]) => other === key) < index);
  throw new Error(`${twice?.[0] ?? ''} has two prices`);
}
