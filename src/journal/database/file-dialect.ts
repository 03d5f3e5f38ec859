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

class FileDriver extends SqliteDriver {
  private isClosed = false;

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
    const connection = await super.acquireConnection();
    if (!this.isClosed) return connection;
    await super.releaseConnection();
    throw new Error('the journal is closed');
  }

  override async beginTransaction(): Promise<void> {
    this.checkPlace();
    await this.whenFree('begin immediate');
  }

  override commitTransaction(): Promise<void> {
    // A prepared statement would stay open when it fails.
    this.config.database.exec('commit');
    return Promise.resolve();
  }

  /** A full disk ends the transaction by itself; the missing transaction must not hide that error. */
  override rollbackTransaction(): Promise<void> {
    const { database } = this.config;
    if (database.inTransaction) database.exec('rollback');
    return Promise.resolve();
  }

  /** Waits for the queries before it, and refuses later ones: a query of a closed database ends the process. */
  override async destroy(): Promise<void> {
    await this.acquireConnection();
    this.isClosed = true;
    await super.destroy();
    await super.releaseConnection();
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
