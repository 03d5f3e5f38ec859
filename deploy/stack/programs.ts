/**
 * The programs of the stack: PostgreSQL's, which the system has, and Temporal's, built from their modules into the
 * project's cache under the names that they have in Temporal's images.
 *
 *   tsx deploy/stack/programs.ts         builds what is missing, prints where the server is
 *   tsx deploy/stack/programs.ts --ui    the Web UI too
 */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExpectedError, runProgram } from '../../scripts/program';
import { cachedFolder, cacheFolder, goInstall, isExecutable, onPath } from '../../scripts/program-cache';
import { readCompose } from '../compose';

/**
 * As docker-compose.yml has them. ORDER_SAGA_SERVER_VERSION and ORDER_SAGA_UI_VERSION name others that shall be tried.
 */
export const serverVersion = tagOf('temporal');
export const uiVersion = tagOf('ui');

export interface Programs {
  /** PostgreSQL's folder of programs. */
  postgres: string;
  /** `temporal-server` and `temporal-sql-tool`. */
  temporal: string;
  /** What the server is started with, as its image does it. */
  serverArgs: readonly string[];
}

/** The stack cannot be read here; the message says what to do. */
class NoStackError extends ExpectedError {}

/** A sentence where the stack cannot be read; undefined where it can, if need be after a build. */
function whyNoStack(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (postgresFolder(env) === undefined) return 'there is no PostgreSQL (Debian: the package postgresql)';
  if (existsSync(join(cacheFolder(env), serverName(env))) || onPath('go', env) !== undefined) return undefined;
  return 'there is no Temporal server in the cache, and no Go on PATH to build one with';
}

/** @returns a sentence where a start would have to build the server first, or where it cannot */
export function whyNotBuilt(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const isBuilt = existsSync(join(cacheFolder(env), serverName(env)));
  return whyNoStack(env) ?? (isBuilt ? undefined : 'the Temporal server of the stack is not built: npm run stack');
}

/** @throws NoStackError */
export async function resolvePrograms(env: NodeJS.ProcessEnv = process.env): Promise<Programs> {
  const [postgres, why] = [postgresFolder(env), whyNoStack(env)];
  if (postgres === undefined || why !== undefined) throw new NoStackError(why);
  const temporal = await built(serverName(env), env, {
    module: serverModule(env),
    programs: { 'cmd/server': 'temporal-server', 'cmd/tools/sql': 'temporal-sql-tool' },
    config: !hasItsConfig(env),
  });
  return { postgres, temporal, serverArgs: hasItsConfig(env) ? ['start'] : [...fromConfig(temporal), 'start'] };
}

/** @returns a folder with `temporal-ui-server` and its `config/`. @throws NoStackError */
export async function resolveUi(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const version = env['ORDER_SAGA_UI_VERSION'] || uiVersion;
  return built(`temporal-ui-${version}`, env, {
    module: `github.com/temporalio/ui-server/v2@v${version}`,
    programs: { 'cmd/server': 'temporal-ui-server' },
    config: true,
  });
}

/** What the server makes its settings of, for a file of one's own: it fills its environment in. */
export async function serverTemplate(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (!hasItsConfig(env)) return readFileSync(join(cacheFolder(env), serverName(env), 'config', 'docker.yaml'), 'utf8');
  const file = join(await sourcesOf(serverModule(env), env), 'common', 'config', 'config_template_embedded.yaml');
  return readFileSync(file, 'utf8');
}

/** For a program that makes its settings of the environment by a file of its image. */
export function fromConfig(folder: string): string[] {
  return ['--root', folder, '--config', 'config', '--env', 'docker'];
}

interface Source {
  module: string;
  /** By their package in the module: the name that each is to have. */
  programs: Record<string, string>;
  /** Whether the module's `config/docker.yaml` is wanted beside the programs. */
  config: boolean;
}

/** @param name of the folder in the cache */
async function built(name: string, env: NodeJS.ProcessEnv, { module, programs, config }: Source): Promise<string> {
  const [path, version] = module.split('@');
  const [first = ''] = Object.values(programs);
  return cachedFolder(name, first, env, async (making) => {
    for (const [inModule, called] of Object.entries(programs)) {
      const say = () => process.stderr.write(`building ${called} with Go (once, a minute or two)…\n`);
      await goInstall([`${path}/${inModule}@${version}`], making, env, say);
      renameSync(join(making, basename(inModule)), join(making, called));
    }
    if (config) await copyConfig(module, making, env);
  }).catch((error: unknown) => {
    throw new NoStackError(`${module} cannot be built: ${error instanceof Error ? error.message : String(error)}`);
  });
}

async function copyConfig(module: string, to: string, env: NodeJS.ProcessEnv): Promise<void> {
  mkdirSync(join(to, 'config'));
  copyFileSync(join(await sourcesOf(module, env), 'config', 'docker.yaml'), join(to, 'config', 'docker.yaml'));
}

async function sourcesOf(module: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
    env: { GOTOOLCHAIN: 'auto', ...env },
    cwd: tmpdir(),
  });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

const serverName = (env: NodeJS.ProcessEnv) => `temporal-server-${serverVersionOf(env)}`;

const serverModule = (env: NodeJS.ProcessEnv) => `go.temporal.io/server@v${serverVersionOf(env)}`;

function serverVersionOf(env: NodeJS.ProcessEnv): string {
  return env['ORDER_SAGA_SERVER_VERSION'] || serverVersion;
}

/** From 1.30 on, the server has the file in itself, and its image has none. */
function hasItsConfig(env: NodeJS.ProcessEnv): boolean {
  const [major = 0, minor = 0] = serverVersionOf(env).split('.').map(Number);
  return major > 1 || minor >= 30;
}

function tagOf(service: string): string {
  const { image = '' } = readCompose().services[service] ?? {};
  return image.slice(image.lastIndexOf(':') + 1);
}

/**
 * The folder that ORDER_SAGA_POSTGRES names, and no other; else the newest that can start a server. Debian keeps the
 * servers' programs off the PATH, a folder for each version.
 */
export function postgresFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const chosen = env['ORDER_SAGA_POSTGRES'];
  if (chosen) return canStart(chosen) ? chosen : undefined;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const installed = onPath('initdb', env);
  return [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(installed === undefined ? [] : [dirname(installed)]),
  ].find(canStart);
}

function canStart(folder: string): boolean {
  return isExecutable(join(folder, 'initdb')) && isExecutable(join(folder, 'postgres'));
}

async function main(): Promise<void> {
  const { temporal } = await resolvePrograms();
  if (process.argv.includes('--ui')) await resolveUi();
  console.log(temporal);
}

runProgram(module, main);
