/** Cart items of runs that cannot undo any more: deleted, each as a step of its own, or told. */
import type { Plan, Saga } from './saga';
import { once } from './temperaments';

/** @returns the ids that were deleted; one that a person left behind becomes a leftover */
export async function deleteItems(saga: Saga, cartItemIds: readonly number[]): Promise<number[]> {
  const outcomes = await saga.together(
    cartItemIds.map((cartItemId): Plan<void> => ({
      step: saga.step(`delete-cart-item-${String(cartItemId)}`, `Delete cart item ${String(cartItemId)}`),
      act: (again) => once(`delete cart item ${String(cartItemId)}`).deleteCartItem({ cartItemId, again }),
    })),
    { refusal: 'ask', skippable: true },
  );
  cartItemIds.forEach((cartItemId, index) => {
    if (!outcomes[index]?.skipped) return;
    saga.progress.leftovers.push({ kind: 'cart-item', cartItemId, why: 'a person left it behind' });
  });
  return cartItemIds.filter((_, index) => outcomes[index]?.skipped === false);
}

/** Calls to add an item, read from a history, that ended without an answer: there may be items of unknown ids. */
export function tellDoubtfulAdds(saga: Saga, count: number): void {
  const why =
    'an earlier run’s call to add an item ended without an answer; look into the cart for an item of unknown id';
  for (let told = 0; told < count; told += 1) saga.progress.leftovers.push({ kind: 'cart-item-unknown', why });
}
