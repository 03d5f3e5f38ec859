/** Stray cart items: found in the journal, then deleted, each in a step of its own, or reported. */
import type { Standing } from '../activities/journal';
import type { OpenItem } from '../domain/effects';
import type { Leftover } from '../domain/leftovers';
import type { ByHand } from '../saga/by-hand';
import type { StepSpec } from '../saga/step-runner';
import type { Saga } from '../saga/saga';
import { activities } from '../saga/activities';

/**
 * Reads the journal again, and deletes what it finds: see {@link deleteStrayItems}.
 *
 * @param unknownAdds of this run: reported where a person skips reading the journal
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
 * Deletes each item that any run of this reference added and that is in no order. Reports each item of an order of
 * unknown outcome, and each call to add an item whose outcome is unknown.
 *
 * @param own what this run has already undone or reported
 * @returns the ids that were deleted
 */
export async function deleteStrayItems(
  saga: Saga,
  { items, perhapsOrdered, doubtfulAdds }: Standing,
  own: readonly Leftover[],
): Promise<number[]> {
  const known = [...own, ...saga.progress.leftovers];
  const deleted = await deleteItems(saga, untold(items, known));
  reportPerhapsOrdered(saga, untold(perhapsOrdered, known));
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

/** The items that none of these leftovers names. */
export function untold(items: readonly OpenItem[], leftovers: readonly Leftover[]): OpenItem[] {
  const reported = new Set(leftovers.flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : [])));
  return items.filter(({ cartItemId }) => !reported.has(cartItemId));
}

export function reportPerhapsOrdered({ progress }: Saga, items: readonly OpenItem[]): void {
  const why = 'it may belong to an order, and nobody knows whether that order was placed';
  for (const { cartItemId } of items) progress.leave({ kind: 'cart-item', cartItemId, why });
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

/** How deleting a cart item by hand is written down. @param step that added the item */
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
