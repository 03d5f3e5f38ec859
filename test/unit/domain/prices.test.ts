/** The price of an order, by a list of prices. */
import { parsePriceList } from '../../../src/config/price-list';
import { estimateOf } from '../../../src/domain/prices';
import { cartItem } from '../../support/requests';

const list = {
  currency: 'USD',
  plans: [
    { plan_id: 17, billing_cycle: 1, price: 12.1 },
    { plan_id: 17, billing_cycle: 12, price: 120 },
    { plan_id: 21, billing_cycle: 1, price: 0 },
  ],
  addons: [{ id: 5, billing_cycle: 1, price: 0.1 }],
};
const prices = parsePriceList(JSON.stringify(list));
const total = (amount: number) => ({ total: amount, currency: 'usd' });

it.each([
  ['a server', [{ plan_id: 17 }], total(12.1)],
  ['servers of two plans, and cents', [{ plan_id: 17, quantity: 3 }, { plan_id: 21 }], total(36.3)],
  ['another cycle', [{ plan_id: 17, billing_cycle: 12 as const }], total(120)],
  ['add-ons', [{ plan_id: 17, quantity: 2, addons: [{ id: 5, additional_value: 10 }] }], total(26.2)],
  ['less of an add-on', [{ plan_id: 17, addons: [{ id: 5, additional_value: -9 }] }], total(12.1)],
  ['an unknown plan', [{ plan_id: 17 }, { plan_id: 99 }], /item 2: plan 99, cycle 1/],
  ['a plan without a price for its cycle', [{ plan_id: 21, billing_cycle: 3 as const }], /plan 21, cycle 3/],
  ['no plan', [{ plan_id: undefined }], /a plan without an id/],
  ['an unknown add-on', [{ plan_id: 17, addons: [{ id: 6, additional_value: 1 }] }], /add-on 6, cycle 1/],
])('%s', (_what, items, expected) => {
  const estimate = estimateOf({ items: items.map((item) => cartItem(item)) }, prices);
  if (expected instanceof RegExp) expect(estimate.unpriced).toMatch(expected);
  else expect(estimate).toEqual(expected);
});

it.each([
  ['USD', total(12.1)],
  [undefined, total(12.1)],
  ['eur', { unpriced: 'the price list is in usd, and the order is not' }],
])('an order in %s', (currency, expected) => {
  expect(estimateOf({ items: [cartItem({ plan_id: 17 })], currency }, prices)).toEqual(expected);
});

it('a price that JavaScript rounds by a hundredth is no estimate', () => {
  const addons = [{ id: 1, additional_value: 2 ** 52 }];
  const dear = parsePriceList(JSON.stringify({ ...list, addons: [{ id: 1, billing_cycle: 1, price: 1 }] }));
  const { unpriced } = estimateOf({ items: [cartItem({ plan_id: 17, addons })] }, dear);
  expect(unpriced).toBe('its price is too high to be exact');
});

it.each([
  ['[]', /must be a JSON object/],
  ['{"currency":"usd"}', /plans: must be a list/],
  ['{"currency":"usd","plans":[{"plan_id":1,"billing_cycle":2,"price":1}]}', /billing_cycle: must be 1, 3 or 12/],
  ['{"currency":"usd","plans":[{"plan_id":1,"billing_cycle":1,"price":-1}]}', /price: must not be negative/],
  [
    '{"currency":"usd","plans":[{"plan_id":1,"billing_cycle":1,"price":1000000001}]}',
    /price: must be at most 1000000000/,
  ],
  ['{"currency":"usd","plans":[],"plan":[]}', /plan/],
  [JSON.stringify({ ...list, plans: [...list.plans, list.plans[0]] }), /17, cycle 1 has two prices/],
  ['prices', /^the list is not JSON/],
  ['{"currency":"usd","plans":[],"plans":[{}]}', /^the list names a field twice: plans/],
  ['{"currency":"usd","plans":[{"plan_id":1,"billing_cycle":1,"price":9007199254740993}]}', /at most 15 digits/],
])('%s is no list', (text, message) => {
  expect(() => parsePriceList(text)).toThrow(message);
});
