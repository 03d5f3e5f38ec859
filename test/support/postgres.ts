/** A PostgreSQL server of a test's own, out of the system's package. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Part } from '../../deploy/stack/part';
import { startPostgres, type Access } from '../../deploy/stack/postgres';
import { postgresFolder } from '../../deploy/stack/programs';
import { lowPorts } from '../../scripts/reachable';
import { inMemory } from './folder';

const user = 'order_saga';
/** Looked for in what is said of failures. */
export const password = 'canary-6f1c9d';

const programs = postgresFolder();

/** Why there is none; undefined where there is one, and in CI, where the tests fail that need it. */
export const whyNoPostgres =
  programs !== undefined || process.env['CI'] ? undefined : 'there is no PostgreSQL (Debian: postgresql)';

export interface Place {
  user?: string;
  password?: string;
  host?: string;
  port?: number;
  database?: string;
  /** As `options` of a connection: `-c name=value`. */
  options?: string;
}

export interface Cluster {
  programs: string;
  /** Its data is in the folder `data` there. */
  folder: string;
  part: Part;
  superuser: Omit<Access, 'database'>;
}

export class PostgresServer {
  private constructor(
    readonly part: Part,
    readonly port: number,
    readonly folder: string,
    readonly cluster: Cluster,
  ) {}

  static async start(): Promise<PostgresServer> {
    if (programs === undefined) throw new Error('these tests need PostgreSQL (Debian: the package postgresql)');
    const folder = mkdtempSync(join(inMemory, 'order-saga-postgres-'));
    // The server may run as another user.
    chmodSync(folder, 0o755);
    const [port] = await lowPorts(1);
    const place = { programs, folder: join(folder, 'postgres') };
    const superuser = { user, password, port: String(port) };
    const part = await startPostgres({ ...place, ...superuser, args: ['-c', 'max_connections=200'] });
    return new PostgresServer(part, port!, folder, { ...place, part, superuser });
  }

  url({ database = 'postgres', host = '127.0.0.1', port = this.port, options, ...who }: Place = {}): string {
    const name = encodeURIComponent(who.user ?? user);
    const secret = encodeURIComponent(who.password ?? password);
    const query = options === undefined ? '' : `?options=${encodeURIComponent(options)}`;
    return `postgres://${name}:${secret}@${host}:${port}/${database}${query}`;
  }

  async createDatabase(more = ''): Promise<string> {
    const name = `journal_${randomUUID().replaceAll('-', '')}`;
    await this.ask(`create database ${name} ${more}`);
    return name;
  }

  ask<Row = Record<string, unknown>>(statement: string, place: Place = {}): Promise<Row[]> {
    return this.connected(async (client) => (await client.query(statement)).rows as Row[], place);
  }

  async connected<T>(work: (client: Client) => Promise<T>, place: Place = {}): Promise<T> {
    const client = new Client({ connectionString: this.url(place) });
    // The server may be killed meanwhile: then the query that waits says so.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** It fails over to a synchronous standby: what was committed is there, on another timeline. */
  async promote(): Promise<void> {
    await this.part.kill();
    writeFileSync(join(this.folder, 'postgres', 'data', 'standby.signal'), '');
    await this.part.restart();
    await this.ask('select pg_promote()');
  }

  /** Nobody wants its data any more: it is not given the time to write them. */
  async stop(): Promise<void> {
    await this.part.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
