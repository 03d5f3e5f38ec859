/** The environment of `psql`, and of scripts around it, for a server of a test's own. */
import { delimiter } from 'node:path';
import { postgresFolder } from '../../../deploy/stack/programs';
import type { PostgresServer } from '../../integration/journal/postgres';

export function asPsql(server: PostgresServer): Record<'PATH' | 'PGHOST' | 'PGPORT' | 'PGUSER' | 'PGPASSWORD', string> {
  const { hostname, port, username, password } = new URL(server.url());
  const path = [postgresFolder(), process.env['PATH']].join(delimiter);
  return { PATH: path, PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password };
}
