/** Change orders: what one would cost (row 5), and placing it (row 4), which cannot be undone. */
import { randomUUID } from 'node:crypto';
import type { Effected, Placement } from '../domain/effects';
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import type { ChangeOrderBody } from '../provider/schemas';
import { rawResponse, type CallContext, type Call } from './call';
import type { Effect, EffectContext } from './effect';
import type { ActivitySettings } from './settings';

export interface Quoted {
  quote: Quote;
  /** Random: an approval names it, and holds for no other quote, not even for the same one of a run that was put back. */
  id: string;
  /** How long an approval of this quote may take; the setting, told where an approval may be asked for. */
  approvalMaxAgeMs?: number;
  /** How old it may be when it is placed by; the setting. */
  quoteMaxAgeMs?: number;
  /** Of what is not available: the setting says that a person is asked, where the request does not say what follows. */
  asks?: true;
}

export interface AskQuote extends CallContext {
  approvable?: boolean;
}

export function createChangeOrderActivities(
  provider: ProviderClient,
  call: Call,
  effect: Effect,
  settings: ActivitySettings,
) {
  return {
    /** Row 5: places nothing. */
    quoteChangeOrder(input: AskQuote & { change: ChangeOrderBody }): Promise<Quoted> {
      return call('read', input, async () =>
        quoted(shown(await provider.quoteChangeOrder(input.change), provider), input, settings),
      );
    },

    /** Row 4: a pivot. A second call would add the resources a second time. */
    placeChangeOrder(
      input: EffectContext & { change: ChangeOrderBody },
    ): Promise<Effected<Placement<{ order: unknown }>>> {
      const { change } = input;
      const about = { subscriptionId: change.subscription_id };
      return effect({ kind: 'pivot', about }, input, async (options) => ({
        how: 'answered',
        value: {
          order: provider.blank(rawResponse(await provider.placeChangeOrder(change, options)), options.secrets),
        },
      }));
    },
  };
}

/** What stands beside the documented parts is kept where it is short: two quotes go into one result. */
export function kept(quote: Quote): Quote {
  if (rawResponse(quote) === quote) return quote;
  const { available, total, currency, date_from, date_to, inapplicable_resources } = quote;
  return {
    ...{ available, total, currency, date_from, date_to },
    ...(inapplicable_resources === undefined ? {} : { inapplicable_resources }),
  };
}

/** What may be kept of a quote. */
export function shown(quote: Quote, provider: ProviderClient): Quote {
  return provider.blank(kept(quote)) as Quote;
}

export function quoted(quote: Quote, input: AskQuote, settings: ActivitySettings): Quoted {
  return {
    quote,
    id: randomUUID(),
    quoteMaxAgeMs: settings.quoteMaxAgeMs,
    ...(input.approvable ? { approvalMaxAgeMs: settings.approvalMaxAgeMs } : {}),
    ...(!quote.available && settings.onRefusal === 'ask' ? { asks: true } : {}),
  };
}
