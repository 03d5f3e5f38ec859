/**
 * SQLite as the journal needs it. Kysely's own dialect begins a transaction without a lock, and waits for the lock
 * inside SQLite. Then
 *
 * - a transaction that reads and then writes fails at once if another one wrote in between;
 * - a statement that failed for a lock stays open in this driver, and no later transaction of the connection can be
 *   committed;
 * - the wait blocks the whole process, and with it a transaction of the same process that has the lock.
 */
import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { SqliteAdapter, SqliteDialect, SqliteDriver, type DatabaseConnection } from 'kysely';
import type File from 'libsql';
import { tryOr } from '../../domain/ignore-errors';
import { JournalUnavailable } from './errors';

export interface FileDialectConfig {
  database: File.Database;
  path: string;
  /** Milliseconds that a transaction waits for the ones before it. */
  busyMs: number;
}

export class FileDialect extends SqliteDialect {
  constructor(private readonly config: FileDialectConfig) {
    super(config);
  }

  override createDriver(): SqliteDriver {
    return new FileDriver(this.config);
  }

  override createAdapter(): SqliteAdapter {
    return new FileAdapter();
  }
}

/** A migration is atomic, also where the process dies during it. */
class FileAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** A transaction has not to wait for more than so many after it. */
const groupMax = 50;

/**
 * Transactions that wait for the connection are committed together, with one sync of the disk: each is a savepoint, and
 * is done when the commit of all is on disk.
 *
 * ```text
 *   begin immediate ── savepoint, release ── savepoint, rollback ── savepoint, release ── commit ──▶ the first and the third are done
 * ```
 */
class FileDriver extends SqliteDriver {
  private connecting: Promise<DatabaseConnection> | undefined;
  private isTaken = false;
  private isClosed = false;
  private readonly waiting: (() => void)[] = [];
  /** They were lent again before their transaction was on disk: releasing them does nothing. */
  private readonly passedOn = new WeakSet<DatabaseConnection>();
  private readonly group: { done: () => void; lost: (why: unknown) => void }[] = [];

  /** Device and inode of the file, and of its log, as they were opened. */
  private readonly opened = new Map<string, string>();

  constructor(private readonly config: FileDialectConfig) {
    super(config);
    this.checkPlace();
  }

  /** A file that was removed, or moved, can still be written to: nobody would ever find what was. */
  private checkPlace(): void {
    for (const path of [this.config.path, `${this.config.path}-wal`]) {
      const now = tryOr(() => statSync(path, { bigint: true }), undefined);
      const found = now === undefined ? '' : `${now.dev}:${now.ino}`;
      const opened = this.opened.get(path) ?? found;
      if (opened !== found)
        throw new JournalUnavailable(
          'its file was removed, moved or replaced: put it back, or stop all workers before they go on with another one',
        );
      if (found !== '') this.opened.set(path, found);
    }
  }

  /** Switches the file to a write-ahead log, for good. */
  override async init(): Promise<void> {
    await this.whenFree('pragma journal_mode = wal');
    await super.init();
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.connecting ??= super.acquireConnection();
    const connection = await this.connecting;
    if (this.isTaken) await new Promise<void>((go) => this.waiting.push(go));
    this.isTaken = true;
    if (this.isClosed) {
      this.passOn();
      throw new Error('the journal is closed');
    }
    return {
      executeQuery: (query) => connection.executeQuery(query),
      streamQuery: (query, size) => connection.streamQuery(query, size),
    };
  }

  override async releaseConnection(connection?: DatabaseConnection): Promise<void> {
    if (connection !== undefined && this.passedOn.has(connection)) return;
    // It may have read rows of transactions that are not on disk yet.
    const committed = this.group.length > 0 ? this.committed() : undefined;
    this.passOn();
    await committed;
  }

  override async beginTransaction(): Promise<void> {
    const { database } = this.config;
    this.checkPlace();
    // A full disk ends the transaction by itself, and with it those before this one.
    if (!database.inTransaction) {
      this.commit();
      await this.whenFree('begin immediate');
    }
    database.exec('savepoint one');
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.config.database.exec('release one');
    const committed = this.committed();
    this.passedOn.add(connection);
    this.passOn();
    await committed;
  }

  /** Waits until those that are committed together from now on are on disk. */
  private committed(): Promise<void> {
    return new Promise((done, lost) => this.group.push({ done, lost }));
  }

  /** A full disk ends the transaction by itself; the missing transaction must not hide that error. */
  override rollbackTransaction(): Promise<void> {
    const { database } = this.config;
    if (database.inTransaction) database.exec('rollback to one; release one');
    return Promise.resolve();
  }

  /** Waits for the queries before it, and refuses later ones: a query of a closed database ends the process. */
  override async destroy(): Promise<void> {
    await this.acquireConnection();
    this.commit();
    await super.destroy();
    this.isClosed = true;
    this.passOn();
  }

  /** To whoever waits; where nobody does, and where enough have waited, all is committed. */
  private passOn(): void {
    if (!this.isClosed && (this.waiting.length === 0 || this.group.length >= groupMax)) this.commit();
    const next = this.waiting.shift();
    if (next) next();
    else this.isTaken = false;
  }

  private commit(): void {
    const { database } = this.config;
    const group = this.group.splice(0);
    try {
      if (database.inTransaction) database.exec('commit');
      else if (group.length > 0) throw new Error('the database has ended the transaction');
      for (const { done } of group) done();
    } catch (error) {
      if (database.inTransaction) database.exec('rollback');
      for (const { lost } of group) lost(error);
    }
  }

  /** Runs a statement that takes the file's lock, and waits for that outside of SQLite. */
  private async whenFree(statement: string): Promise<void> {
    const { database, busyMs } = this.config;
    const untilMs = performance.now() + busyMs;
    database.exec('pragma busy_timeout = 0');
    try {
      for (;;) {
        try {
          // A prepared statement would stay open when it fails.
          database.exec(statement);
          return;
        } catch (error) {
          if (!isBusy(error) || performance.now() > untilMs) throw error;
          await pause(1 + Math.random() * 10);
        }
      }
    } finally {
      database.exec(`pragma busy_timeout = ${busyMs}`);
    }
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
