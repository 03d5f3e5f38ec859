/**
 * SQLite as the journal needs it. Kysely's own begins a transaction without a lock, and waits for it inside SQLite. Then
 *
 * - who reads before it writes is refused at once where somebody else wrote in between;
 * - a statement that was refused for a lock stays open in this driver, and no later transaction of the connection can be committed;
 * - the whole process stands still for the waiting, and with it whoever holds the lock in the same process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SqliteAdapter, SqliteDialect, SqliteDriver, type DatabaseConnection } from 'kysely';
import type File from 'libsql';

export interface FileDialectConfig {
  database: File.Database;
  /** Milliseconds for which a transaction waits for the ones before it. */
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

/** A migration is made as a whole or not at all, also where the process dies in the middle of it. */
class FileAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class FileDriver extends SqliteDriver {
  constructor(private readonly config: FileDialectConfig) {
    super(config);
  }

  /** With the lock: nothing after it is refused for one. */
  override async beginTransaction(): Promise<void> {
    const { database, busyMs } = this.config;
    const untilMs = performance.now() + busyMs;
    database.exec('pragma busy_timeout = 0');
    try {
      for (;;) {
        try {
          // Not as a prepared statement, which would stay open where it is refused.
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

  /** A full disk ends the transaction by itself. That there is none any more is not what went wrong. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.config.database.inTransaction) await super.rollbackTransaction(connection);
  }

  /** After whoever uses it: a closed database that is asked for more ends the process. */
  override async destroy(): Promise<void> {
    await this.acquireConnection();
    await super.destroy();
    await this.releaseConnection();
  }
}

/**
 * With a write-ahead log, which a file has from then on. Where others open a new file at the same time SQLite refuses that at once,
 * and does not wait.
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

/** Somebody else writes into the file. */
function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
