/** Change orders: what one would cost (row 5), and placing it (row 4), which cannot be undone. */
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import type { ChangeOrderBody } from '../provider/schemas';
import { asItCame, type Asked, type Call } from './call';
import { refuseSecondRun, type RunGuard } from './pivot-guard';
import type { ActivitySettings } from './settings';

export interface Quoted {
  quote: Quote;
  /** How long an approval of this quote may take; the setting, told where an approval may be asked for. */
  approvalMaxAgeMs?: number;
}

export interface AskQuote extends Asked {
  approvable?: boolean;
}

export function createChangeOrderActivities(provider: ProviderClient, call: Call, settings: ActivitySettings) {
  return {
    /** Row 5: places nothing. */
    quoteChangeOrder(input: AskQuote & { change: ChangeOrderBody }): Promise<Quoted> {
      return call('reading', input, async () => quoted(await provider.quoteChangeOrder(input.change), input, settings));
    },

    /** Row 4: a pivot. A second call adds the resources a second time. */
    placeChangeOrder(input: Asked & { change: ChangeOrderBody; guard: RunGuard }): Promise<{ order: unknown }> {
      return call('daring', input, async () => {
        await refuseSecondRun(input.guard);
        return { order: asItCame(await provider.placeChangeOrder(input.change)) };
      });
    },
  };
}

/** What stands beside the documented parts is kept where it is short: two quotes go into one result. */
export function kept(quote: Quote): Quote {
  if (asItCame(quote) === quote) return quote;
  const { available, total, currency, date_from, date_to, inapplicable_resources } = quote;
  return {
    ...{ available, total, currency, date_from, date_to },
    ...(inapplicable_resources === undefined ? {} : { inapplicable_resources }),
  };
}

export function quoted(quote: Quote, input: AskQuote, settings: ActivitySettings): Quoted {
  return { quote: kept(quote), ...(input.approvable ? { approvalMaxAgeMs: settings.approvalMaxAgeMs } : {}) };
}
