/** Waits for something to happen, by notification and not by polling. */

interface Wait<T> {
  fits: (happened: T) => boolean;
  missing: number;
  found: T[];
  resolve: (found: T[]) => void;
  reject: (reason: Error) => void;
}

export class Happenings<T> {
  private readonly waits = new Set<Wait<T>>();

  constructor(private readonly past: readonly T[]) {}

  /** Resolves with the first `times` that match, counting those that have already happened. */
  when(fits: (happened: T) => boolean, times = 1): Promise<T[]> {
    const found = this.past.filter(fits).slice(0, times);
    if (found.length >= times) return Promise.resolve(found);
    const waiting = new Promise<T[]>((resolve, reject) => {
      this.waits.add({ fits, missing: times - found.length, found, resolve, reject });
    });
    // If the sandbox closes and no test awaits this any more, it must not become an unhandled rejection.
    waiting.catch(() => undefined);
    return waiting;
  }

  happened(one: T): void {
    for (const wait of this.waits) {
      if (!wait.fits(one)) continue;
      wait.found.push(one);
      wait.missing -= 1;
      if (wait.missing > 0) continue;
      this.waits.delete(wait);
      wait.resolve(wait.found);
    }
  }

  abandon(reason: Error): void {
    for (const wait of this.waits) wait.reject(reason);
    this.waits.clear();
  }
}
