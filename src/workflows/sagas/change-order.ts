/**
 * Add resources to a subscription, or only ask what that would cost.
 *
 * ```text
 *   quote (5), available?, guard, approval     nothing to undo
 *   ═════════ place the change order (4) ═════════  point of no return
 * ```
 */
import type { Placement } from '../../domain/effects';
import { changeCorrectionSchema, changeOrderSchema, type RequestOf } from '../../domain/requests';
import type { ResultOf } from '../../domain/results';
import { check } from '../../domain/validation';
import { activities } from '../../saga/activities';
import type { DefineSaga } from '../../saga/definition';
import { runSaga } from '../../saga/run-saga';
import { Quotation } from '../steps/quotation';

export function changeOrder(input: unknown): Promise<ResultOf['changeOrder']> {
  return runSaga('changeOrder', input, changing);
}

const changing: DefineSaga<'changeOrder', { order: unknown }> = (saga, request) => {
  const { reference, quoteOnly } = request;
  const { progress } = saga;
  const quotation = new Quotation(saga, request, {
    noun: 'the change order',
    notAvailable: 'ChangeNotAvailable',
    check: (corrected) => check(changeOrderSchema(), corrected),
    correctionSchema: changeCorrectionSchema,
    quote: (wanted, context) =>
      activities('quote the change order').quoteChangeOrder({ change: changeOf(wanted), ...context }),
  });
  if (quoteOnly) return { finish: async () => ({ ...(await quotation.only()), order: null }) };
  return {
    prepare: () => quotation.askUntilAvailable(),
    pivot: {
      ...quotation.pivot(
        ({ subscription_id }) => `subscription ${subscription_id}`,
        ({ resources }) => resources.map(({ resource_name, delta_value }) => `${resource_name} by ${delta_value}`),
      ),
      step: () => saga.step('place-change-order', 'Place the change order'),
      act: (context) =>
        activities('place the change order').placeChangeOrder({ change: changeOf(quotation.request), ...context }),
      facts: (placed) => ({ order: orderOf(placed) }),
    },
    finish: ({ placement, note: { quote } = {} }) => {
      const order = orderOf(placement);
      progress.addFacts(quote ? { quote, order } : { order });
      return Promise.resolve({ reference, quote, placed: true, order, decisions: progress.decisions });
    },
  };
};

const changeOf = ({ subscription_id, resources }: RequestOf['changeOrder']) => ({ subscription_id, resources });

/** The provider's answer; null where the change is known without one. */
function orderOf(placed: Placement<{ order: unknown }>): unknown {
  return placed.how === 'answered' ? placed.value.order : null;
}
