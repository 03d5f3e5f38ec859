import { describeQuote, sameTerms, type Quote } from '../../../src/domain/quotes';

const quote = (changes: Partial<Quote> = {}): Quote => ({
  available: true,
  total: 5,
  currency: 'usd',
  date_from: '2026-01-01',
  date_to: '2026-02-01',
  ...changes,
});

describe('terms are the same', () => {
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
