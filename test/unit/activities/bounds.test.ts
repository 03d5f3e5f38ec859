/** What a provider may say at any length, and what becomes of it in a run. */
import { documentedParts } from '../../../src/activities/quotes';
import { translateFailure } from '../../../src/activities/translate-failure';
import type { CallFailure } from '../../../src/domain/failures';
import { RateLimited } from '../../../src/provider/errors';
import { activitySettings } from '../../support/activity-settings';

const quote = { available: true, total: 5, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };

describe('a quote', () => {
  it('is kept as it came', () => {
    const whole = { ...quote, inapplicable_resources: [], note: 'x'.repeat(1_000) };
    expect(documentedParts(whole)).toBe(whole);
  });

  it('that is too long for a result keeps its documented parts', () => {
    const note = 'x'.repeat(100_000);
    expect(documentedParts({ ...quote, note })).toEqual(quote);
    const change = { ...quote, inapplicable_resources: ['vm_backup'] };
    expect(documentedParts({ ...change, note })).toEqual(change);
  });
});

describe('a delay that the provider asks for', () => {
  const budget = { attemptsMax: 3, backoffMs: 100, backoffMaxMs: 1_000, totalMs: 10_000 };
  const settings = activitySettings(budget);
  const retryInMs = (askedMs: number) => {
    const asked = new RateLimited('said no', { endpoint: 'POST /order', status: 429, retryAfterMs: askedMs });
    const { details } = translateFailure(asked, 'mutate', undefined, settings, () => 0);
    return (details?.[0] as CallFailure).retryInMs;
  };

  it('is kept to, up to the whole budget', () => {
    expect(retryInMs(10_000)).toBe(10_000);
  });

  // A saga that sleeps a thousand years is in no list.
  it.each([10_001, 31_536_000_000, Number.MAX_SAFE_INTEGER])('of %d ms asks a person instead', (askedMs) => {
    expect(retryInMs(askedMs)).toBeUndefined();
  });
});
