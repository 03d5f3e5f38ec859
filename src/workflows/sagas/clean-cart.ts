/**
 * Delete what a provisioning run that was terminated, or that timed out, left in the cart.
 *
 * ```text
 *   own the reference, and look into its journal                  ◀─┐
 *   ask about an order of unknown outcome, write down the answer ───┘ look again: it may have taken days
 *   delete each item that belongs to no order (3)      only forward: a deleted item is not added again
 *   look at the firewalls of the servers (10)          what was assigned may not be there
 * ```
 *
 * If the provisioning begins again meanwhile, it owns the reference, and nothing more is deleted.
 *
 * It brings a lost saga to its end only where nothing was placed. Placed servers still need their firewalls, and the
 * caller a result: for that an operator resets the saga itself.
 */
import type { ResultOf } from '../../domain/results';
import { runSaga } from '../../saga/run-saga';
import type { DefineSaga } from '../../saga/definition';
import { deleteItems } from '../steps/cart';
import { LostProvisioning } from '../steps/lost-provisioning';

export function cleanCart(input: unknown): Promise<ResultOf['cleanCart']> {
  return runSaga('cleanCart', input, cleaning);
}

const cleaning: DefineSaga<'cleanCart', never> = (saga, { reference }) => {
  const lost = new LostProvisioning(saga);
  return {
    cleansUp: true,
    finish: async () => {
      const { items, leftAlone } = await lost.settle();
      const deleted = await deleteItems(saga, items);
      await lost.report({ looksAtServers: true });
      const { leftovers, decisions } = saga.progress;
      return { reference, deleted, leftAlone, leftovers, decisions };
    },
    reportLeftovers: () => lost.report(),
  };
};
