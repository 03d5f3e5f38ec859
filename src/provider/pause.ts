/**
 * One pause for all calls of a client: a 429 concerns all of them, because the provider counts calls by token. Without
 * it, each saga would reach the limit by itself, and each of those calls counts against the limit, too.
 *
 * ```text
 *   429 ──▶ paused until Retry-After (or 1 s) is over ──▶ calls go on; the next 429 pauses again
 * ```
 *
 * A call in flight is not affected. A call that is put off was never sent, so a pivot may be put off, too.
 */

/** The pause where the provider does not say how long. */
const unsaidMs = 1_000;

export class Pause {
  private untilMs = 0;

  constructor(
    /**
     * A longer Retry-After pauses all calls for this long only; the call that got it waits for all of it. 0: never a
     * pause.
     */
    private readonly maxMs: number,
    /** A monotonic clock: if the wall clock were set back by an hour, the pause would last an hour. */
    private readonly now: () => number,
  ) {}

  /** @param retryAfterMs undefined where the provider did not say */
  begin(retryAfterMs: number | undefined): void {
    const lastsMs = Math.min(retryAfterMs ?? unsaidMs, this.maxMs);
    this.untilMs = Math.max(this.untilMs, this.now() + lastsMs);
  }

  /** Milliseconds until the pause is over; 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.untilMs - this.now());
  }
}
