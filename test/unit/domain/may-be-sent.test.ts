/** The gate before a pivot: facts × answers. */
import { mayBeSent, type MayBeSent, type SendFacts } from '../../../src/domain/may-be-sent';
import { type Buying, whyNotNow } from '../../../src/journal/purchases';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const past = '2026-03-01T11:59:59.000Z';
const future = '2026-03-01T12:00:01.000Z';

const terms = { same: 'digest', total: 25, currency: 'usd' };
const agreed = (more: Partial<SendFacts['terms']> = {}, ...why: string[]) => [{ terms: { ...terms, ...more }, why }];
const facts: SendFacts = { nowMs, terms, isUnprotected: false, approved: [] };

const items = [{ plan_id: 1, plan_type: 'cloud_servers_standard' as const, billing_cycle: 1 as const, quantity: 3 }];
const order = { items, ordered: { least: 3, most: 3 } };
const priced = (total: number | undefined, more: Partial<SendFacts['terms']> = {}) => ({
  terms: { ...terms, total, ...more },
});
const unknown = priced(undefined, { currency: undefined, unpriced: 'there is no price list' });

const send = { how: 'send' } as const;
const ask = (...why: string[]) => ({ how: 'ask', why }) as const;
const refuse = (why: string) => ({ how: 'refuse', why }) as const;
const late = (failure: 'DeadlinePassed' | 'QuoteAged') => ({
  how: 'late' as const,
  failure,
  why: expect.any(String) as string,
});

it.each<[string, Partial<SendFacts>, MayBeSent]>([
  ['nothing against it', {}, send],

  ['before its deadline', { notAfter: future }, send],
  ['after its deadline', { notAfter: past }, late('DeadlinePassed')],
  [
    'after its deadline, and agreed to',
    { notAfter: past, approval: 'always', approved: agreed() },
    late('DeadlinePassed'),
  ],
  ['at a young quote', { quoteUntil: future }, send],
  ['at an aged quote', { quoteUntil: past }, late('QuoteAged')],

  ['at the guard', { guard: { maxTotal: 25 } }, send],
  ['above the guard', { guard: { maxTotal: 24.99 } }, refuse('the total is 25 usd and the guard allows 24.99')],
  [
    'above the guard, and agreed to',
    { guard: { maxTotal: 1 }, approved: agreed() },
    refuse('the total is 25 usd and the guard allows 1'),
  ],
  ['free, under a guard of nothing', { ...priced(0), guard: { maxTotal: 0 } }, send],
  [
    'below zero, under a guard',
    { ...priced(-1), guard: { maxTotal: 9 } },
    refuse('the total is -1 usd and the guard allows 9'),
  ],
  [
    'of no number, under a guard',
    { ...priced(NaN), guard: { maxTotal: 9 } },
    ask('The guard allows a total of 9, and the total is no number.'),
  ],
  [
    'of no price, under a guard',
    { ...unknown, guard: { maxTotal: 9 } },
    ask('The guard allows a total of 9, and there is no price list.'),
  ],
  ['of no price, without a guard', unknown, send],
  [
    'of no price, agreed to as such',
    {
      ...unknown,
      guard: { maxTotal: 9 },
      approved: agreed(unknown.terms, 'The guard allows a total of 9, and there is no price list.'),
    },
    send,
  ],
  ['in the currency of the guard', { guard: { currency: 'USD' } }, send],
  ['in another currency', { guard: { currency: 'EUR' } }, ask('The guard is in EUR, and the price in usd.')],
  [
    'in another currency, above the guard',
    { guard: { currency: 'EUR', maxTotal: 1 } },
    ask('The guard is in EUR, and the price in usd.'),
  ],
  [
    'of too many servers',
    { ...order, guard: { maxServers: 2 } },
    refuse('the request orders 3 servers and the guard allows 2'),
  ],
  ['of too many items', { ...order, guard: { maxItems: 0 } }, refuse('the request has 1 items and the guard allows 0')],
  ['which would not apply in part', { inapplicable: ['a'] }, refuse('resources that do not apply: ["a"]')],
  ['which need not apply in part', { inapplicable: ['a'], guard: { allowInapplicable: true } }, send],

  ['unprotected, where nothing requires it', { isUnprotected: true, requireFirewalls: 'off' }, send],
  [
    'unprotected, and asked about',
    { isUnprotected: true, requireFirewalls: 'ask' },
    ask('It names no firewalls: the servers will have none.'),
  ],
  [
    'unprotected, and agreed to',
    {
      isUnprotected: true,
      requireFirewalls: 'ask',
      approved: agreed({}, 'It names no firewalls: the servers will have none.'),
    },
    send,
  ],
  [
    'unprotected, and agreed to when nothing asked about that',
    { isUnprotected: true, requireFirewalls: 'ask', approved: agreed() },
    ask('It names no firewalls: the servers will have none.'),
  ],
  [
    'unprotected, and refused',
    { isUnprotected: true, requireFirewalls: 'refuse', approved: agreed() },
    refuse('it buys servers and names no firewalls, and REQUIRE_FIREWALLS refuses that'),
  ],
  ['protected', { requireFirewalls: 'refuse' }, send],

  ['never to be asked about', { approval: 'never' }, send],
  ['always to be asked about', { approval: 'always' }, ask()],
  ['to be asked about in time', { approval: { expiresAfterSeconds: 9 } }, ask()],
  ['at the total that is asked about', { approval: { above: 25 } }, send],
  ['above the total that is asked about', { approval: { above: 24 } }, ask()],
  ['below zero, under an approval', { ...priced(-1), approval: { above: 100 } }, ask()],
  ['of no number, under an approval', { ...priced(NaN), approval: { above: 100 } }, ask()],
  ['an order of as many servers', { ...order, approval: { above: 3 } }, send],
  ['an order of more servers', { ...order, approval: { above: 2 } }, ask()],
  ['an order at the total', { ...order, approval: { aboveTotal: 25 } }, send],
  ['an order above the total', { ...order, approval: { aboveTotal: 24 } }, ask()],
  ['an order of no price, under a total', { ...order, ...unknown, approval: { aboveTotal: 24 } }, ask()],

  ['agreed to', { approval: 'always', approved: agreed() }, send],
  [
    'agreed to at another price',
    { approval: 'always', approved: agreed({ total: 20 }) },
    ask('It was approved at 20 usd.'),
  ],
  [
    'agreed to in another currency',
    { approval: 'always', approved: agreed({ currency: 'eur' }) },
    ask('It was approved at 25 eur.'),
  ],
  ['agreed to as another request', { approval: 'always', approved: agreed({ same: 'other' }) }, ask()],
])('what is %s', (_, changes, answer) => {
  expect(mayBeSent({ ...facts, ...changes })).toEqual(answer);
});

test('an approval counts after the keys have changed', () => {
  const { nowMs: _, approved: __, ...of } = { ...facts, approval: 'always' as const };
  const buying = { facts: of, agreed: ['digest', 'by an older key'] } as unknown as Buying;
  const concern = { id: '1', kind: 'approval' as const, why: [] };
  const said = (same: string) => [{ ...concern, same, terms: { ...terms, same } }];
  const rules = { duplicateWithinMs: 0, spendLimits: [] };
  expect(whyNotNow(buying, rules, said('by an older key'))).toBeUndefined();
  expect(whyNotNow(buying, rules, said('by another one'))).toMatchObject({ how: 'asks' });
});
