/**
 * The journal's database, and its confidential values: what every question and every write of the journal uses. All of
 * them throw `JournalUnavailable` where the database cannot be asked.
 */
import type { Kysely, RawBuilder } from 'kysely';
import type { PivotNote } from '../domain/effects';
import { askAboutFailovers, type FailoverRule } from './restore/recovery-gap';
import { isPostgres } from './database/dialects';
import { asUnavailable, isUniqueViolation, JournalUnreadable } from './database/errors';
import { type Effect, lock, type Reference, type SagaKey, type Tx } from './rows';
import type { JournalTables } from './database/schema';

/** How confidential values are written: like Temporal's payloads, so encrypted where there are keys. */
export interface Sealing {
  seal(value: unknown): Promise<string>;
  /** @throws Error where it cannot be decrypted */
  unseal(sealed: string): Promise<unknown>;
  /**
   * Digests by which equal texts are recognised. Without the key they do not show the text.
   *
   * @returns one by the key that encrypts, then one by each older key; without keys, one plain digest
   */
  digests(text: string): string[];
  /** Digests of a secret, by which it is recognised. Without keys they take long to guess by. */
  secretDigests(secret: string): Promise<string[]>;
}

/** Who says so, and how they know. */
export interface Verdict {
  by: string;
  note: string;
}

export class Store {
  constructor(
    readonly db: Kysely<JournalTables>,
    readonly sealing: Sealing,
    readonly failover: FailoverRule = askAboutFailovers,
  ) {}

  /** @throws JournalUnreadable */
  async noteOf(sealed: string | null): Promise<PivotNote | undefined> {
    return sealed === null ? undefined : ((await this.unseal(sealed, 'what was sent')) as PivotNote);
  }

  /** The recorded answer of a call that is done. @throws JournalUnreadable */
  answerOf({ answer, step }: Pick<Effect, 'answer' | 'step'>): Promise<unknown> {
    return this.unseal(answer ?? 'null', `the answer of ${step}`);
  }

  /** @throws JournalUnreadable */
  async unseal(sealed: string, what: string): Promise<unknown> {
    try {
      return await this.sealing.unseal(sealed);
    } catch (error) {
      throw new JournalUnreadable(what, { cause: error });
    }
  }

  /** One select, which needs no transaction. */
  async read<T>(query: (db: Kysely<JournalTables>) => Promise<T>): Promise<T> {
    try {
      return await query(this.db);
    } catch (error) {
      throw isUniqueViolation(error) ? error : asUnavailable(error);
    }
  }

  rows<Row>(query: RawBuilder<Row>): Promise<Row[]> {
    return this.read(async (db) => (await query.execute(db)).rows);
  }

  /** A statement of its own is its own transaction; a file is locked first, outside of SQLite. */
  protected inOneStatement<T>(work: (db: Kysely<JournalTables>) => Promise<T>): Promise<T> {
    return isPostgres(this.db) ? this.read(work) : this.inTransaction(work);
  }

  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.read(async (db) => {
      const { tx, done } = await db.transaction().execute(async (tx) => ({ tx, done: await work(tx) }));
      this.failover.witness?.committed(tx);
      return done;
    });
  }

  /**
   * A transaction that decides about a reference: its row is written first, as a lock.
   *
   * @param work gets that row; undefined where the reference is not known
   */
  locked<T>(key: SagaKey, work: (tx: Tx, taken: Reference | undefined) => Promise<T>): Promise<T> {
    return this.inTransaction(async (tx) => work(tx, await lock(tx, key)));
  }

  /** Waits for running queries, and closes the connections. */
  close(): Promise<void> {
    return this.db.destroy();
  }
}
