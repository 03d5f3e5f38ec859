/**
 * A pool of connections to PostgreSQL that lends only those that answer. `pg` alone puts a connection back that has not answered in
 * time, with a transaction open in it and its old question still under way: the next call would wait for that, and what it commits
 * would be both transactions.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { DatabaseError, Pool, type PoolClient, type PoolConfig } from 'pg';

/** @param firstOf is asked of each new connection before it is lent */
export function lendConnections(config: PoolConfig, firstOf: string): PostgresPool {
  const pool = new Pool({
    ...config,
    // Awaited by the pool, whatever its type says; a connection that fails it is given up.
    onConnect: ((client: PoolClient) => client.query(firstOf)) as (client: unknown) => void,
  });
  // A connection that the server ends: who uses it hears of it from the question that is under way, and otherwise the next question
  // opens another one, or says why it cannot.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  return {
    connect: async () => lent(await pool.connect()),
    end: () => pool.end(),
  };
}

function lent(client: PoolClient): PostgresPoolClient {
  let silent: Error | undefined;
  const query = async (text: string, values: unknown[]) => {
    if (silent !== undefined) throw silent;
    try {
      return await client.query(text, values);
    } catch (error) {
      // What the server says it says on a connection that works.
      if (!(error instanceof DatabaseError)) silent = error as Error;
      throw error;
    }
  };
  return {
    // There are no cursors here.
    query: query as unknown as PostgresPoolClient['query'],
    release: () => {
      client.release(silent);
    },
  };
}
