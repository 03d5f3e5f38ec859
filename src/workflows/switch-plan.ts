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
import { switchCorrectionSchema, switchPlanSchema, type SwitchPlanRequest } from '../domain/requests';
import type { ResultOf } from '../domain/results';
import { check } from '../domain/validation';
import { activities } from '../saga/activities';
import type { PivotStep } from '../saga/look-back';
import { runSaga, type StoryContext } from '../saga/run-saga';
import type { Saga } from '../saga/saga';
import { placeQuoted, type QuotedStory } from './place-quoted';

const pivot: PivotStep = {
  id: 'switch-plan',
  title: 'Switch the plan',
  known: (placed) => ({ finalQuote: quoteOf(placed) }),
};

const quotedStory: QuotedStory<SwitchPlanRequest, { quote: Quote }> = {
  pivot,
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
};

export function switchPlan(input: unknown): Promise<ResultOf['switchPlan']> {
  const story = async (saga: Saga, request: SwitchPlanRequest, { corrections }: StoryContext) => {
    const { quote, placement } = await placeQuoted(saga, request, corrections, quotedStory);
    const { reference } = request;
    const { decisions } = saga.progress;
    if (placement === undefined) return { reference, quote, placed: false, decisions };
    const finalQuote = quoteOf(placement);
    if (finalQuote === undefined) return { reference, quote, placed: true, decisions };
    saga.progress.learn({ finalQuote });
    const isOther = quote !== undefined && !sameTerms(quote, finalQuote);
    if (isOther) saga.step(pivot.id, pivot.title).say(`switched on other terms: ${describeQuote(finalQuote)}`);
    return { reference, quote, placed: true, finalQuote, decisions };
  };
  return runSaga('switchPlan', input, story, { pivot });
}

/** Undefined where the switch is known without an answer of the provider. */
function quoteOf(placed: Placement<unknown>): Quote | undefined {
  return placed.how === 'answered' ? (placed.value as { quote: Quote }).quote : undefined;
}
