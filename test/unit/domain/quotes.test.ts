import { describeQuote, guardViolations, needsApproval, sameTerms, type Quote } from '../../../src/domain/quotes';

const quote = (changes: Partial<Quote> = {}): Quote => ({
  available: true,
  total: 5,
  currency: 'usd',
  date_from: '2026-01-01',
  date_to: '2026-02-01',
  ...changes,
});

describe('a guard', () => {
  it.each([
    [{}, undefined, []],
    [{}, {}, []],
    [{}, { maxTotal: 5 }, []],
    [{}, { maxTotal: 4.99 }, ['the total is 5 and the guard allows 4.99']],
    [{ total: 0 }, { maxTotal: 0 }, []],
    [{ total: NaN }, { maxTotal: 5 }, ['the total is NaN and the guard allows 5']],
    [{}, { currency: 'USD' }, []],
    [{}, { currency: 'EUR' }, ['the quote is in usd and the guard asks for eur']],
    [{ inapplicable_resources: [] }, undefined, []],
    [{ inapplicable_resources: ['a'] }, undefined, ['resources that do not apply: ["a"]']],
    [{ inapplicable_resources: ['a'] }, { allowInapplicable: false }, ['resources that do not apply: ["a"]']],
    [{ inapplicable_resources: ['a'] }, { allowInapplicable: true }, []],
  ])('of %j under %j: %j', (changes, guard, sentences) => {
    expect(guardViolations(quote(changes), guard)).toEqual(sentences);
  });
});

it.each([
  [undefined, false],
  ['never', false],
  ['always', true],
  [{ above: 4.99 }, true],
  [{ above: 5 }, false],
] as const)('a total of 5 needs approval under %j: %s', (rule, needed) => {
  expect(needsApproval(quote(), rule)).toBe(needed);
});

describe('an approval holds', () => {
  it.each<[string, Partial<Quote>, boolean]>([
    ['at another price', { total: 5.01 }, false],
    ['in another currency', { currency: 'eur' }, false],
    ['for what is not available any more', { available: false }, false],
    ['where another resource does not apply', { inapplicable_resources: ['a'] }, false],
    ['where it is said that every resource applies', { inapplicable_resources: [] }, true],
    ['at other dates', { date_from: '2026-01-02', date_to: '2026-02-02' }, true],
  ])('%s: %j, %s', (_, changes, same) => {
    expect(sameTerms(quote(), quote(changes))).toBe(same);
    expect(sameTerms(quote(changes), quote())).toBe(same);
  });

  it('where the same resources do not apply', () => {
    const one = quote({ inapplicable_resources: ['a', 'b'] });
    expect(sameTerms(one, quote({ inapplicable_resources: ['a', 'b'] }))).toBe(true);
    expect(sameTerms(one, quote({ inapplicable_resources: ['a'] }))).toBe(false);
  });
});

it('an approval is asked for with what would not apply', () => {
  expect(describeQuote(quote())).toBe('5 usd, 2026-01-01 to 2026-02-01');
  expect(describeQuote(quote({ inapplicable_resources: ['a'] }))).toBe(
    '5 usd, 2026-01-01 to 2026-02-01, without ["a"], which would not apply',
  );
});
