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
import { switchCorrectionSchema, switchPlanSchema, type RequestOf } from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { check } from '../../domain/validation';
import { activities } from '../../saga/activities';
import type { DefineSaga } from '../../saga/definition';
import { runSaga } from '../../saga/run-saga';
import { Quotation } from '../steps/quotation';

export function switchPlan(input: unknown): Promise<ResultOf['switchPlan']> {
  return runSaga('switchPlan', input, switching);
}

const switching: DefineSaga<'switchPlan', { quote: Quote }> = (saga, request) => {
  const { reference, quoteOnly } = request;
  const { progress } = saga;
  const quotation = new Quotation(saga, request, {
    noun: 'the plan switch',
    notAvailable: 'SwitchNotAvailable',
    check: (corrected) => check(switchPlanSchema(), corrected),
    correctionSchema: switchCorrectionSchema,
    quote: (wanted, context) =>
      activities('quote the plan switch').quotePlanSwitch({ change: changeOf(wanted), ...context }),
  });
  if (quoteOnly) return { finish: () => quotation.only() };
  const step = () => saga.step('switch-plan', 'Switch the plan');
  return {
    prepare: () => quotation.askUntilAvailable(),
    pivot: {
      ...quotation.pivot(({ subscription_id, plan_id }) => `subscription ${subscription_id}, plan ${plan_id}`),
      step,
      act: (context) => activities('switch the plan').switchPlan({ change: changeOf(quotation.request), ...context }),
      facts: (placed) => ({ finalQuote: finalQuoteOf(placed) }),
    },
    finish: ({ placement, note: { quote } = {} }) => {
      const finalQuote = finalQuoteOf(placement);
      progress.addFacts(quote ? { quote, finalQuote } : { finalQuote });
      if (quote && finalQuote && !sameTerms(quote, finalQuote))
        step().setDetail(`switched on other terms: ${describeQuote(finalQuote)}`);
      return Promise.resolve({ reference, quote, placed: true, finalQuote, decisions: progress.decisions });
    },
  };
};

const changeOf = ({ subscription_id, plan_id }: RequestOf['switchPlan']) => ({ subscription_id, plan_id });

/** Undefined where the switch is known without an answer of the provider. */
function finalQuoteOf(placed: Placement<{ quote: Quote }>): Quote | undefined {
  return placed.how === 'answered' ? placed.value.quote : undefined;
}
