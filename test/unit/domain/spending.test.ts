import { accountName } from '../../../src/domain/identity';
import { isAgreedTo, limitsOf, parseSpendLimits, purchaseOf } from '../../../src/domain/spending';
import { factsOf } from '../../../src/domain/may-be-sent';
import { fc } from '../../support/properties';

describe('spend limits', () => {
  it('are read, each with its account, unit and period', () => {
    const text = 'AB-1=100usd/1d, AB-1 =1 items/1m';
    expect(() => parseSpendLimits(text)).toThrow(/“AB-1 =1 items\/1m” is not account=most unit\/period/);
    expect(parseSpendLimits('AB-1=100usd/1d, *=12.5 EUR/90m,ab-2=0 servers/366d,')).toEqual([
      { account: 'AB-1', most: 100, unit: 'usd', withinMs: 86_400_000 },
      { account: '*', most: 12.5, unit: 'eur', withinMs: 5_400_000 },
      { account: 'AB-2', most: 0, unit: 'servers', withinMs: 366 * 86_400_000 },
    ]);
    expect(parseSpendLimits('')).toEqual([]);
  });

  it.each([
    ['AB-1=1 servers', /is not account/],
    ['AB-1=-1 servers/1d', /is not account/],
    ['ABC=1 servers/1d', /is not account/],
    ['AB-1=1.5 servers/1d', /must be a whole number/],
    ['AB-1=1 server/1d', /must be servers, items or a currency, like USD/],
    ['AB-1=1 dollars/1d', /must be servers, items or a currency, like USD/],
    ['AB-1=1 usx/1d', /must be servers, items or a currency, like USD/],
    ['AB-1=1 ITEM/1d', /must be servers, items or a currency, like USD/],
    ['AB-1=1 servers/0d', /from 1m to 366d/],
    ['AB-1=1 servers/367d', /from 1m to 366d/],
    ['AB-1=1000000001 usd/1d', /at most 1000000000/],
    ['*=1 usd/1d,*=2 USD/24h', /another limit of this unit and period/],
  ])('%s is none', (text, why) => {
    expect(() => parseSpendLimits(text)).toThrow(why);
  });

  it('of an account replace those of * of their unit, and no others', () => {
    const limits = parseSpendLimits('AB-1=1 usd/1d,*=2 usd/1d,*=3 usd/7d,*=4 items/1d,AB-2=5 usd/1d');
    expect(limitsOf('AB-1', limits).map(({ most }) => most)).toEqual([1, 4]);
    expect(limitsOf('AB-3', limits).map(({ most }) => most)).toEqual([2, 3, 4]);
  });
});

it('of two changes each digit of a value counts', () => {
  const what = (delta_value: string) =>
    purchaseOf(
      'changeOrder',
      { subscription_id: 1, resources: [{ resource_name: 'vm_backup', delta_value }] },
      undefined,
    )?.what;
  expect(what('9007199254740993')).not.toBe(what('9007199254740992'));
  expect(what('1.0')).toBe(what('1'));
});

describe('a yes', () => {
  const limit = { account: 'AB-1', most: 100, unit: 'usd', withinMs: 1, spent: 60, adds: 50 };
  const over = { id: 'a', same: 's', kind: 'over-limit' as const, ...limit };
  const unknown = { ...over, adds: 0, unpriced: 'its price is in eur', total: 10, currency: 'eur' };

  it.each([
    ['what it was said to', over, over, true],
    ['less that was spent', over, { ...over, spent: 59 }, true],
    ['more that was spent', over, { ...over, spent: 61 }, false],
    ['more that is added, where less is spent', over, { ...over, spent: 0, adds: 110 }, false],
    ['a price that no limit is in', unknown, unknown, true],
    ['more of such a price', unknown, { ...unknown, total: 10_000 }, false],
    ['such a price in another currency', unknown, { ...unknown, currency: 'gbp' }, false],
    ['what nobody knows, where it was said to an amount', over, unknown, false],
    ['an amount, where it was said to what nobody knew', unknown, { ...over, spent: 0 }, false],
  ])('to a limit covers %s: or not', (_, said, now, covers) => {
    expect(isAgreedTo(now, [said])).toBe(covers);
  });

  it('is one to the currency that the request names', () => {
    const same = (currency?: string) => {
      const request = { account: 'AB-1', items: [{ plan_id: 1, billing_cycle: 1 as const }], currency };
      const what = purchaseOf('provisionServers', request, undefined)?.what ?? '';
      return factsOf(request, what, undefined, { planTypes: undefined, digest: (text) => text }).terms.same;
    };
    expect(same('usd')).toBe(same('USD'));
    expect(new Set([same(), same('USD'), same('EUR')]).size).toBe(3);
  });
});

test('one account has one name, however it is written', () => {
  const written = fc.tuple(fc.constantFrom('ab', 'Ab', 'aB', 'AB'), fc.nat(5), fc.nat());
  fc.assert(
    fc.property(written, ([prefix, zeros, digits]) => {
      const account = `${prefix}-${'0'.repeat(zeros)}${digits}`;
      const limits = parseSpendLimits(`${account}=5 servers/1d,*=9 servers/1d`);
      expect(accountName(account)).toBe(`AB-${digits}`);
      expect(limitsOf(account, limits)).toMatchObject([{ most: 5 }]);
    }),
  );
});
