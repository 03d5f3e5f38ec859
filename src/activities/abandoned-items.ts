/** Cart items that no run answers for any more: looked up in the histories of a reference's runs, not at the provider. */
import { Context } from '@temporalio/activity';
import { workflowIdOf } from '../domain/identity';
import type { Asked, Call } from './call';
import { emptyCartHistory, readCart } from './cart-history';
import { OwnFailure } from './translate-failure';

export interface FindAbandonedItems extends Asked {
  reference: string;
}

export interface AbandonedItems {
  /** False: no provisioning of this reference is known. */
  known: boolean;
  /** True: one of the runs goes on, and may add more. */
  running: boolean;
  /** Added, never deleted, and in no order. */
  items: number[];
  /** Added, never deleted, and sent with an order of which nobody knows whether it was placed. */
  perhapsOrdered: number[];
  /** Calls to add an item whose outcome was never learned. */
  doubtfulAdds: number;
}

export function createAbandonedItemsActivities(call: Call) {
  return {
    /** No provider call. Reads every run that the server still keeps: of the provisioning, and of clean-ups after it. */
    findAbandonedItems(input: FindAbandonedItems): Promise<AbandonedItems> {
      return call('reading', input, async () => {
        try {
          return await find(input);
        } catch (error) {
          throw new OwnFailure('NotSent', `the histories of ${input.reference} could not be read: ${String(error)}`);
        }
      });
    },
  };
}

async function find({ reference }: FindAbandonedItems): Promise<AbandonedItems> {
  const { client } = Context.current();
  const provisioning = workflowIdOf('provisionServers', reference);
  const cleaning = workflowIdOf('cleanCart', reference);
  const cart = emptyCartHistory();
  let known = false;
  let running = false;
  for await (const run of client.workflow.list({ query: `WorkflowId IN ('${provisioning}', '${cleaning}')` })) {
    const handle = client.workflow.getHandle(run.workflowId, run.runId);
    if (run.workflowId === provisioning) {
      known = true;
      // The list lags behind: a run that has just ended may still stand in it as running.
      running ||= (await handle.describe()).status.name === 'RUNNING';
    }
    await readCart(await handle.fetchHistory(), client.options.loadedDataConverter, cart);
  }
  const open = [...cart.added].filter((id) => !cart.deleted.has(id) && !cart.ordered.has(id));
  return {
    known,
    running,
    items: open.filter((id) => !cart.perhapsOrdered.has(id)),
    perhapsOrdered: open.filter((id) => cart.perhapsOrdered.has(id)),
    doubtfulAdds: cart.doubtfulAdds.size,
  };
}
