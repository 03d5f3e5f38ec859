/**
 * Plan switches: what one would cost (row 7), and the switch (row 6). Row 6 answers with a quote as well, and the
 * document does not say that it changes nothing: it is treated as a pivot.
 */
import type { Effected, Placement } from '../domain/effects';
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import type { Call, CallContext } from './call';
import type { Effect, EffectContext } from './effect';
import { createQuoting, type QuoteAnswer } from './quotes';
import type { ActivitySettings } from './settings';

export interface PlanSwitch {
  subscription_id: number;
  plan_id: number;
}

export function createPlanSwitchActivities(
  provider: ProviderClient,
  call: Call,
  effect: Effect,
  settings: ActivitySettings,
) {
  const { quoted, shown } = createQuoting(provider, settings);
  return {
    /** Row 7: switches nothing. */
    quotePlanSwitch(input: CallContext & { change: PlanSwitch }): Promise<QuoteAnswer> {
      return call('read', input, async () => quoted(await provider.quotePlanSwitch(input.change)));
    },

    /**
     * Row 6: a pivot. The document does not say what `available` means in the answer to a switch: after the switch the
     * plan may no longer be available. So `false` does not say whether the plan was switched: it is of unknown outcome.
     */
    switchPlan(input: EffectContext & { change: PlanSwitch }): Promise<Effected<Placement<{ quote: Quote }>>> {
      const { subscription_id, plan_id } = input.change;
      const about = { subscriptionId: subscription_id, planId: plan_id };
      return effect({ kind: 'pivot', about }, input, async (options) => {
        const quote = await provider.switchPlan(subscription_id, plan_id, options);
        return { how: 'answered', value: { quote: shown(quote) } };
      });
    },
  };
}
