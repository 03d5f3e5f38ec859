/** Programs that the project needs and does not ship: where each run looks for them, and how they are built there once. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Three minutes on two cores with nothing cached; beyond this it hangs on something. */
const buildMaxMs = 20 * 60_000;
/** A holder that has had its program for this long has died, whatever its number says. */
const lockMaxMs = buildMaxMs + 5 * 60_000;

export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const caches = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return env['ORDER_SAGA_CACHE'] || join(caches, 'order-saga');
}

/**
 * Builds the packages of one Go module into the folder; each program bears the last part of its package's path.
 * @param announce is called when there is a Go to build with: it takes long
 * @throws when there is none, or with the last line that it wrote
 */
export async function goInstall(
  packages: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  announce: () => void,
): Promise<void> {
  const go = onPath('go', env);
  if (go === undefined) throw new Error('there is no `go` on PATH');
  announce();
  const child = spawn(go, ['install', '-ldflags=-s -w', ...packages], {
    env: { ...env, GOBIN: folder },
    // Outside of any module: a go.mod above the current folder is none of its business.
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: buildMaxMs,
  });
  await endOf(child);
}

/** @throws with the last line that it wrote, unless it ended well */
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

/** The work, in one process at a time. Two at once would only be a waste, which is why a lock of the dead may be broken. */
export async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const mine = `${lock}.${randomUUID()}`;
  writeFileSync(mine, String(process.pid));
  try {
    while (!taken(lock, mine)) {
      if (isLeftBehind(lock)) rmSync(lock, { force: true });
      else await pause(200);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** A link appears together with its content, so that nobody reads a lock without a holder. */
function taken(lock: string, mine: string): boolean {
  try {
    linkSync(mine, lock);
    return true;
  } catch {
    return false;
  }
}

/** Its holder died, or is so old that its number now belongs to somebody else. */
function isLeftBehind(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > lockMaxMs) return true;
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
