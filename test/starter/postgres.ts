/** A PostgreSQL server of the test's own, with databases for journals. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Part } from '../../deploy/stack/part';
import { askPostgres, startPostgres } from '../../deploy/stack/postgres';
import { postgresFolder } from '../../deploy/stack/programs';
import { lowPorts } from '../../scripts/reachable';

const user = 'temporal';

export interface PostgresServer {
  part: Part;
  /** A new database, and the address of it as `JOURNAL_URL` has it. */
  database: (name: string) => Promise<string>;
  urlOf: (database: string, credentials?: string) => string;
  sql: (database: string, statement: string) => Promise<string>;
  stop: () => Promise<void>;
}

/** A sentence where there is none to be had. */
export const whyNoPostgres = postgresFolder() === undefined ? 'there is no PostgreSQL' : undefined;

export async function startServer(): Promise<PostgresServer> {
  const programs = postgresFolder();
  if (programs === undefined) throw new Error(whyNoPostgres);
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-postgres-'));
  // PostgreSQL runs as another user, and must get through to its own folder.
  chmodSync(folder, 0o711);
  const [port] = (await lowPorts(1)).map(String);
  const password = randomBytes(12).toString('hex');
  const access = { user, password, port: port ?? '' };
  const part = await startPostgres({ programs, folder: join(folder, 'postgres'), ...access, args: [] });
  const sql = (database: string, statement: string) => askPostgres(programs, { ...access, database }, statement);
  const urlOf = (database: string, credentials = `${user}:${password}`) =>
    `postgres://${credentials}@127.0.0.1:${access.port}/${database}`;
  return {
    part,
    sql,
    urlOf,
    database: async (name) => {
      await sql('postgres', `create database ${name}`);
      return urlOf(name);
    },
    stop: async () => {
      await part.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
