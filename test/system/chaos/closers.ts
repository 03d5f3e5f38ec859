/** What a run has started, so that all of it ends with the run, whatever is under way. */
export class Closers {
  private readonly closers: (() => unknown)[] = [];
  private closed: Promise<void> | undefined;

  /** It is closed also where it has only begun to come. */
  async keep<T>(coming: Promise<T>, close: (kept: T) => Promise<unknown>): Promise<T> {
    this.add(() => coming.then(close, () => undefined));
    return coming;
  }

  add(close: () => unknown): void {
    this.closers.push(close);
  }

  /** The last one first. A second call waits for the first. */
  close(): Promise<void> {
    this.closed ??= (async () => {
      for (const close of this.closers.reverse()) {
        try {
          await close();
        } catch (error) {
          console.error(error);
        }
      }
    })();
    return this.closed;
  }
}
