/** PostgreSQL from the system's packages, on this machine's own address, with what docker-compose.yml tells its own. */
import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { holdProgram, readied } from '../../scripts/held-program';
import { untilReady } from '../../scripts/reachable';
import { Part } from './part';

const run = promisify(execFile);

/** A restart comes into a crash: until the last of the dead server's processes is gone, a new one is refused. */
const stillDying = /pre-existing shared memory block|lock file .* already exists/;

export interface PostgresOptions {
  /** PostgreSQL's folder of programs. */
  programs: string;
  /** Is made; everything is kept in it. */
  folder: string;
  port: string;
  user: string;
  password: string;
  /** As after `postgres` on its command line. */
  args: readonly string[];
}

export async function startPostgres({ programs, folder, port, user, password, args }: PostgresOptions): Promise<Part> {
  mkdirSync(folder);
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (isRoot()) for (const path of [folder, passwordFile]) chownSync(path, idOf('-u'), idOf('-g'));
  const data = join(folder, 'data');
  const [command, prefix] = asPostgres();
  await run(command, [
    ...[...prefix, join(programs, 'initdb'), '--pgdata', data, '--username', user, '--pwfile', passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--no-locale'],
  ]);
  const listening = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder };
  const server = [
    ...[...prefix, join(programs, 'postgres'), '-D', data, ...args],
    ...Object.entries(listening).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const settings = {
    // It ends when its last client has gone; the Temporal server is ended before it, or together with it.
    TETHERED_GRACE_MS: '5000',
    TETHERED_LOG_FILE: `${folder}.log`,
  };
  const isReady = () => run(join(programs, 'pg_isready'), ['--host', '127.0.0.1', '--port', port]);
  return Part.start(async () => {
    for (;;) {
      try {
        return await readied(holdProgram(command, server, settings), (signal) =>
          untilReady('PostgreSQL', isReady, signal),
        );
      } catch (error) {
        if (!(error instanceof Error && stillDying.test(error.message))) throw error;
      }
    }
  });
}

export interface Access {
  user: string;
  password: string;
  port: string;
  database: string;
}

/** @param programs PostgreSQL's folder of programs */
export async function askPostgres(
  programs: string,
  { user, password, port, database }: Access,
  statement: string,
): Promise<string> {
  const where = ['--host', '127.0.0.1', '--port', port, '--username', user, '--dbname', database];
  const { stdout } = await run(
    join(programs, 'psql'),
    [...where, '--no-psqlrc', '--tuples-only', '--no-align', '--field-separator', '\t', '--command', statement],
    { env: { ...process.env, PGPASSWORD: password } },
  );
  return stdout.trim();
}

const isRoot = () => process.getuid?.() === 0;

/**
 * PostgreSQL refuses to run as root, and its package has made a user for it.
 *
 * @returns a command, and its arguments before those of the program
 */
export function asPostgres(): [string, string[]] {
  if (!isRoot()) return ['env', []];
  return ['setpriv', ['--reuid=postgres', '--regid=postgres', '--init-groups']];
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
