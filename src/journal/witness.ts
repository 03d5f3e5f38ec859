/**
 * A worker keeps in a small file of its own, outside of the journal, what it has seen of it. A journal with less than
 * that was restored from an older copy. This notices a restore that begins no timeline: a copied file or disk, a former
 * primary that is started again, a dump that is read into the same cluster.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JournalRow } from './rows';

type Looked = Pick<JournalRow, 'id' | 'epoch' | 'top'>;

interface Seen {
  journal: string;
  epoch: number;
  /** The youngest row. Rows are never deleted. */
  seq: number;
}

/** A row that only this file knows is one that this worker could not lose: it is written before the next call is sent. */
export class Witness {
  private seen: Seen | undefined;

  /** @param warn is told where the file cannot be used */
  constructor(
    private readonly file: string,
    private readonly warn: (message: string) => void,
  ) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      this.seen = JSON.parse(readFileSync(file, 'utf8')) as Seen;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.tell(error);
    }
  }

  /**
   * Another transaction may have written, and been seen, since a look began: so what seems to be missing is looked for
   * once more, and held against what was seen before that.
   *
   * @returns the epoch of what is missing; undefined where nothing is, or where a person has said since what was lost
   */
  async epochOfMissing(looked: Looked, lookAgain: () => Promise<Looked>): Promise<number | undefined> {
    const { seen } = this;
    if (seen === undefined || !lacks(looked, seen)) return undefined;
    return lacks(await lookAgain(), seen) ? seen.epoch : undefined;
  }

  /** The youngest row that was seen of this journal; 0 where none was. */
  seqOf(journal: string): number {
    return this.seen?.journal === journal ? this.seen.seq : 0;
  }

  see({ id, epoch, top }: Looked): void {
    const seq = top ?? 0;
    const { seen } = this;
    if (seen?.journal === id && seen.epoch === epoch && seen.seq >= seq) return;
    this.seen = { journal: id, epoch, seq };
    try {
      const beside = `${this.file}.${process.pid}`;
      writeFileSync(beside, JSON.stringify(this.seen));
      renameSync(beside, this.file);
    } catch (error) {
      this.tell(error);
    }
  }

  private told = false;
  private tell(error: unknown): void {
    if (!this.told) this.warn(`the witness of the journal cannot be kept in ${this.file}: ${String(error)}`);
    this.told = true;
  }
}

function lacks({ id, epoch, top }: Looked, seen: Seen): boolean {
  if (seen.journal !== id || epoch > seen.epoch) return false;
  return epoch < seen.epoch || (top ?? 0) < seen.seq;
}
