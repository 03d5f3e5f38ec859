/**
 * The programs of the stack: PostgreSQL's, which the system has, and Temporal's, built from their modules into the
 * project's cache under the names that they have in Temporal's images.
 *
 *   tsx deploy/stack/programs.ts    builds what is missing
 */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { alone, cacheFolder, goInstall, isExecutable, onPath } from '../../scripts/program-cache';

/** The versions of docker-compose.yml; a test holds them to each other. */
export const serverVersion = '1.29.1';
export const uiVersion = '2.42.1';

export interface Programs {
  /** PostgreSQL's folder of programs. */
  postgres: string;
  /** `temporal-server` and `temporal-sql-tool`, and `config/`, as it is in the server's image. */
  temporal: string;
}

/** The stack cannot be read here; the message says what to do. */
export class NoStackError extends Error {}

/** A sentence where the stack cannot be read; undefined where it can, if need be after a build. */
export function whyNoStack(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (postgresFolder(env) === undefined) return 'there is no PostgreSQL (Debian: the package postgresql)';
  if (existsSync(serverFolder(env)) || onPath('go', env) !== undefined) return undefined;
  return 'there is no Temporal server in the cache, and no Go on PATH to build one with';
}

/** @throws NoStackError */
export async function resolvePrograms(env: NodeJS.ProcessEnv = process.env): Promise<Programs> {
  const [postgres, why] = [postgresFolder(env), whyNoStack(env)];
  if (postgres === undefined || why !== undefined) throw new NoStackError(why);
  const temporal = await built(serverFolder(env), env, {
    module: `go.temporal.io/server@v${serverVersion}`,
    programs: { 'cmd/server': 'temporal-server', 'cmd/tools/sql': 'temporal-sql-tool' },
  });
  return { postgres, temporal };
}

/** @returns a folder with `temporal-ui-server` and its `config/`. @throws NoStackError */
export async function resolveUi(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  return built(join(cacheFolder(env), `temporal-ui-${uiVersion}`), env, {
    module: `github.com/temporalio/ui-server/v2@v${uiVersion}`,
    programs: { 'cmd/server': 'temporal-ui-server' },
  });
}

interface Source {
  module: string;
  /** By their package in the module: the name that each is to have. */
  programs: Record<string, string>;
}

/** Beside the programs, the module's `config/docker.yaml`: it makes of the environment what the image's server is told. */
async function built(folder: string, env: NodeJS.ProcessEnv, { module, programs }: Source): Promise<string> {
  mkdirSync(dirname(folder), { recursive: true });
  return alone(`${folder}.lock`, async () => {
    // Somebody else may have built it while this process waited.
    if (existsSync(folder)) return folder;
    const making = mkdtempSync(`${folder}-`);
    try {
      const [path, version] = module.split('@');
      for (const [name, called] of Object.entries(programs)) {
        const say = () => process.stderr.write(`building ${called} with Go (once, a minute or two)…\n`);
        await goInstall([`${path ?? ''}/${name}@${version ?? ''}`], making, env, say);
        renameSync(join(making, basename(name)), join(making, called));
      }
      const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], { env, cwd: making });
      const { Dir: sources } = JSON.parse(stdout) as { Dir: string };
      mkdirSync(join(making, 'config'));
      copyFileSync(join(sources, 'config', 'docker.yaml'), join(making, 'config', 'docker.yaml'));
      // The name appears only when all is there.
      renameSync(making, folder);
      return folder;
    } catch (error) {
      throw new NoStackError(`${module} cannot be built: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  });
}

function serverFolder(env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env), `temporal-server-${serverVersion}`);
}

/** Debian keeps the servers' programs off the PATH, a folder for each version: the newest that can start one. */
export function postgresFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const installed = onPath('initdb', env);
  return [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(installed === undefined ? [] : [dirname(installed)]),
  ].find((folder) => isExecutable(join(folder, 'initdb')) && isExecutable(join(folder, 'postgres')));
}

async function main(): Promise<void> {
  const { temporal } = await resolvePrograms();
  console.log(temporal);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof NoStackError ? error.message : error);
    process.exitCode = 1;
  });
}
