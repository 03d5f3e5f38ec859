/**
 * Delete what a provisioning run that was terminated, or that timed out, left in the cart.
 *
 * ```text
 *   look into the journal of the reference                        ◀─┐
 *   ask about an order of unknown outcome, write down the answer ───┘ look again: it may have taken days
 *   delete each item that belongs to no order (3)      only forward: a deleted item is not added again
 *   look once more                  the provisioning may have begun again meanwhile
 *   look at the firewalls of the servers (10)          what was assigned may not be there
 * ```
 *
 * It brings a lost saga to its end only where nothing was placed. Placed servers still need their firewalls, and the
 * caller a result: for that an operator resets the saga itself.
 */
import type { ResultOf } from '../../domain/results';
import { runSaga } from '../../saga/run-saga';
import type { StoryOf } from '../../saga/story';
import { deleteItems } from '../parts/cart';
import { LostProvisioning } from '../parts/lost-provisioning';

export function cleanCart(input: unknown): Promise<ResultOf['cleanCart']> {
  return runSaga('cleanCart', input, cleaning);
}

const cleaning: StoryOf<'cleanCart', never> = (saga, { reference }) => {
  const lost = new LostProvisioning(saga, reference);
  return {
    finish: async () => {
      const { items, leftAlone } = await lost.settle();
      const deleted = await deleteItems(saga, items);
      await lost.report({ isChanged: items.length > 0 });
      const { leftovers, decisions } = saga.progress;
      return { reference, deleted, leftAlone, leftovers, decisions };
    },
    reportLeftovers: () => {
      lost.reportUnreached();
    },
    other: { cleanUp: () => lost.cleanUp },
  };
};
