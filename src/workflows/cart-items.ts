/** Cart items that no run answers for: looked up in the journal and deleted, each as a step of its own, or reported. */
import type { Standing } from '../activities/journal';
import type { OpenItem } from '../domain/effects';
import type { Leftover } from '../domain/leftovers';
import type { ByHand } from '../saga/by-hand';
import type { StepSpec } from '../saga/step-runner';
import type { Saga } from '../saga/saga';
import { activities } from '../saga/activities';

/**
 * Looks into the journal again, and deletes what it finds: see {@link deleteStrayItems}.
 *
 * @param unknownAdds of this run: told where a person goes on without the journal
 * @returns the ids that were deleted
 */
export async function findStrayItems(saga: Saga, unknownAdds: readonly number[]): Promise<number[]> {
  const looked = await saga.one(
    {
      step: saga.quietStep('read-cart', 'Look into the journal for what is left in the cart'),
      act: (asked) => activities('read what is left in the cart').readStanding(asked),
    },
    { refusal: 'ask', skippable: true },
  );
  if (!looked.skipped) return deleteStrayItems(saga, looked.value, []);
  reportDoubtfulAdds(saga, unknownAdds);
  return [];
}

/**
 * Deletes what was added under this reference and is in no order, whichever run added it. What belongs to an order of unknown
 * fate is reported, and so is each call to add an item of which nobody knows whether it did.
 *
 * @param own what this run has seen to already
 * @returns the ids that were deleted
 */
export async function deleteStrayItems(
  saga: Saga,
  { items, perhapsOrdered, doubtfulAdds }: Standing,
  own: readonly Leftover[],
): Promise<number[]> {
  const told = [...own, ...saga.progress.leftovers];
  const deleted = await deleteItems(saga, untold(items, told));
  reportPerhapsOrdered(saga, untold(perhapsOrdered, told));
  reportDoubtfulAdds(saga, doubtfulAdds);
  return deleted;
}

/** @returns the ids that were deleted; one that was left behind or left alone becomes a leftover */
export async function deleteItems(saga: Saga, items: readonly OpenItem[]): Promise<number[]> {
  const leftAlone = new Map<number, string>();
  const outcomes = await saga.together(
    items.map(({ cartItemId, step }): StepSpec<unknown> => ({
      step: saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`),
      act: (asked) =>
        activities(`delete cart item ${cartItemId}`).deleteCartItem({ ...asked, step, cartItemId, secrets: 'unknown' }),
      byHand: deletedByHand(cartItemId, step),
      leaveAlone: (why) => leftAlone.set(cartItemId, why),
    })),
    { refusal: 'ask', skippable: true },
  );
  items.forEach(({ cartItemId }, index) => {
    if (!outcomes[index]?.skipped) return;
    const why = leftAlone.get(cartItemId) ?? 'a person left it behind';
    saga.progress.leave({ kind: 'cart-item', cartItemId, why });
  });
  return items.flatMap(({ cartItemId }, index) => (outcomes[index]?.skipped === false ? [cartItemId] : []));
}

/** Those that none of these leftovers is about. */
export function untold(items: readonly OpenItem[], leftovers: readonly Leftover[]): OpenItem[] {
  const told = new Set(leftovers.flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : [])));
  return items.filter(({ cartItemId }) => !told.has(cartItemId));
}

export function reportPerhapsOrdered({ progress }: Saga, items: readonly OpenItem[]): void {
  const why = 'it may belong to an order of which nobody knows whether it was placed';
  for (const { cartItemId } of items) progress.leave({ kind: 'cart-item', cartItemId, why });
}

/** One for each call: two calls for one item may have added two. What was told before is not told again. */
export function reportDoubtfulAdds(saga: Saga, numbers: readonly number[]): void {
  const why = 'a call to add it ended without an answer; look into the cart for an item of unknown id';
  const { leftovers } = saga.progress;
  const told = leftovers.flatMap((left) => (left.kind === 'cart-item-unknown' ? [left.item] : []));
  for (const item of numbers) {
    if (told.includes(item)) told.splice(told.indexOf(item), 1);
    else saga.progress.leave({ kind: 'cart-item-unknown', item, why });
  }
}

/** Deleting a cart item, whatever asks for it. @param step the one that added it */
export function deletedByHand(cartItemId: number, step?: string): ByHand<unknown> {
  return {
    counts: () => undefined,
    call: (waiting) => ({
      step: step ?? waiting,
      kind: 'compensate',
      activity: 'deleteCartItem',
      about: { cartItemId },
    }),
  };
}
