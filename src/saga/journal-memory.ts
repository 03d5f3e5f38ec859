/** A run's knowledge of the journal, and the outcomes that `attempts.ts` is still to write into it. */
import type { Effected, JournalCursor, Unwritten } from '../domain/effects';
import type { CallFailure } from '../domain/failures';

export type Learnt = Pick<Partial<Effected<unknown>>, 'cursor' | 'doubts' | 'unwritten'>;

export class JournalMemory {
  /** From the last answer. A journal that lacks it was restored. */
  cursor?: JournalCursor;
  /** One saga at a time works on it. Its place in the queue is given back also if it ends before its turn. */
  resource: string | undefined;
  turn?: string;
  /** True where a call may have left something behind of which this run does not know. */
  mayHaveLeftovers = false;
  /** The reference belongs to this run's request, as the journal has said. */
  isReferenceOurs = false;
  /** The journal lacks some of what it has told this run: the run has begun anew since then. */
  wasRestored = false;
  /** The run has asked it for something. */
  hasCalled = false;
  request: unknown;
  /** It looks again if another run has begun since its look before the end. */
  readsAgain = false;
  /** Calls whose outcome could not be written down when they had ended: it is written before the next call is made. */
  readonly unwritten: { unwritten: Unwritten; answer: unknown }[] = [];
  /** A call was lost, or the journal says that another begin owns the reference: it is owned anew before the next call. */
  mustRenew = false;
  writing?: Promise<CallFailure | undefined>;
  renewing?: Promise<CallFailure | undefined>;

  /** Before the next call. */
  get hasPendingWork(): boolean {
    return this.unwritten.length > 0 || this.mustRenew;
  }

  /** The reference was taken, or taken anew: what was known before was looked for then. */
  acquired(cursor: JournalCursor): void {
    this.mustRenew = false;
    this.isReferenceOurs = true;
    const before = this.cursor;
    const isSame = before?.journal === cursor.journal && before.epoch === cursor.epoch;
    this.wasRestored ||= before !== undefined && !isSame;
    this.cursor = { ...(isSame && before.row !== undefined ? { row: before.row } : {}), ...cursor };
  }

  /** Calls side by side may be answered out of order: an older number of ours does not count any more. */
  moveCursor(cursor: JournalCursor): void {
    const fence = Math.max(cursor.fence ?? 0, this.cursor?.fence ?? 0);
    this.cursor = { ...cursor, ...(fence > 0 ? { fence } : {}) };
  }

  /**
   * Goes along with each look into the journal, until the reference is known to belong to the request: where it belongs
   * to another one, the answer says nothing of that one.
   */
  get toCompare(): { request?: unknown } {
    return this.isReferenceOurs || this.request === undefined ? {} : { request: this.request };
  }

  /** @param answer what is to be written of the call. @returns whether it is to be written */
  learn({ cursor, doubts, unwritten }: Learnt, answer: unknown): boolean {
    if (cursor) this.moveCursor(cursor);
    if (doubts) this.mayHaveLeftovers = true;
    if (unwritten) this.unwritten.push({ unwritten, answer });
    return unwritten !== undefined;
  }
}
