/**
 * Move a subscription to another plan of the same type, or only ask what that would cost.
 *
 * ```text
 *   quote (7), available?, guard, approval     nothing to undo
 *   ═════════ switch (6) ═════════  point of no return
 *   compare its quote with the first one
 * ```
 */
import type { Placement } from '../../domain/effects';
import { describeQuote, sameTerms, type Quote } from '../../domain/quotes';
import { switchCorrectionSchema, switchPlanSchema } from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { check } from '../../domain/validation';
import { activities } from '../../saga/activities';
import { runSaga } from '../../saga/run-saga';
import { placeQuoted } from '../steps/place-quoted';

export function switchPlan(input: unknown): Promise<ResultOf['switchPlan']> {
  return runSaga('switchPlan', input, switching);
}

const switching = placeQuoted<'switchPlan', { quote: Quote }>({
  pivot: { id: 'switch-plan', title: 'Switch the plan' },
  noun: 'the plan switch',
  quoteTitle: 'Quote the plan switch',
  notAvailable: 'SwitchNotAvailable',
  check: (request) => check(switchPlanSchema(), request),
  correctionSchema: switchCorrectionSchema,
  foundBy: ({ subscription_id, plan_id }) => `subscription ${subscription_id}, plan ${plan_id}`,
  quote: ({ subscription_id, plan_id }, context) =>
    activities('quote the plan switch').quotePlanSwitch({ change: { subscription_id, plan_id }, ...context }),
  place: ({ subscription_id, plan_id }, context) =>
    activities('switch the plan').switchPlan({ change: { subscription_id, plan_id }, ...context }),
  facts: (placed) => ({ finalQuote: finalQuoteOf(placed) }),
  result: (told, placed) => ({ ...told, finalQuote: placed && finalQuoteOf(placed) }),
  differs: (placed, agreed) => {
    const finalQuote = finalQuoteOf(placed);
    const isSame = finalQuote === undefined || sameTerms(agreed, finalQuote);
    return isSame ? undefined : `switched on other terms: ${describeQuote(finalQuote)}`;
  },
});

/** Undefined where the switch is known without an answer of the provider. */
function finalQuoteOf(placed: Placement<{ quote: Quote }>): Quote | undefined {
  return placed.how === 'answered' ? placed.value.quote : undefined;
}
