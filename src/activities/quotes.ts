/**
 * Quoted first, and then placed by a pivot: change orders (rows 5 and 4) and plan switches (rows 7 and 6). Row 6
 * answers with a quote as well, and the document does not say that it changes nothing: it is treated as a pivot.
 */
import { Context } from '@temporalio/activity';
import type { Effected, Placement } from '../domain/effects';
import type { Quote } from '../domain/quotes';
import type { ChangeOrderBody, PlanSwitchBody } from '../provider/schemas';
import { rawResponse } from './call';
import type { EffectContext, Tools } from './effect';

export interface QuoteAnswer {
  quote: Quote;
  /** When it was asked for, in milliseconds since 1970 by Temporal's clock, which the run goes by, too. */
  quotedMs: number;
  /** How old the quote may be when the pivot is sent, in milliseconds; the setting. */
  quoteMaxAgeMs: number;
  /** With a quote that is not available: by the setting, a person is asked where the request does not decide that. */
  asks?: true;
}

export function createQuotedActivities({ provider, activity, effect, settings }: Tools) {
  const { quoteMaxAgeMs, onRefusal } = settings;
  const shown = (quote: Quote) => shownQuote(provider, quote);
  const quoted = (quote: Quote): QuoteAnswer => ({
    ...{ quote: shown(quote), quoteMaxAgeMs },
    quotedMs: Context.current().info.currentAttemptScheduledTimestampMs,
    ...(!quote.available && onRefusal === 'ask' ? { asks: true } : {}),
  });
  return {
    /** Row 5: places nothing. */
    quoteChangeOrder: activity('read', async ({ change }: { change: ChangeOrderBody }) =>
      quoted(await provider.quoteChangeOrder(change)),
    ),

    /** Row 4: a pivot. A second call would add the resources a second time. */
    placeChangeOrder({
      change,
      ...input
    }: EffectContext & { change: ChangeOrderBody }): Promise<Effected<Placement<{ order: unknown }>>> {
      const about = { subscriptionId: change.subscription_id };
      return effect({ kind: 'pivot', about }, input, async (options) => {
        const order = rawResponse(await provider.placeChangeOrder(change, options));
        return { how: 'answered', value: { order: provider.blank(order, options.secrets) } };
      });
    },

    /** Row 7: switches nothing. */
    quotePlanSwitch: activity('read', async ({ change }: { change: PlanSwitchBody }) =>
      quoted(await provider.quotePlanSwitch(change)),
    ),

    /**
     * Row 6: a pivot. The document does not say what `available` means in the answer to a switch: after the switch the
     * plan may no longer be available. So `false` does not say whether the plan was switched: it is of unknown outcome.
     */
    switchPlan(input: EffectContext & { change: PlanSwitchBody }): Promise<Effected<Placement<{ quote: Quote }>>> {
      const { subscription_id, plan_id } = input.change;
      const about = { subscriptionId: subscription_id, planId: plan_id };
      return effect({ kind: 'pivot', about }, input, async (options) => {
        const quote = await provider.switchPlan(subscription_id, plan_id, options);
        return { how: 'answered', value: { quote: shown(quote) } };
      });
    },
  };
}

/** The quote without secrets, as short as a result can hold it. */
export const shownQuote = (provider: Pick<Tools['provider'], 'blank'>, quote: Quote) =>
  provider.blank(documentedParts(quote)) as Quote;

/** Undocumented parts are kept only where the quote is short: two quotes go into one result. */
export function documentedParts(quote: Quote): Quote {
  if (rawResponse(quote) === quote) return quote;
  const { available, total, currency, date_from, date_to, inapplicable_resources } = quote;
  return { available, total, currency, date_from, date_to, inapplicable_resources };
}
