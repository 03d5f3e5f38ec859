/**
 * A worker keeps in a small file of its own, outside of the journal, the youngest row that it has seen. A journal that
 * lacks it was restored from an older copy, or is another one. This notices a restore that begins no timeline: a copied
 * file or disk, a former primary that is started again, a dump that is read into the same cluster.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { JournalRow } from '../rows';

export interface Seen {
  journal: string;
  epoch: number;
  /** The youngest row, by its place and its id. Rows are never deleted; a place may be taken again after a restore. */
  seq: number;
  row: string;
}

/** A row that only this file knows is one that this worker could not lose: it is written before the next call is sent. */
export class Witness {
  private seen: Seen | undefined;
  private readonly read = new WeakMap<object, Seen>();

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
   * Another journal in its place lacks all that was seen, too.
   *
   * @returns the epoch of what is missing; undefined where nothing is, or where a person has said since what was lost
   */
  async epochOfMissing(
    { id, epoch, raised_ms }: JournalRow,
    isThere: (row: string) => Promise<boolean>,
  ): Promise<number | undefined> {
    const { seen } = this;
    if (seen === undefined || (raised_ms > 0 && epoch > seen.epoch)) return undefined;
    const isMissing = id !== seen.journal || epoch < seen.epoch || !(await isThere(seen.row));
    return isMissing ? seen.epoch : undefined;
  }

  /** The youngest row that was seen. */
  get row(): string | undefined {
    return this.seen?.row;
  }

  /** A row that a transaction reads is seen once that is committed: in a file, the row may be lost with it. */
  look(tx: object, { id, epoch, top, young }: JournalRow): void {
    if (top !== null && young !== null) this.read.set(tx, { journal: id, epoch, seq: top, row: young });
  }

  committed(tx: object): void {
    const young = this.read.get(tx);
    if (young !== undefined) this.see(young);
  }

  see(young: Seen): void {
    const { seen } = this;
    if (seen?.journal === young.journal && seen.epoch === young.epoch && seen.seq >= young.seq) return;
    this.seen = young;
    try {
      // Containers that share a volume share their numbers of processes, too.
      const beside = `${this.file}.${hostname()}.${process.pid}`;
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
