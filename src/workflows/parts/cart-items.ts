/** Cart items, as the journal has them: deleted, each in a step of its own, or reported. */
import type { OpenItem } from '../../domain/effects';
import type { SentSecrets } from '../../domain/secrets';
import { activities } from '../../saga/activities';
import type { Step } from '../../saga/progress';
import type { Saga } from '../../saga/saga';
import type { Undo } from '../../saga/steps';

/** @returns the ids that were deleted; one that was left behind or left alone becomes a leftover */
export async function deleteItems(saga: Saga, items: readonly OpenItem[]): Promise<number[]> {
  const outcomes = await saga.together(items.map((item) => deleting(saga, item, deleteStep(saga, item), 'unknown')));
  items.forEach(({ cartItemId }, index) => {
    const outcome = outcomes[index];
    if (!outcome?.skipped) return;
    const why = outcome.leftAlone ?? 'a person left it behind';
    saga.progress.leave({ kind: 'cart-item', cartItemId, why });
  });
  return items.flatMap(({ cartItemId }, index) => (outcomes[index]?.skipped === false ? [cartItemId] : []));
}

/** @param own what this run has added is undone in the step that added it */
export async function undoItems(
  saga: Saga,
  items: readonly OpenItem[],
  secrets: SentSecrets,
  { own }: { own: boolean },
): Promise<void> {
  const steps = new Set<string>();
  await saga.undo(
    items.map((item) => {
      const added = own && !steps.has(item.step) ? saga.progress.find(item.step) : undefined;
      steps.add(item.step);
      return deleting(saga, item, added?.status === 'done' ? added : deleteStep(saga, item), secrets);
    }),
  );
}

function deleteStep(saga: Saga, { cartItemId }: OpenItem): Step {
  return saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`);
}

function deleting(saga: Saga, { cartItemId, step: addedIn }: OpenItem, step: Step, secrets: SentSecrets): Undo {
  return {
    step,
    title: `Delete cart item ${cartItemId}`,
    act: async (asked) => {
      const { deleteCartItem } = activities(`delete cart item ${cartItemId}`);
      const deleted = await deleteCartItem({ ...asked, step: addedIn, cartItemId, secrets });
      saga.cart.delete(cartItemId);
      return deleted;
    },
    byHand: {
      counts: () => {
        saga.cart.delete(cartItemId);
      },
      call: () => ({ step: addedIn, kind: 'compensate', activity: 'deleteCartItem', about: { cartItemId } }),
    },
    leftover: (why) => ({ kind: 'cart-item', cartItemId, why }),
  };
}

/** The items that no leftover names yet. */
export function untold({ progress }: Saga, items: readonly OpenItem[]): OpenItem[] {
  const reported = new Set(progress.leftovers.flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : [])));
  return items.filter(({ cartItemId }) => !reported.has(cartItemId));
}

export function reportPerhapsOrdered(saga: Saga, items: readonly OpenItem[]): void {
  const why = 'it may belong to an order, and nobody knows whether that order was placed';
  for (const { cartItemId } of items) saga.leaveAlone({ kind: 'cart-item', cartItemId, why });
}

/** Reports one leftover for each call: two calls for one item may have added two. None is reported twice. */
export function reportDoubtfulAdds(saga: Saga, numbers: readonly number[]): void {
  const why = 'a call to add it ended without an answer; look into the cart for an item of unknown id';
  const { leftovers } = saga.progress;
  const reported = leftovers.flatMap((left) => (left.kind === 'cart-item-unknown' ? [left.item] : []));
  for (const item of numbers) {
    if (reported.includes(item)) reported.splice(reported.indexOf(item), 1);
    else saga.progress.leave({ kind: 'cart-item-unknown', item, why });
  }
}
