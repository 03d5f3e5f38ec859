/** A cache for programs that the project needs and does not ship; they are built once. */
import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A build takes three minutes on two cores with nothing cached; after this limit it hangs. */
const buildMaxMs = 20 * 60_000;
/** The holder of an older lock has died, whatever process has its id now. */
const lockMaxMs = buildMaxMs + 5 * 60_000;

export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const caches = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return env['ORDER_SAGA_CACHE'] || join(caches, 'order-saga');
}

/**
 * A folder of the cache with this program in it, which is made once. It gets its name only when it is whole.
 *
 * @param make fills a folder
 */
export async function cachedFolder(
  name: string,
  program: string,
  env: NodeJS.ProcessEnv,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cacheFolder(env), name);
  const isThere = () => existsSync(join(folder, program));
  if (isThere()) return folder;
  mkdirSync(cacheFolder(env), { recursive: true });
  await alone(`${folder}.lock`, async () => {
    // Another process may have made it while this one waited.
    if (isThere()) return;
    const making = mkdtempSync(`${folder}-`);
    try {
      await make(making);
      renameSync(making, folder);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  });
  return folder;
}

/**
 * Builds the packages of one Go module, `path@version` each, into the folder; each program is named for the last part
 * of its path.
 * @param announce is called if Go is installed, before the build, which takes long
 * @param newer modules, `path@version` each, that the packages are built with in place of the older ones that they ask
 * for
 * @throws when Go is not installed, or with the last line of its output
 */
export async function goInstall(
  packages: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  announce: () => void,
  newer: readonly string[] = [],
): Promise<void> {
  const go = onPath('go', env);
  if (go === undefined) throw new Error('there is no `go` on PATH');
  announce();
  // A module of its own: `go install path@version` takes no other version of anything.
  const module = mkdtempSync(join(folder, 'module-'));
  try {
    writeFileSync(join(module, 'go.mod'), 'module order-saga/programs\n\ngo 1.24\n');
    const run = (args: readonly string[]) =>
      endOf(
        spawn(go, args, {
          // A package may need a newer Go than this one, which fetches it like a module.
          env: { GOTOOLCHAIN: 'auto', ...env, GOBIN: folder },
          cwd: module,
          stdio: ['ignore', 'ignore', 'pipe'],
          timeout: buildMaxMs,
        }),
      );
    await run(['get', ...packages, ...newer]);
    const names = packages.map((name) => name.replace(/@.*/, ''));
    await run(['install', '-mod=mod', '-buildvcs=false', '-ldflags=-s -w', ...names]);
  } finally {
    rmSync(module, { recursive: true, force: true });
  }
}

/** @throws with the last line of its output, unless its status is 0 */
export async function endOf(child: ReturnType<typeof spawn>): Promise<void> {
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Error(errors.trim().split('\n').at(-1) || `it ended with ${signal ?? status}`));
    });
  });
}

/**
 * Does the work in one process at a time. Two at once would do no harm, so the lock of a dead process may be broken.
 */
export async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  while (!taken(lock)) {
    if (isLeftBehind(lock)) rmSync(lock, { force: true });
    else await pause(200);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function taken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** The holder has died, or the lock is so old that its process id must belong to another process. */
function isLeftBehind(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > lockMaxMs) return true;
    // A lock that has no id in it yet is read as 0, which is this process's own group.
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

export function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
