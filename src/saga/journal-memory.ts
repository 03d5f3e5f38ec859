/** A run's knowledge of the journal, and the outcomes that `attempts.ts` is still to write into it. */
import type { Effected, JournalKnowledge, Unwritten } from '../domain/effects';
import type { CallFailure } from '../domain/failures';

export type Learnt = Pick<Partial<Effected<unknown>>, 'knows' | 'doubts' | 'unwritten'>;

export class JournalMemory {
  /** From the last answer. A journal that lacks it was restored. */
  knows?: JournalKnowledge;
  /** One saga at a time works on it. Its place in the queue is given back also if it ends before its turn. */
  resource: string | undefined;
  turn?: string;
  /** True where a call may have left something behind of which this run does not know. */
  inDoubt = false;
  /** The reference belongs to this run's request, as the journal has said. */
  isOwn = false;
  /** The journal lacks some of what it has told this run: the run has begun anew since then. */
  wasRestored = false;
  /** The run has asked it for something. */
  hasCalled = false;
  request: unknown;
  /** It looks again if another run has begun since its look before the end. */
  looksAgain = false;
  /** Calls whose outcome could not be written down when they had ended: it is written before the next call is made. */
  readonly unwritten: { unwritten: Unwritten; answer: unknown }[] = [];
  isInQuestion = false;
  writing?: Promise<CallFailure | undefined>;
  keeping?: Promise<CallFailure | undefined>;

  /** Something is to be written, or the reference to be kept, before the next call. */
  get isBehind(): boolean {
    return this.unwritten.length > 0 || this.isInQuestion;
  }

  /** A call was lost, or the journal says that another begin owns the reference: it is kept before the next call. */
  ownershipIsInQuestion(): void {
    this.isInQuestion = true;
  }

  /** The reference is about to be taken anew, or was. */
  giveUpOwnership(): void {
    this.isInQuestion = false;
  }

  /** The reference was taken, or taken anew: what was known before was looked for then. */
  own(knows: JournalKnowledge): void {
    this.isInQuestion = false;
    this.isOwn = true;
    const before = this.knows;
    const isSame = before?.journal === knows.journal && before.epoch === knows.epoch;
    this.wasRestored ||= before !== undefined && !isSame;
    this.knows = { ...(isSame && before.row !== undefined ? { row: before.row } : {}), ...knows };
  }

  /** Calls side by side may be answered out of order: an older number of ours does not count any more. */
  learnKnowledge(knows: JournalKnowledge): void {
    const begun = Math.max(knows.begun ?? 0, this.knows?.begun ?? 0);
    this.knows = { ...knows, ...(begun > 0 ? { begun } : {}) };
  }

  /**
   * Goes along with each look into the journal, until the reference is known to belong to the request: where it belongs
   * to another one, the answer says nothing of that one.
   */
  get toCompare(): { request?: unknown } {
    return this.isOwn || this.request === undefined ? {} : { request: this.request };
  }

  /** Learns from a look whose the reference is. */
  heard({ isAnothers = false }: { isAnothers?: boolean | undefined }): void {
    this.isOwn ||= !isAnothers;
  }

  /** @param answer what is to be written of the call. @returns whether it is to be written */
  learn({ knows, doubts, unwritten }: Learnt, answer: unknown): boolean {
    if (knows) this.learnKnowledge(knows);
    if (doubts) this.inDoubt = true;
    if (unwritten) this.unwritten.push({ unwritten, answer });
    return unwritten !== undefined;
  }
}
