/**
 * Add resources to a subscription, or only ask what that would cost.
 *
 * ```text
 *   quote (5), available?, guard, approval     nothing to undo
 *   ═════════ place the change order (4) ═════════  point of no return
 * ```
 */
import type { Placement } from '../../domain/effects';
import { changeCorrectionSchema, changeOrderSchema } from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { check } from '../../domain/validation';
import { activities } from '../../saga/activities';
import { runSaga } from '../../saga/run-saga';
import { placeQuoted } from '../steps/place-quoted';

export function changeOrder(input: unknown): Promise<ResultOf['changeOrder']> {
  return runSaga('changeOrder', input, changing);
}

const changing = placeQuoted<'changeOrder', { order: unknown }>({
  pivot: { id: 'place-change-order', title: 'Place the change order' },
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
  facts: (placed) => ({ order: orderOf(placed) }),
  result: (told, placed) => ({ ...told, order: placed ? orderOf(placed) : null }),
});

/** The provider's answer; null where the change is known without one. */
function orderOf(placed: Placement<{ order: unknown }>): unknown {
  return placed.how === 'answered' ? placed.value.order : null;
}
