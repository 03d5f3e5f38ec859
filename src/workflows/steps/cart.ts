/**
 * The cart of one order: each item is added once, and again after each correction of it. Items are deleted as the journal
 * has them, each in a step of its own, or reported.
 */
import { ActivityFailure, CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { ReferenceState } from '../../activities/journal';
import type { OpenItem } from '../../domain/effects';
import type { SentSecrets } from '../../domain/secrets';
import { activities } from '../../saga/activities';
import { failureOf } from '../../saga/attempts';
import type { Step } from '../../saga/shown/progress';
import type { Saga } from '../../saga/saga';
import type { StepSpec, Undo } from '../../saga/steps';
import type { Purchase } from './purchase';

export class Cart {
  /** By the item's number in the request: what stands in the cart, as far as this begin knows. */
  private readonly ids = new Map<number, number>();
  /** As this run has heard, in all its begins: the items that it, or an earlier run, has added, and it has not deleted. */
  private readonly own = new Map<number, OpenItem>();
  /** The same, by the item's number: how many calls to add it may have added another one. */
  private readonly doubts = new Map<number, number>();
  /** Set once the provider has not taken adds side by side: from then on each waits for the one before it. */
  private last: Promise<unknown> | undefined;

  constructor(
    private readonly saga: Saga,
    private readonly purchase: Purchase,
  ) {}

  begin(): void {
    this.ids.clear();
    this.last = undefined;
  }

  /** The journal knows more, but for one that was restored, or is away. */
  get added(): OpenItem[] {
    return [...this.own.values()];
  }

  get itemIds(): number[] {
    return this.numbers.flatMap((number) => this.ids.get(number) ?? []);
  }

  async fill(): Promise<void> {
    const { saga, purchase } = this;
    const corrections = purchase.correctionsOfItems(this);
    // Meanwhile a person may correct an item that is there: then it is missing, too.
    for (let missing = this.missing; missing.length > 0; missing = this.missing) {
      const specs = missing.map((number) => this.specOf(number));
      await saga.together(specs, { refusal: 'OrderRejected', corrections, beforeInstead: () => purchase.agree() });
    }
    const { instead } = purchase;
    for (const { item } of instead ?? []) this.stepOf(item).setDetail(purchase.describeAlternatives(item));
    saga.progress.addFacts({ cartItemIds: this.itemIds, instead });
  }

  has(number: number): boolean {
    return this.ids.has(number);
  }

  /** Deletes items, so that they are added again. Not cancelled with the saga: half of it would be forgotten. */
  async takeBack(numbers: readonly number[]): Promise<void> {
    const items = numbers.flatMap((number) => {
      const cartItemId = this.ids.get(number);
      return cartItemId === undefined ? [] : [{ cartItemId, step: stepId(number) }];
    });
    for (const number of numbers) this.ids.delete(number);
    await CancellationScope.nonCancellable(() => this.undoItems(items, true));
  }

  describeUndo(): string | undefined {
    const count = this.ids.size;
    // Earlier runs, and earlier begins of this one, may have added some of which this begin has not heard yet.
    if (this.saga.journal.mayHaveLeftovers) return 'It deletes the cart items that the journal has of it.';
    return count === 0 ? undefined : `It deletes ${count === 1 ? 'one cart item' : `${count} cart items`}.`;
  }

  /**
   * Deletes each item that any run has added and that is in no order. Reports each item of an order of unknown outcome,
   * and each call to add an item whose outcome is unknown.
   */
  async undo(standing: ReferenceState | undefined): Promise<void> {
    const { saga } = this;
    if (standing === undefined) {
      const why = 'the journal could not be read, and a person went on without it';
      for (const { cartItemId } of unreported(saga, this.added)) {
        saga.progress.addLeftovers({ kind: 'cart-item', cartItemId, why });
      }
      reportDoubtfulAdds(saga, this.perhapsAdded);
      return;
    }
    const { items, perhapsOrdered, doubtfulAdds, placement } = standing;
    // A person may have left one behind already.
    const left = unreported(saga, items);
    if (left.length > 0) saga.progress.enter('undoing');
    await this.undoItems(left, placement.how === 'none');
    reportPerhapsOrdered(saga, unreported(saga, perhapsOrdered));
    this.reportDoubts(doubtfulAdds);
  }

  /** @param inPlace what this run has added is undone in the step that added it */
  private async undoItems(items: readonly OpenItem[], inPlace: boolean): Promise<void> {
    const { saga, secrets, own } = this;
    const steps = new Set<string>();
    const undos = items.map((item) => {
      const added = inPlace && !steps.has(item.step) ? saga.progress.find(item.step) : undefined;
      steps.add(item.step);
      return deleting(item, added?.status === 'done' ? added : deleteStep(saga, item), secrets, own);
    });
    await saga.undo(undos);
  }

  /** Deletes what other calls have left beside the order. @returns the ids that were deleted */
  async deleteOrphans(): Promise<number[]> {
    const { saga } = this;
    if (!saga.journal.mayHaveLeftovers) return [];
    const looked = await saga.one({
      step: saga.unlistedStep('read-cart', 'Look into the journal for what is left in the cart'),
      act: (asked) => activities('read what is left in the cart').readState({ ...asked, added: this.added }),
    });
    if (looked.skipped) {
      reportDoubtfulAdds(saga, this.perhapsAdded);
      return [];
    }
    const deleted = await deleteItems(saga, unreported(saga, looked.value.items), this.own);
    this.reportDoubts(looked.value.doubtfulAdds);
    return deleted;
  }

  private reportDoubts(doubtfulAdds: readonly number[]): void {
    const { saga } = this;
    reportDoubtfulAdds(saga, doubtfulAdds);
    if (saga.journal.wasRestored) reportDoubtfulAdds(saga, this.doubted);
  }

  private get secrets(): SentSecrets {
    return this.purchase.secrets.withOthers.secrets;
  }

  private get numbers(): number[] {
    return this.purchase.request.items.map((_, index) => index + 1);
  }

  private get missing(): number[] {
    return this.numbers.filter((number) => !this.ids.has(number));
  }

  /** Calls of which this run knows that they may have added another item, by the item's number. */
  private get doubted(): number[] {
    return this.numbers.flatMap((number) => Array.from({ length: this.doubtsOf(number) }, () => number));
  }

  /** Without the journal nobody knows what came of calls that were not answered, nor of those of earlier runs. */
  private get perhapsAdded(): number[] {
    const { journal } = this.saga;
    const others = this.numbers.filter((number) => {
      const { attempts } = this.stepOf(number);
      return this.doubtsOf(number) === 0 && (journal.mayHaveLeftovers || attempts > (this.ids.has(number) ? 1 : 0));
    });
    return [...this.doubted, ...others];
  }

  private stepOf(number: number): Step {
    return this.saga.step(stepId(number), `Add cart item ${number}`);
  }

  /** @param scope in which the cart is filled: whoever still waits when it is cancelled adds nothing */
  private inTurn<T>(add: () => Promise<T>, scope: CancellationScope): Promise<T> {
    if (this.last === undefined) return add();
    const adding = this.last.then(() => {
      if (scope.consideredCancelled) throw new CancelledFailure('the saga was cancelled');
      return add();
    });
    this.last = adding.catch(() => undefined);
    return adding;
  }

  private specOf(number: number): StepSpec<{ cartItemId: number }> {
    const { purchase } = this;
    const scope = CancellationScope.current();
    const step = this.stepOf(number);
    return {
      step,
      get title() {
        return [step.title, purchase.describeAlternatives(number)].filter(Boolean).join('; ');
      },
      get instead() {
        return purchase.alternativeTo(number, step.id);
      },
      doubts: () => this.doubtsOf(number),
      act: async (asked) => {
        const item = purchase.request.items[number - 1];
        if (item === undefined) throw new Error(`there is no item ${number}`);
        const corrected = purchase.timesItemCorrected(number) || undefined;
        // Of now: a person may have corrected another item meanwhile.
        const adding = { item, number, corrected, secrets: this.secrets, ...asked };
        const { addCartItem } = activities(`add cart item ${number}`);
        try {
          const answer = await this.inTurn(() => addCartItem(adding), scope);
          const { value, doubts = 0 } = answer;
          this.ids.set(number, value.cartItemId);
          this.own.set(value.cartItemId, { ...value, step: stepId(number) });
          this.doubt(number, doubts);
          return answer;
        } catch (error) {
          if (error instanceof ActivityFailure) {
            // Undefined where the call was lost.
            const failed = failureOf(error);
            if (failed?.failure === 'NotYet') this.last ??= Promise.resolve();
            if (failed?.cartItemId !== undefined)
              this.own.set(failed.cartItemId, { cartItemId: failed.cartItemId, step: stepId(number) });
            else if (failed === undefined || failed.failure === 'UnknownOutcome') this.doubt(number);
          }
          throw error;
        }
      },
    };
  }

  private doubtsOf(number: number): number {
    return this.doubts.get(number) ?? 0;
  }

  /** @param atLeast how many are known of */
  private doubt(number: number, atLeast = this.doubtsOf(number) + 1): void {
    this.doubts.set(number, Math.max(this.doubtsOf(number), atLeast));
  }
}

const stepId = (number: number) => `add-cart-item-${number}`;

/**
 * @param own items that this run has added: a deleted one is taken out
 * @returns the ids that were deleted; one that was left behind or left alone becomes a leftover
 */
export async function deleteItems(saga: Saga, items: readonly OpenItem[], own?: Map<number, OpenItem>) {
  const outcomes = await saga.together(items.map((item) => deleting(item, deleteStep(saga, item), 'unknown', own)));
  items.forEach(({ cartItemId }, index) => {
    const outcome = outcomes[index];
    if (!outcome?.skipped) return;
    const why = outcome.kept ?? 'a person left it behind';
    saga.progress.addLeftovers({ kind: 'cart-item', cartItemId, why });
  });
  return items.flatMap(({ cartItemId }, index) => (outcomes[index]?.skipped === false ? [cartItemId] : []));
}

export function deleteStep(saga: Saga, { cartItemId }: OpenItem): Step {
  return saga.step(`delete-cart-item-${cartItemId}`, `Delete cart item ${cartItemId}`);
}

function deleting(
  { cartItemId, step: addedIn }: OpenItem,
  step: Step,
  secrets: SentSecrets,
  own?: Map<number, OpenItem>,
): Undo {
  return {
    step,
    title: `Delete cart item ${cartItemId}`,
    act: async (asked) => {
      const { deleteCartItem } = activities(`delete cart item ${cartItemId}`);
      const deleted = await deleteCartItem({ ...asked, step: addedIn, cartItemId, secrets });
      own?.delete(cartItemId);
      return deleted;
    },
    byHand: {
      counts: () => own?.delete(cartItemId),
      call: () => ({ step: addedIn, kind: 'compensate', activity: 'deleteCartItem', about: { cartItemId } }),
    },
    leftover: (why) => ({ kind: 'cart-item', cartItemId, why }),
  };
}

export function unreported({ progress }: Saga, items: readonly OpenItem[]): OpenItem[] {
  const reported = new Set(progress.leftovers.flatMap((left) => (left.kind === 'cart-item' ? [left.cartItemId] : [])));
  return items.filter(({ cartItemId }) => !reported.has(cartItemId));
}

export function reportPerhapsOrdered(saga: Saga, items: readonly OpenItem[]): void {
  const why = 'it may belong to an order, and nobody knows whether that order was placed';
  for (const { cartItemId } of items) saga.keepInOrder({ kind: 'cart-item', cartItemId, why });
}

/** Reports one leftover for each call: two calls for one item may have added two. None is reported twice. */
export function reportDoubtfulAdds(saga: Saga, numbers: readonly number[]): void {
  const why = 'a call to add it ended without an answer; look into the cart for an item of unknown id';
  const { leftovers } = saga.progress;
  const reported = leftovers.flatMap((left) => (left.kind === 'cart-item-unknown' ? [left.item] : []));
  for (const item of numbers) {
    if (reported.includes(item)) reported.splice(reported.indexOf(item), 1);
    else saga.progress.addLeftovers({ kind: 'cart-item-unknown', item, why });
  }
}
