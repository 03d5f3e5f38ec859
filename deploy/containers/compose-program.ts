/** Compose v2: the engine's plugin, or built from its module into the project's cache. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { alone, cacheFolder, onPath } from '../../scripts/program-cache';
import { attempt, run } from './command';
import { NoContainersError } from './engine';

const source = join(__dirname, 'compose');

/** @returns the words that stand before `up`. @throws NoContainersError */
export async function resolveCompose(env: NodeJS.ProcessEnv): Promise<readonly [string, ...string[]]> {
  const plugin = await attempt('docker', ['compose', 'version', '--short'], { env, withinMs: 20_000 });
  if (plugin.status === 0 && /^v?2\.|^v?[3-9]\./.test(plugin.stdout.trim())) return ['docker', 'compose'];
  return [await built(), 'compose'];
}

async function built(): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'main.go']) hash.update(readFileSync(join(source, name)));
  const program = join(cacheFolder(), `compose-${hash.digest('hex').slice(0, 12)}`, 'compose');
  if (existsSync(program)) return program;
  if (onPath('go', process.env) === undefined)
    throw new NoContainersError('there is no `docker compose`, and no Go on PATH to build it with');
  mkdirSync(cacheFolder(), { recursive: true });
  return alone(`${dirname(program)}.lock`, async () => {
    // Somebody else may have built it while this process waited.
    if (existsSync(program)) return program;
    process.stderr.write('building Compose with Go (once, about two minutes)…\n');
    const making = mkdtempSync(`${dirname(program)}-`);
    try {
      cpSync(source, making, { recursive: true });
      // The module’s own versions of what it needs: `go build` alone would ask for a complete go.sum.
      await run('go', ['mod', 'tidy'], { cwd: making });
      await run('go', ['build', '-ldflags=-s -w', '-o', 'compose', '.'], { cwd: making, withinMs: 20 * 60_000 });
      renameSync(making, dirname(program));
      return program;
    } catch (error) {
      throw new NoContainersError(`Compose cannot be built: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  });
}
