/** Change orders: what one would cost (row 5), and placing it (row 4), which cannot be undone. */
import type { Effected, Placement } from '../domain/effects';
import type { ProviderClient } from '../provider/client';
import type { ChangeOrderBody } from '../provider/schemas';
import { rawResponse, type Call, type CallContext } from './call';
import type { Effect, EffectContext } from './effect';
import { createQuoting, type QuoteAnswer } from './quotes';
import type { ActivitySettings } from './settings';

export function createChangeOrderActivities(
  provider: ProviderClient,
  call: Call,
  effect: Effect,
  settings: ActivitySettings,
) {
  const { quoted } = createQuoting(provider, settings);
  return {
    /** Row 5: places nothing. */
    quoteChangeOrder(input: CallContext & { change: ChangeOrderBody }): Promise<QuoteAnswer> {
      return call('read', input, async () => quoted(await provider.quoteChangeOrder(input.change)));
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
