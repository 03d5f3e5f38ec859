/**
 * Add resources to a subscription.
 *
 * ```text
 *   quote (5), available?, guard, approval     nothing to undo
 *   ═════════ place the change order (4) ═════════  point of no return
 * ```
 */
import type { ResultOf } from '../domain/results';
import { agree } from './agreement';
import { placePivot } from './pivot';
import { tell } from './tell';
import { once } from './temperaments';

export function changeOrder(input: unknown): Promise<ResultOf['changeOrder']> {
  return tell('changeOrder', input, async (saga, request) => {
    const { reference, subscription_id, resources, guard, approval } = request;
    const change = { subscription_id, resources };
    const quoting = saga.step('quote', 'Quote the change order');
    const placing = saga.step('place-change-order', 'Place the change order');

    const comeToTerms = () =>
      agree(saga, {
        step: quoting,
        quote: (again) =>
          once('quote the change order').quoteChangeOrder({ change, opening: true, again, ...approvable }),
        notAvailable: 'ChangeNotAvailable',
        guard,
        approval,
      });
    const approvable = approval === undefined || approval === 'never' ? {} : { approvable: true };
    let quote = await comeToTerms();

    const placement = await placePivot(saga, {
      step: placing,
      noun: 'the change order',
      foundBy: `subscription ${String(subscription_id)}`,
      act: (guard, again) => once('place the change order').placeChangeOrder({ change, guard, again }),
      refusal: 'OrderRejected',
      beforeAgain: async () => {
        quote = await comeToTerms();
      },
    });

    const order = placement.how === 'answered' ? placement.value.order : null;
    saga.progress.known['order'] = order;
    return { reference, quote, order, decisions: saga.progress.decisions };
  });
}
