/**
 * SQLite as the journal needs it. Kysely's own begins a transaction without a lock: one that reads before it writes is then refused
 * at once when somebody else wrote in between, and this driver's connection never comes out of that again. And it waits for a lock
 * inside SQLite, which stops the whole process, and with it whoever holds the lock in the same process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDialectConfig,
} from 'kysely';

interface Waiting {
  /** Milliseconds for which a transaction waits for the ones before it. */
  busyMs: number;
}

export class FileDialect extends SqliteDialect {
  constructor(private readonly config: SqliteDialectConfig & Waiting) {
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
  private readonly busyMs: number;

  constructor({ busyMs, ...config }: SqliteDialectConfig & Waiting) {
    super(config);
    this.busyMs = busyMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const ask = (text: string) => connection.executeQuery(CompiledQuery.raw(text));
    const untilMs = performance.now() + this.busyMs;
    await ask('pragma busy_timeout = 0');
    try {
      for (;;) {
        try {
          await ask('begin immediate');
          return;
        } catch (error) {
          if (!isBusy(error) || performance.now() > untilMs) throw error;
          await pause(1 + Math.random() * 10);
        }
      }
    } finally {
      await ask(`pragma busy_timeout = ${this.busyMs}`);
    }
  }

  /** A full disk ends the transaction by itself. That there is none any more is not what went wrong. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => undefined);
  }
}

/** Somebody else writes into the file. */
function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
