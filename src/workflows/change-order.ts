/**
 * Add resources to a subscription, or only ask what that would cost.
 *
 * ```text
 *   quote (5), available?, guard, approval     nothing to undo
 *   ═════════ place the change order (4) ═════════  point of no return
 * ```
 */
import type { Placement } from '../domain/effects';
import type { ChangeCorrection } from '../domain/corrections';
import { changeCorrectionSchema, changeOrderSchema, type ChangeOrderRequest } from '../domain/requests';
import type { ResultOf } from '../domain/results';
import { check } from '../domain/validation';
import { ApprovedQuote } from './approved-quote';
import type { PivotStep } from '../saga/look-back';
import { placePivot } from '../saga/pivot';
import type { Saga } from '../saga/saga';
import { runSaga, type StoryContext } from '../saga/run-saga';
import { activities } from '../saga/activities';
import { Wanted } from '../saga/corrected-request';

const placing: PivotStep = {
  id: 'place-change-order',
  title: 'Place the change order',
  known: (placed) => ({ order: orderOf(placed) }),
};

export function changeOrder(input: unknown): Promise<ResultOf['changeOrder']> {
  const story = async (saga: Saga, first: ChangeOrderRequest, { corrections }: StoryContext) => {
    const { reference, subscription_id, guard, approval, quoteOnly } = first;
    const wanted = new Wanted<ChangeOrderRequest, ChangeCorrection>(saga, first, corrections, {
      apply: (request, correction) => ({ ...request, ...correction }),
      check: (request) => check(changeOrderSchema(), request),
    });
    const correction = wanted.correction(changeCorrectionSchema);
    const change = () => ({ subscription_id, resources: wanted.request.resources });
    const quoting = saga.step('quote', 'Quote the change order');
    const { decisions } = saga.progress;

    if (quoteOnly) {
      const { quote } = await saga.must(
        {
          step: quoting,
          act: ({ retry }) => activities('quote the change order').quoteChangeOrder({ change: change(), retry }),
        },
        { refusal: 'OrderRejected', corrections: { refused: correction } },
      );
      return { reference, quote, placed: false, order: null, decisions };
    }

    const terms = new ApprovedQuote(saga, {
      step: quoting,
      quote: ({ retry }) =>
        activities('quote the change order').quoteChangeOrder({ change: change(), retry, ...approvable }),
      notAvailable: 'ChangeNotAvailable',
      guard,
      approval,
      correction,
    });
    const approvable = approval === undefined || approval === 'never' ? {} : { approvable: true };
    await terms.come();

    const placement = await placePivot(saga, {
      step: saga.step(placing.id, placing.title),
      noun: 'the change order',
      note: () => ({ foundBy: `subscription ${subscription_id}`, quote: terms.quote }),
      act: (asked) => activities('place the change order').placeChangeOrder({ change: change(), ...asked }),
      refusal: 'OrderRejected',
      corrections: terms.corrections,
      timesCorrected: () => wanted.timesCorrected,
      approval,
      isAgreed: () => terms.isAgreed,
      beforeAgain: () => terms.come(),
      beforeSending: () => terms.refresh(),
      quoteUntil: () => terms.quoteUntil,
    });

    const order = orderOf(placement);
    saga.progress.known['order'] = order;
    return { reference, quote: terms.quote, placed: true, order, decisions };
  };
  return runSaga('changeOrder', input, story, { pivot: placing });
}

function orderOf(placed: Placement<unknown>): unknown {
  return placed.how === 'answered' ? (placed.value as { order: unknown }).order : null;
}
