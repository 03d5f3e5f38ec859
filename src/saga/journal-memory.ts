/**
 * What a run knows of the journal, and what is still to be written into it: a call whose outcome could not be written
 * down when it had ended. It is written before the next call is made, whatever that is.
 */
import type { Effected, JournalKnowledge, Unwritten } from '../domain/effects';
import type { CallFailure } from '../domain/failures';
import { LookAgain } from './ends';
import type { Progress } from './progress';

/** Writes one outcome. @returns why it could not */
type Write = (unwritten: Unwritten, answer: unknown) => Promise<CallFailure | undefined>;

/** Owns the reference anew. @param undoes what the run did as the begin that it knows. @returns why it could not */
type Keep = (knows: JournalKnowledge, undoes: boolean) => Promise<JournalKnowledge | CallFailure>;

/** What an answer or a failure says of the journal. */
export type Learnt = Pick<Partial<Effected<unknown>>, 'knows' | 'doubts' | 'unwritten'>;

export class JournalMemory {
  /** From the last answer. A journal that lacks it was restored. */
  knows?: JournalKnowledge;
  /** What only one saga at a time may work on, and the turn in which this one does. */
  resource?: string;
  turn?: string;
  /** True where a call may have left something behind of which this run does not know. */
  inDoubt = false;
  /** Whether the reference belongs to this run's request, as the journal has said. */
  isOwn = false;
  /** What this run has been told is not all there any more: it has begun anew since then. */
  wasRestored = false;
  /** Shows that a call in flight is waited for. */
  progress?: Progress;
  /** The run has asked it for something. */
  hasCalled = false;
  request: unknown;
  private readonly unwritten: { unwritten: Unwritten; answer: unknown }[] = [];
  private writing: Promise<CallFailure | undefined> | undefined;
  private isInQuestion = false;
  private undoes = false;
  /** The saga does nothing more but undo, look and say how it has ended. */
  isEnding = false;
  /** Where another run has begun since its look before the end, it looks again. */
  looksAgain = false;
  private keeping: Promise<CallFailure | undefined> | undefined;

  /** Something is to be written, or the reference to be kept, before the next call. */
  get isBehind(): boolean {
    return this.unwritten.length > 0 || this.isInQuestion;
  }

  /**
   * A call was lost, or the journal says that another begin owns the reference: no call is made before {@link keep}.
   *
   * @param undoes what the run did as the begin that it knows
   */
  ownershipIsInQuestion({ undoes = false } = {}): void {
    this.isInQuestion = true;
    this.undoes ||= undoes;
  }

  /** The reference is about to be taken anew. */
  giveUpOwnership(): void {
    this.isInQuestion = this.undoes = false;
  }

  /** @returns why the reference could not be kept; nothing may be sent then */
  async keep(keepReference: Keep): Promise<CallFailure | undefined> {
    const { knows } = this;
    if (!this.isInQuestion || knows?.begun === undefined) return undefined;
    // Calls side by side wait for the same.
    this.keeping ??= keepReference(knows, this.undoes)
      .then((kept) => {
        const isOthers = 'failure' in kept && kept.failure === 'StateChanged';
        if ('failure' in kept && !isOthers) return kept;
        this.giveUpOwnership();
        if ('failure' in kept && this.isEnding) {
          if (this.looksAgain) throw new LookAgain();
          // It leaves alone what is not its own by now, and still looks, and writes its ending.
          return undefined;
        }
        if ('failure' in kept) return kept;
        this.learnKnowledge(kept);
        return undefined;
      })
      .finally(() => {
        this.keeping = undefined;
      });
    return this.keeping;
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
  private learnKnowledge(knows: JournalKnowledge): void {
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

  /** What a look has said of whose the reference is. */
  heard({ isAnothers = false }: { isAnothers?: boolean | undefined }): void {
    this.isOwn ||= !isAnothers;
  }

  /**
   * @param answer what is to be written of the call
   * @returns whether it is to be written
   */
  learn({ knows, doubts, unwritten }: Learnt, answer: unknown): boolean {
    if (knows) this.learnKnowledge(knows);
    if (doubts) this.inDoubt = true;
    if (unwritten) this.unwritten.push({ unwritten, answer });
    return unwritten !== undefined;
  }

  /** @returns why it could not be written; nothing may be sent then */
  async write(writeOutcome: Write): Promise<CallFailure | undefined> {
    // Calls side by side wait for the same writing.
    while (this.unwritten.length > 0) {
      this.writing ??= this.writeFirst(writeOutcome).finally(() => {
        this.writing = undefined;
      });
      const failure = await this.writing;
      if (failure) return failure;
    }
    return undefined;
  }

  private async writeFirst(writeOutcome: Write): Promise<CallFailure | undefined> {
    const [first] = this.unwritten;
    const failure = first && (await writeOutcome(first.unwritten, first.answer));
    if (!failure) this.unwritten.shift();
    return failure;
  }
}
