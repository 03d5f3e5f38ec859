/**
 * What a run has heard of its cart, in all its stories. The journal knows more of it, but for one that was restored, or
 * is away.
 */
import type { OpenItem } from '../domain/effects';

export class CartMemory {
  private readonly added = new Map<number, OpenItem>();
  /** By the item's number in the request: how many calls to add it may have added another one. */
  private readonly doubts = new Map<number, number>();

  add(item: OpenItem): void {
    this.added.set(item.cartItemId, item);
  }

  delete(cartItemId: number): void {
    this.added.delete(cartItemId);
  }

  /** Added, and not deleted by this run. */
  get items(): OpenItem[] {
    return [...this.added.values()];
  }

  /** @param atLeast how many are known of */
  doubt(number: number, atLeast = this.doubtsOf(number) + 1): void {
    this.doubts.set(number, Math.max(this.doubtsOf(number), atLeast));
  }

  doubtsOf(number: number): number {
    return this.doubts.get(number) ?? 0;
  }
}
