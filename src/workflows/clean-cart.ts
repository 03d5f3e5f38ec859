/**
 * Delete what a provisioning run that was terminated, or that timed out, left in the cart.
 *
 * ```text
 *   look into the journal of the reference                        ◀─┐
 *   ask about an order of unknown fate, and write down the answer ──┘ look again: it may have taken days
 *   delete each item that belongs to no order (3)      only forward: a deleted item is not added again
 * ```
 */
import type { Standing } from '../activities/journal';
import type { OpenItem } from '../domain/effects';
import type { ResultOf } from '../domain/results';
import { deleteItems, reportDoubtfulAdds } from './cart-items';
import { askAboutPlacement } from './doubt';
import { SagaFailed } from './ends';
import type { Saga } from './saga';
import { tell } from './tell';
import { once } from './temperaments';

export function cleanCart(input: unknown): Promise<ResultOf['cleanCart']> {
  let open: OpenItem[] = [];
  const story = async (saga: Saga, { reference }: { reference: string }) => {
    const { items, doubtfulAdds, leftAlone } = await settle(saga, reference);
    open = items;
    const deleted = await deleteItems(saga, items);
    open = [];
    reportDoubtfulAdds(saga, doubtfulAdds);
    const { leftovers, decisions } = saga.progress;
    return { reference, deleted, leftAlone, leftovers, decisions };
  };
  return tell('cleanCart', input, story, { takesReference: false, ownUp: (saga) => reportOpen(saga, open) });
}

/** What it was to delete, and did not come to. */
function reportOpen(saga: Saga, items: readonly OpenItem[]): void {
  for (const { cartItemId } of items) {
    const step = saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`);
    if (step.status === 'done') continue;
    const why = 'the clean-up ended before it was deleted';
    saga.progress.leftovers.push({ kind: 'cart-item', cartItemId, why });
  }
}

/** How the reference stands, once it is known what became of its order. */
async function settle(saga: Saga, reference: string): Promise<Standing & { leftAlone: number[] }> {
  const firstSeenMs = new Map<string, number>();
  let leftAlone: number[] = [];
  for (;;) {
    const standing = await look(saga, reference);
    const { placement, perhapsOrdered } = standing;
    if (placement.how !== 'unknown') return { ...standing, leftAlone };
    const step = saga.step('settle-order', 'Learn whether the order was placed');
    step.end('stuck');
    const seenMs = firstSeenMs.get(placement.row) ?? Date.now();
    firstSeenMs.set(placement.row, seenMs);
    const named = perhapsOrdered.map(({ cartItemId }) => cartItemId);
    const doubtful = { step, noun: 'the order', foundBy: `cart items ${named.join(', ')}` };
    const { note } = placement;
    const doubt = {
      ...placement,
      foundBy: note && `${note.foundBy}, ${doubtful.foundBy}`,
      deniableMs: seenMs + placement.inAirMs,
    };
    const placed = await askAboutPlacement(saga, doubtful, doubt);
    leftAlone = placed ? named : [];
    step.end('done', placed ? 'it was placed' : 'it was not placed');
  }
}

/** After each decision again: a person may take days, and the run may go on meanwhile. */
async function look(saga: Saga, reference: string): Promise<Standing> {
  const standing = await saga.must(
    {
      step: saga.quietStep('read-journal', 'Read what was done under this reference'),
      act: (asked) => once(`read what was done under ${reference}`).readStanding({ ...asked, orRunning: true }),
    },
    { refusal: 'InvalidRequest' },
  );
  if (!standing.known) throw new SagaFailed('InvalidRequest', `no provisioning of ${reference} is known`);
  if (!standing.running) return standing;
  throw new SagaFailed(
    'InvalidRequest',
    `the provisioning of ${reference} is still running: request its cancellation instead`,
  );
}
