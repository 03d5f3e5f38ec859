/**
 * SQLite as the journal needs it. Kysely's own dialect begins a transaction without a lock, and waits for the lock
 * inside SQLite. Then
 *
 * - a transaction that reads and then writes fails at once if another one wrote in between;
 * - a statement that failed for a lock stays open in this driver, and no later transaction of the connection can be
 *   committed;
 * - the wait blocks the whole process, and with it a transaction of the same process that has the lock.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SqliteAdapter, SqliteDialect, SqliteDriver, type DatabaseConnection } from 'kysely';
import type File from 'libsql';

export interface FileDialectConfig {
  database: File.Database;
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
  constructor(private readonly config: FileDialectConfig) {
    super(config);
  }

  /** Takes the lock, so that no later statement fails for it. */
  override async beginTransaction(): Promise<void> {
    const { database, busyMs } = this.config;
    const untilMs = performance.now() + busyMs;
    database.exec('pragma busy_timeout = 0');
    try {
      for (;;) {
        try {
          // A prepared statement would stay open when it fails.
          database.exec('begin immediate');
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

  /** A full disk ends the transaction by itself; the missing transaction must not hide that error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.config.database.inTransaction) await super.rollbackTransaction(connection);
  }

  /** Waits for the last query: a query of a closed database ends the process. */
  override async destroy(): Promise<void> {
    await this.acquireConnection();
    await super.destroy();
    await this.releaseConnection();
  }
}

/**
 * Switches the file to a write-ahead log, for good. If other processes open a new file at the same time, SQLite fails
 * at once and does not wait.
 */
export function writeAhead(database: File.Database, busyMs: number): void {
  const untilMs = performance.now() + busyMs;
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > untilMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
