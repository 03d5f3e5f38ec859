/** Compose v2: the engine's plugin, or built from its module into the project's cache. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { alone, cacheFolder, onPath } from '../../scripts/program-cache';
import { attempt, run } from './command';
import { NoContainersError } from './engine';

const source = join(__dirname, 'compose');

/**
 * @param env with which `docker` finds the engine
 * @returns the PATH on which `docker compose` is Compose v2. @throws NoContainersError
 */
export async function resolveCompose(env: NodeJS.ProcessEnv): Promise<string> {
  const path = env['PATH'] ?? '';
  const plugin = await attempt('docker', ['compose', 'version', '--short'], { env, withinMs: 20_000 });
  if (plugin.status === 0 && /^v?2\.|^v?[3-9]\./.test(plugin.stdout.trim())) return path;
  return [await built(), path].join(delimiter);
}

/** @returns a folder with a `docker` that knows `compose`, too */
async function built(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'main.go']) hash.update(readFileSync(join(source, name)));
  const folder = join(cacheFolder(), `compose-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  if (onPath('go', process.env) === undefined)
    throw new NoContainersError('there is no `docker compose`, and no Go on PATH to build it with');
  mkdirSync(cacheFolder(), { recursive: true });
  return alone(`${folder}.lock`, async () => {
    // Somebody else may have built it while this process waited.
    if (existsSync(folder)) return folder;
    process.stderr.write('building Compose with Go (once, about two minutes)…\n');
    const making = mkdtempSync(`${folder}-`);
    try {
      cpSync(source, making, { recursive: true });
      // The module’s own versions of what it needs: `go build` alone would ask for a complete go.sum.
      await run('go', ['mod', 'tidy'], { cwd: making });
      await run('go', ['build', '-ldflags=-s -w', '-o', 'compose', '.'], { cwd: making, withinMs: 20 * 60_000 });
      writeFileSync(join(making, 'docker'), shim, { mode: 0o755 });
      renameSync(making, folder);
      return folder;
    } catch (error) {
      throw new NoContainersError(`Compose cannot be built: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  });
}

/** All else goes to the next `docker` on PATH. */
const shim = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" = compose ]; then exec "$here/compose" "$@"; fi
PATH=$(printf %s "$PATH" | sed "s|$here:||")
exec docker "$@"
`;
