/** The cart of one order: each item is added once, and again after each correction of it. */
import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import { deletedByHand } from './cart-items';
import { failureOf } from '../saga/attempts';
import { placedBefore } from '../saga/look-back';
import type { Purchase } from './purchase';
import type { StepSpec } from '../saga/step-runner';
import type { Saga } from '../saga/saga';
import type { Step } from '../saga/progress';
import { activities } from '../saga/activities';
import type { UnknownAdds } from './unknown-adds';

export class Cart {
  private readonly ids = new Map<number, number>();
  /** Set once the provider has not taken adds side by side: from then on each waits for the one before it. */
  private last: Promise<unknown> | undefined;

  constructor(
    private readonly saga: Saga,
    private readonly purchase: Purchase,
    private readonly unknownAdds: UnknownAdds,
  ) {}

  /** In the order of the request. */
  get itemIds(): number[] {
    return this.numbers.flatMap((number) => this.ids.get(number) ?? []);
  }

  /**
   * Adds the missing items.
   *
   * @throws PlacedBefore where another run has placed the order, or may have
   */
  async fill(): Promise<void> {
    const { saga, purchase } = this;
    // Meanwhile a person may correct an item that is there: then it is missing, too.
    for (let missing = this.missing; missing.length > 0; missing = this.missing) {
      const outcomes = await saga.together(
        missing.map((number) => this.specOf(number)),
        {
          refusal: 'OrderRejected',
          corrections: purchase.correctionsOfItems(this),
          placedBefore: async () => (await placedBefore(saga)) !== undefined,
        },
      );
      missing.forEach((number, index) => {
        const outcome = outcomes[index];
        if (outcome && !outcome.skipped) this.ids.set(number, outcome.value.cartItemId);
      });
    }
  }

  has(number: number): boolean {
    return this.stepOf(number).status === 'done';
  }

  async takeBack(numbers: readonly number[]): Promise<void> {
    await this.saga.takeBack(numbers.map((number) => this.stepOf(number)));
    for (const number of numbers) this.ids.delete(number);
  }

  private get numbers(): number[] {
    return this.purchase.request.items.map((_, index) => index + 1);
  }

  private get missing(): number[] {
    return this.numbers.filter((number) => !this.ids.has(number));
  }

  private stepOf(number: number): Step {
    return this.saga.step(`add-cart-item-${number}`, `Add cart item ${number}`);
  }

  /** @param scope in which the cart is filled: whoever still waits when it is cancelled adds nothing */
  private async inTurn<T>(add: () => Promise<T>, scope: CancellationScope): Promise<T> {
    const adding =
      this.last?.then(() => {
        if (scope.consideredCancelled) throw new CancelledFailure('the saga was cancelled');
        return add();
      }) ?? add();
    if (this.last !== undefined) this.last = adding.catch(() => undefined);
    try {
      return await adding;
    } catch (error) {
      if (failureOf(error)?.failure === 'NotYet') this.last ??= Promise.resolve();
      throw error;
    }
  }

  private specOf(number: number): StepSpec<{ cartItemId: number }> {
    const { purchase } = this;
    const scope = CancellationScope.current();
    return {
      step: this.stepOf(number),
      act: (asked) => {
        const item = purchase.request.items[number - 1];
        if (item === undefined) throw new Error(`there is no item ${number}`);
        const corrected = purchase.timesItemCorrected(number);
        return this.inTurn(() => {
          const adding = activities(`add cart item ${number}`).addCartItem({
            item,
            number,
            ...(corrected > 0 ? { corrected } : {}),
            ...purchase.secrets.withOthers,
            ...asked,
          });
          return this.unknownAdds.noting(number, adding);
        }, scope);
      },
      undo: ({ cartItemId }) => ({
        title: `Delete cart item ${cartItemId}`,
        act: (asked) =>
          activities(`delete cart item ${cartItemId}`).deleteCartItem({
            cartItemId,
            ...purchase.secrets.withOthers,
            ...asked,
          }),
        byHand: deletedByHand(cartItemId),
        leftover: (why) => ({ kind: 'cart-item', cartItemId, why }),
      }),
    };
  }
}
