/** A PostgreSQL of the bench's own, for journals, with what docker-compose.yml tells its own. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres, askPostgres } from '../deploy/stack/postgres';
import { postgresFolder } from '../deploy/stack/programs';
import { lowPorts } from '../scripts/reachable';

export interface JournalServer {
  /** The server's own process; each connection has another one below it. */
  readonly pid: number;
  /** Makes an empty database. @returns its address, as `JOURNAL_URL` has it */
  createDatabase: () => Promise<string>;
  /** Asks in a database; a row a line, its columns apart by tabs. */
  sql: (url: string, statement: string) => Promise<string>;
  stop: () => Promise<void>;
}

const user = 'order_saga';

/** @returns undefined where the system has no PostgreSQL */
export async function startJournalServer(args: readonly string[] = []): Promise<JournalServer | undefined> {
  const programs = postgresFolder();
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-bench-journal-'));
  // The server may run as another user.
  chmodSync(folder, 0o755);
  const password = randomBytes(24).toString('hex');
  const port = String((await lowPorts(1))[0]);
  const settings = ['-c', 'max_connections=250', ...args];
  const remove = () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const part = await startPostgres({
      ...{ programs, folder: join(folder, 'postgres'), port },
      ...{ user, password, args: settings },
    });
    const sql = (url: string, statement: string) =>
      askPostgres(programs, { user, password, port, database: new URL(url).pathname.slice(1) }, statement);
    const address = (database: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
    return {
      pid: part.pid,
      sql,
      createDatabase: async () => {
        const url = address(`journal_${randomUUID().replaceAll('-', '')}`);
        await sql(address('postgres'), `create database ${new URL(url).pathname.slice(1)}`);
        return url;
      },
      stop: async () => {
        await part.kill();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
