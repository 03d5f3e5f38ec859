/**
 * `notAfter` of a request: after it nothing is sent that changes anything, but to undo.
 *
 * ```text
 *   timer ──▶ a pivot in flight? await it ──▶ look into the journal ──nothing placed──▶ end the saga's waits ──▶ undo
 *                                    ▲                 ├─ placed, or nobody knows ──▶ the saga goes on
 *                                    └──── a pause ────┴─ the journal cannot be asked
 * ```
 *
 * Two parts. Each call carries the time along, and the worker does not send it later (`src/activities/effect.ts`): that
 * holds whatever stands still. And a timer ends whatever the saga waits for: a person, a backoff, the hold. It ends
 * the saga as a cancellation would, and never while a pivot may have happened: then what is known to be placed goes on
 * forward.
 */
import { inWords } from '../domain/times';
import { CancellationScope, CancelledFailure, condition, isCancellation, sleep } from '@temporalio/workflow';
import { hasRoomToAsk } from './history-left';

/** Temporal's longest timer is longer; this one is what its reminders have. */
const sleepMaxMs = 182 * 24 * 60 * 60 * 1000;

/** Seldom enough for a history: after a quarter of the time that the journal has been away. */
const lookAgainMsMin = 5_000;
const lookAgainMsMax = 7 * 24 * 60 * 60 * 1000;

export class Deadline {
  /** The request's deadline, for as long as it matters. */
  notAfter?: string;
  /** Set once it has ended the saga's waits. */
  ended?: { why: string };
  /** Starts the timer, where it does not run. */
  start?: (() => void) | undefined;
  /** A look into the journal is in flight. */
  isLooking = false;
  private timer?: CancellationScope;
  private pivots = 0;
  private pivotsBegun = 0;

  /** @param nothingPlaced asked when it has passed, and no pivot is in flight; undefined: nobody can say that now */
  async bound<T>(
    notAfter: string | undefined,
    nothingPlaced: () => Promise<boolean | undefined>,
    work: () => Promise<T>,
  ): Promise<T> {
    if (notAfter === undefined) return work();
    this.notAfter = notAfter;
    const scope = new CancellationScope();
    const timer = (this.timer = new CancellationScope());
    const start = (this.start = () => {
      delete this.start;
      timer
        .run(async () => {
          await until(Date.parse(notAfter));
          if (!(await this.endsNow(nothingPlaced))) {
            // If it begins again, a person may have said that nothing was placed.
            this.start = start;
            return;
          }
          this.ended = { why: whyPassed(notAfter) };
          scope.cancel();
        })
        .catch((error: unknown) => {
          if (!isCancellation(error)) throw error;
        });
    });
    try {
      return await scope.run(work);
    } finally {
      this.lift();
    }
  }

  /** It no longer matters: all that it forbids is done. */
  lift(): void {
    delete this.notAfter;
    this.timer?.cancel();
  }

  /** A pivot's call. While it is in flight nothing is ended. */
  async whileInFlight<T>(call: () => Promise<T>): Promise<T> {
    if (this.ended) throw new CancelledFailure('the deadline has passed');
    this.pivots += 1;
    this.pivotsBegun += 1;
    try {
      return await call();
    } finally {
      this.pivots -= 1;
    }
  }

  /** A sentence where it has passed. */
  get whyPassed(): string | undefined {
    const { notAfter } = this;
    return notAfter !== undefined && Date.now() > Date.parse(notAfter) ? whyPassed(notAfter) : undefined;
  }

  private async endsNow(nothingPlaced: () => Promise<boolean | undefined>): Promise<boolean> {
    const sinceMs = Date.now();
    for (;;) {
      await condition(() => this.pivots === 0);
      const begun = this.pivotsBegun;
      this.isLooking = true;
      const nothing = await nothingPlaced().finally(() => (this.isLooking = false));
      // It is placed, or nobody knows: that is left to the saga, whose calls are not sent any more.
      if (nothing === false) return false;
      // A pivot that began since may be over by now: the look knows nothing of it.
      if (nothing && this.pivotsBegun === begun) return this.notAfter !== undefined;
      if (nothing) continue;
      if (!hasRoomToAsk(false)) return false;
      await sleep(Math.min(Math.max(lookAgainMsMin, (Date.now() - sinceMs) / 4), lookAgainMsMax));
    }
  }
}

/**
 * One past it: at the time itself a call may still leave. There is a timer also where the time has passed: a task of a
 * worker that stood still is handed out again, and its clock may be another one at a replay.
 */
async function until(timeMs: number): Promise<void> {
  // Counted by the timers, and not asked of the clock again: a replay comes to the same timers.
  for (let leftMs = Math.max(1, timeMs + 1 - Date.now()); leftMs > 0; leftMs -= sleepMaxMs)
    await sleep(Math.min(leftMs, sleepMaxMs));
}

function whyPassed(notAfter: string): string {
  return `not all was sent by ${inWords(new Date(notAfter).toISOString())}, and the request allows nothing after it`;
}
