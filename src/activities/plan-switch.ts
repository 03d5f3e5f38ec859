/**
 * Plan switches: what one would cost (row 7), and the switch (row 6). Row 6 answers with a quote as well, and the document
 * does not say that it is free of effect: it is treated as a pivot.
 */
import type { Quote } from '../domain/quotes';
import type { ProviderClient } from '../provider/client';
import type { Asked, Call } from './call';
import { kept, quoted, type AskQuote, type Quoted } from './change-orders';
import { refuseSecondRun, type RunGuard } from './pivot-guard';
import type { ActivitySettings } from './settings';

export interface PlanSwitch {
  subscription_id: number;
  plan_id: number;
}

export function createPlanSwitchActivities(provider: ProviderClient, call: Call, settings: ActivitySettings) {
  return {
    /** Row 7: switches nothing. */
    quotePlanSwitch(input: AskQuote & { change: PlanSwitch }): Promise<Quoted> {
      return call('reading', input, async () => quoted(await provider.quotePlanSwitch(input.change), input, settings));
    },

    /** Row 6: a pivot. */
    switchPlan(input: Asked & { change: PlanSwitch; guard: RunGuard }): Promise<{ quote: Quote }> {
      return call('daring', input, async () => {
        await refuseSecondRun(input.guard);
        return { quote: kept(await provider.switchPlan(input.change.subscription_id, input.change.plan_id)) };
      });
    },
  };
}
