/** What a quote becomes on its way to a workflow: change orders and plan switches are quoted in the same form. */
import { definedOnly } from '../domain/defined-only';
import { randomUUID } from 'node:crypto';
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import { rawResponse } from './call';
import type { ActivitySettings } from './settings';

export interface QuoteAnswer {
  quote: Quote;
  /** Random: an approval names it, and holds for no other quote, not even for the same one of a run that was put back. */
  id: string;
  /** How long an approval of this quote may take, in milliseconds; the setting. */
  approvalMaxAgeMs: number;
  /** How old it may be when it is placed by, in milliseconds; the setting. */
  quoteMaxAgeMs: number;
  /** Of what is not available: the setting says that a person is asked, where the request does not say what follows. */
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

/** What stands beside the documented parts is kept where it is short: two quotes go into one result. */
export function documentedParts(quote: Quote): Quote {
  if (rawResponse(quote) === quote) return quote;
  const { available, total, currency, date_from, date_to, inapplicable_resources } = quote;
  return {
    ...{ available, total, currency, date_from, date_to },
    ...definedOnly({ inapplicable_resources }),
  };
}
