/** Prepares a quote for a workflow: change orders and plan switches are quoted in the same form. */
import { randomUUID } from 'node:crypto';
import { definedOnly } from '../domain/defined-only';
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import { rawResponse } from './call';
import type { ActivitySettings } from './settings';

export interface QuoteAnswer {
  quote: Quote;
  /** Random: an approval names it, and holds for no other quote, not even for an equal one after a reset. */
  id: string;
  /** How long an approval of this quote may take, in milliseconds; the setting. */
  approvalMaxAgeMs: number;
  /** How old the quote may be when the pivot is sent, in milliseconds; the setting. */
  quoteMaxAgeMs: number;
  /** With a quote that is not available: by the setting, a person is asked where the request does not decide that. */
  asks?: true;
}

export function createQuoting(provider: ProviderClient, settings: ActivitySettings) {
  /** The quote without secrets, as short as a result can hold it. */
  const shown = (quote: Quote) => provider.blank(documentedParts(quote)) as Quote;
  const quoted = (quote: Quote): QuoteAnswer => ({
    quote: shown(quote),
    id: randomUUID(),
    quoteMaxAgeMs: settings.quoteMaxAgeMs,
    approvalMaxAgeMs: settings.approvalMaxAgeMs,
    ...(!quote.available && settings.onRefusal === 'ask' ? { asks: true } : {}),
  });
  return { shown, quoted };
}

/** Undocumented parts are kept only where the quote is short: two quotes go into one result. */
export function documentedParts(quote: Quote): Quote {
  if (rawResponse(quote) === quote) return quote;
  const { available, total, currency, date_from, date_to, inapplicable_resources } = quote;
  return {
    ...{ available, total, currency, date_from, date_to },
    ...definedOnly({ inapplicable_resources }),
  };
}
