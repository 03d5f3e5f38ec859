/**
 * Delete what a provisioning run that was terminated, or that timed out, left in the cart.
 *
 * ```text
 *   read the histories of the reference's runs
 *   ask about items whose order may have been placed
 *   delete each item that belongs to no order (3)      only forward: a deleted item is not added again
 * ```
 */
import type { ResultOf } from '../domain/results';
import { deleteItems, tellDoubtfulAdds } from './cart-items';
import { SagaFailed, type Saga } from './saga';
import { tell } from './tell';
import { once } from './temperaments';

export function cleanCart(input: unknown): Promise<ResultOf['cleanCart']> {
  return tell('cleanCart', input, async (saga, { reference }) => {
    const found = await saga.must(
      {
        step: saga.step('read-histories', 'Read what the runs of this reference did to the cart'),
        act: (again) => once(`read the histories of ${reference}`).findAbandonedItems({ reference, again }),
      },
      { refusal: 'InvalidRequest' },
    );
    if (!found.known) throw new SagaFailed('InvalidRequest', `no provisioning of ${reference} is known`);
    if (found.running) {
      throw new SagaFailed(
        'InvalidRequest',
        `the provisioning of ${reference} is still running: request its cancellation instead`,
      );
    }
    const ordered = found.perhapsOrdered.length > 0 && (await wasPlaced(saga, found.perhapsOrdered));
    const doomed = ordered ? found.items : [...found.items, ...found.perhapsOrdered];
    const deleted = await deleteItems(saga, doomed);
    tellDoubtfulAdds(saga, found.doubtfulAdds);
    return {
      reference,
      deleted,
      leftAlone: ordered ? found.perhapsOrdered : [],
      leftovers: saga.progress.leftovers,
      decisions: saga.progress.decisions,
    };
  });
}

async function wasPlaced(saga: Saga, items: readonly number[]): Promise<boolean> {
  const step = saga.step('settle-order', 'Learn whether the order was placed');
  step.end('stuck');
  const decision = await saga.desk.ask({
    kind: 'outcome-unknown',
    step: step.id,
    question:
      `The order with the cart items ${items.join(', ')} may have been placed when its run ended. ` +
      'Look in the provider’s control panel: is it there? If not, its items are deleted.',
    choices: ['confirmPlaced', 'confirmNotPlaced'],
    objection: (decision) =>
      'vmObjectIds' in decision && decision.vmObjectIds
        ? 'vmObjectIds: are not needed here; leave them out'
        : undefined,
  });
  step.end('done', decision.decision);
  return decision.decision === 'confirmPlaced';
}
