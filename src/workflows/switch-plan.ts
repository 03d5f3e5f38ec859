/**
 * Move a subscription to another plan of the same type, or only ask what that would cost.
 *
 * ```text
 *   quote (7), available?, guard, approval     nothing to undo
 *   ═════════ switch (6) ═════════  point of no return
 *   compare its quote with the first one
 * ```
 */
import { describeQuote, sameTerms } from '../domain/quotes';
import type { ResultOf } from '../domain/results';
import { agree } from './agreement';
import { placePivot } from './pivot';
import { SagaFailed } from './saga';
import { tell } from './tell';
import { once } from './temperaments';

export function switchPlan(input: unknown): Promise<ResultOf['switchPlan']> {
  return tell('switchPlan', input, async (saga, request) => {
    const { reference, subscription_id, plan_id, guard, approval, quoteOnly } = request;
    const change = { subscription_id, plan_id };
    const quoting = saga.step('quote', 'Quote the plan switch');

    if (quoteOnly) {
      const { quote } = await saga.must(
        {
          step: quoting,
          act: (again) => once('quote the plan switch').quotePlanSwitch({ change, opening: true, again }),
        },
        { refusal: 'OrderRejected' },
      );
      return { reference, quote, placed: false, decisions: saga.progress.decisions };
    }

    const switching = saga.step('switch-plan', 'Switch the plan');
    const approvable = approval === undefined || approval === 'never' ? {} : { approvable: true };
    const comeToTerms = () =>
      agree(saga, {
        step: quoting,
        quote: (again) =>
          once('quote the plan switch').quotePlanSwitch({ change, opening: true, again, ...approvable }),
        notAvailable: 'SwitchNotAvailable',
        guard,
        approval,
      });
    let quote = await comeToTerms();

    const placement = await placePivot(saga, {
      step: switching,
      noun: 'the plan switch',
      foundBy: `subscription ${String(subscription_id)}, plan ${String(plan_id)}`,
      act: (guard, again) => once('switch the plan').switchPlan({ change, guard, again }),
      refusal: 'OrderRejected',
      beforeAgain: async () => {
        quote = await comeToTerms();
      },
    });
    if (placement.how !== 'answered') return { reference, quote, placed: true, decisions: saga.progress.decisions };

    const { quote: finalQuote } = placement.value;
    saga.progress.known['finalQuote'] = finalQuote;
    // The switch call answers with a quote too: one that is not available did not switch anything.
    if (!finalQuote.available)
      throw new SagaFailed('SwitchNotAvailable', 'the switch was answered with “not available”');
    if (!sameTerms(quote, finalQuote)) switching.say(`switched at other terms: ${describeQuote(finalQuote)}`);
    return { reference, quote, placed: true, finalQuote, decisions: saga.progress.decisions };
  });
}
