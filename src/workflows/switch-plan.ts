/**
 * Move a subscription to another plan of the same type, or only ask what that would cost.
 *
 * ```text
 *   quote (7), available?, guard, approval     nothing to undo
 *   ═════════ switch (6) ═════════  point of no return
 *   compare its quote with the first one
 * ```
 */
import type { Placement } from '../domain/effects';
import { describeQuote, sameTerms, type Quote } from '../domain/quotes';
import type { SwitchCorrection } from '../domain/corrections';
import { switchCorrectionSchema, switchPlanSchema, type SwitchPlanRequest } from '../domain/requests';
import type { ResultOf } from '../domain/results';
import { check } from '../domain/validation';
import { ApprovedQuote } from './approved-quote';
import type { PivotStep } from '../saga/look-back';
import { placePivot } from '../saga/pivot';
import type { Saga } from '../saga/saga';
import { runSaga, type StoryContext } from '../saga/run-saga';
import { activities } from '../saga/activities';
import { Wanted } from '../saga/corrected-request';

const switching: PivotStep = {
  id: 'switch-plan',
  title: 'Switch the plan',
  known: (placed) => ({ finalQuote: quoteOf(placed) }),
};

export function switchPlan(input: unknown): Promise<ResultOf['switchPlan']> {
  const story = async (saga: Saga, first: SwitchPlanRequest, { corrections }: StoryContext) => {
    const { reference, subscription_id, guard, approval, quoteOnly } = first;
    const wanted = new Wanted<SwitchPlanRequest, SwitchCorrection>(saga, first, corrections, {
      apply: (request, correction) => ({ ...request, ...correction }),
      check: (request) => check(switchPlanSchema(), request),
    });
    const correction = wanted.correction(switchCorrectionSchema);
    const change = () => ({ subscription_id, plan_id: wanted.request.plan_id });
    const quoting = saga.step('quote', 'Quote the plan switch');
    const { decisions } = saga.progress;

    if (quoteOnly) {
      const { quote } = await saga.must(
        {
          step: quoting,
          act: ({ retry }) => activities('quote the plan switch').quotePlanSwitch({ change: change(), retry }),
        },
        { refusal: 'OrderRejected', corrections: { refused: correction } },
      );
      return { reference, quote, placed: false, decisions };
    }

    const step = saga.step(switching.id, switching.title);
    const approvable = approval === undefined || approval === 'never' ? {} : { approvable: true };
    const terms = new ApprovedQuote(saga, {
      step: quoting,
      quote: ({ retry }) =>
        activities('quote the plan switch').quotePlanSwitch({ change: change(), retry, ...approvable }),
      notAvailable: 'SwitchNotAvailable',
      guard,
      approval,
      correction,
    });
    await terms.come();

    const placement = await placePivot(saga, {
      step,
      noun: 'the plan switch',
      note: () => ({ foundBy: `subscription ${subscription_id}, plan ${wanted.request.plan_id}`, quote: terms.quote }),
      act: (asked) => activities('switch the plan').switchPlan({ change: change(), ...asked }),
      refusal: 'OrderRejected',
      corrections: terms.corrections,
      timesCorrected: () => wanted.timesCorrected,
      approval,
      isAgreed: () => terms.isAgreed,
      beforeAgain: () => terms.come(),
      beforeSending: () => terms.refresh(),
      quoteUntil: () => terms.quoteUntil,
    });
    const { quote } = terms;
    const finalQuote = quoteOf(placement);
    if (finalQuote === undefined) return { reference, quote, placed: true, decisions };
    saga.progress.known['finalQuote'] = finalQuote;
    if (quote && !sameTerms(quote, finalQuote)) step.say(`switched at other terms: ${describeQuote(finalQuote)}`);
    return { reference, quote, placed: true, finalQuote, decisions };
  };
  return runSaga('switchPlan', input, story, { pivot: switching });
}

/** Absent where the switch is known without an answer of the provider. */
function quoteOf(placed: Placement<unknown>): Quote | undefined {
  return placed.how === 'answered' ? (placed.value as { quote: Quote }).quote : undefined;
}
