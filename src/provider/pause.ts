/**
 * One pause for all calls of a client: who is told 429 is told for everybody, since it is the token that is counted. Without
 * it, each saga would run into the limit by itself, and each of those calls counts against it.
 *
 * ```text
 *   429 ──▶ paused until Retry-After (or 1 s) is over ──▶ calls go on; the next 429 pauses again
 * ```
 *
 * A call in flight is left alone. A call that is put off never left, so a pivot may be put off, too.
 */

/** Where the provider does not say how long. */
const unsaidMs = 1_000;

export class Pause {
  private untilMs = 0;

  constructor(
    /** A longer Retry-After concerns the call that got it, and not all others. 0: never a pause. */
    private readonly maxMs: number,
    /** Of a clock that nobody sets: a step back of the wall's by an hour would be an hour's pause. */
    private readonly now: () => number,
  ) {}

  /** @param retryAfterMs what the provider asked for, if it did */
  begin(retryAfterMs: number | undefined): void {
    const lastsMs = Math.min(retryAfterMs ?? unsaidMs, this.maxMs);
    this.untilMs = Math.max(this.untilMs, this.now() + lastsMs);
  }

  /** Milliseconds until it is over; 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.untilMs - this.now());
  }
}
