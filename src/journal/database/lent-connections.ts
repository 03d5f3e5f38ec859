/**
 * A pool of connections to PostgreSQL that lends only connections that answer, and that can write. `pg` alone takes back a connection that
 * has not answered in time, with an open transaction and a running query: the next call would wait for that query, and
 * would commit both transactions.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';

/** @param firstOf a query that each new connection runs before it is lent */
export function lendConnections(config: PoolConfig, firstOf: string): PostgresPool {
  const pool = new Pool({
    ...config,
    // The pool awaits it, although its type does not say so, and drops a connection where it fails.
    onConnect: ((client: PoolClient) => client.query(firstOf)) as (client: unknown) => void,
  });
  // The server may close a connection. Its user sees that in the running query; an idle connection is replaced by the
  // next query, or that query says why it cannot be.
  pool.on('error', () => undefined);
  /** After a failover some sessions stay where nothing can be written: all that are as old are replaced then. */
  let made = 0;
  let fitFrom = 0;
  const numbers = new WeakMap<PoolClient, number>();
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    numbers.set(client, (made += 1));
  });
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect();
    if ((numbers.get(client) ?? 0) >= fitFrom) return lent(client, () => (fitFrom = made + 1));
    client.release(true);
    return connect();
  };
  return { connect, end: () => pool.end() };
}

/** SQLSTATE: the session is at a standby, or may only read. */
const readOnly = '25006';

/** @param onReadOnly is told that the session cannot write */
function lent(client: PoolClient, onReadOnly: () => void): PostgresPoolClient {
  let silent: Error | undefined;
  let isReadOnly = false;
  const query = async (text: string, values: unknown[]) => {
    if (silent !== undefined) throw silent;
    // A commit whose wait for the synchronous standby was cancelled is only warned of: a failover may lose it. A statement
    // outside of a transaction commits by itself.
    const warnings: string[] = [];
    const hear = ({ code = '' }: { code?: string | undefined }) => {
      if (code.startsWith('01')) warnings.push(code);
    };
    const commits = /^\s*(commit|with|insert|update|delete)\b/i.test(text);
    if (commits) client.on('notice', hear);
    try {
      const result: unknown = await client.query({ ...preparedAs(text, values), text, values });
      if (warnings.length > 0)
        throw Object.assign(new Error('a commit may not have reached the standby'), { code: 'COMMIT_WARNED' });
      return result;
    } catch (error) {
      // If the server answers with an error, the connection works.
      if (!(error instanceof DatabaseError)) silent = error as Error;
      else if (error.code === changedSince) names.clear();
      else if (error.code === readOnly) {
        isReadOnly = true;
        onReadOnly();
      }
      throw error;
    } finally {
      if (commits) client.off('notice', hear);
    }
  };
  return {
    // The cursor overload is not used here.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => {
      client.release(silent ?? isReadOnly);
    },
  };
}

/** A migration has added to what a prepared statement returns: from then on all are prepared anew. */
const changedSince = '0A000';
const names = new Map<string, string>();
let named = 0;

/** A list makes another statement for each of its lengths: long ones are not kept. */
const preparedValuesMax = 40;

/** A connection knows a statement again by its name, and the server neither parses nor plans it once more. */
function preparedAs(text: string, values: unknown[]): { name?: string } {
  const isKept = /^\s*(select|with|insert|update|delete)\b/i.test(text) && values.length <= preparedValuesMax;
  if (!isKept) return {};
  const name = names.get(text) ?? `${(named += 1)}`;
  names.set(text, name);
  return { name };
}
