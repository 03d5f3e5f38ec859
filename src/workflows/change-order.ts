/**
 * Add resources to a subscription, or only ask what that would cost.
 *
 * ```text
 *   quote (5), available?, guard, approval     nothing to undo
 *   ═════════ place the change order (4) ═════════  point of no return
 * ```
 */
import type { Placement } from '../domain/effects';
import { changeCorrectionSchema, changeOrderSchema, type ChangeOrderRequest } from '../domain/requests';
import type { ResultOf } from '../domain/results';
import { check } from '../domain/validation';
import { activities } from '../saga/activities';
import type { PivotStep } from '../saga/look-back';
import { runSaga, type StoryContext } from '../saga/run-saga';
import type { Saga } from '../saga/saga';
import { placeQuoted, type QuotedStory } from './place-quoted';

const pivot: PivotStep = {
  id: 'place-change-order',
  title: 'Place the change order',
  known: (placed) => ({ order: orderOf(placed) }),
};

const quotedStory: QuotedStory<ChangeOrderRequest, { order: unknown }> = {
  pivot,
  noun: 'the change order',
  quoteTitle: 'Quote the change order',
  notAvailable: 'ChangeNotAvailable',
  check: (request) => check(changeOrderSchema(), request),
  correctionSchema: changeCorrectionSchema,
  foundBy: ({ subscription_id }) => `subscription ${subscription_id}`,
  quote: ({ subscription_id, resources }, context) =>
    activities('quote the change order').quoteChangeOrder({ change: { subscription_id, resources }, ...context }),
  place: ({ subscription_id, resources }, context) =>
    activities('place the change order').placeChangeOrder({ change: { subscription_id, resources }, ...context }),
};

export function changeOrder(input: unknown): Promise<ResultOf['changeOrder']> {
  const story = async (saga: Saga, request: ChangeOrderRequest, { corrections }: StoryContext) => {
    const { quote, placement } = await placeQuoted(saga, request, corrections, quotedStory);
    const { reference } = request;
    const { decisions } = saga.progress;
    if (placement === undefined) return { reference, quote, placed: false, order: null, decisions };
    const order = orderOf(placement);
    saga.progress.learn({ order });
    return { reference, quote, placed: true, order, decisions };
  };
  return runSaga('changeOrder', input, story, { pivot });
}

function orderOf(placed: Placement<unknown>): unknown {
  return placed.how === 'answered' ? (placed.value as { order: unknown }).order : null;
}
