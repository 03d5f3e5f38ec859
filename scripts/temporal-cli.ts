/**
 * Finds the Temporal dev server, or makes it: the first of these that exists.
 *
 *   TEMPORAL_ADDRESS        a running server; no CLI is needed
 *   TEMPORAL_CLI_PATH       exactly this CLI
 *   PATH                    an installed `temporal`
 *   the project's cache     what an earlier run put there
 *   a download              by the SDK, into the cache
 *   a build with Go         from the module's source, into the cache
 *
 *   tsx scripts/temporal-cli.ts    does this, then prints the address or the path
 */
import { spawn } from 'node:child_process';
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ExpectedError, runProgram } from './program';
import { cachedFolder, endOf, goInstall, isExecutable, onPath } from './program-cache';

/** The release that this project is tested with; its server is 1.29.1. */
const cliVersion = '1.5.1';
const goModule = `github.com/temporalio/cli/cmd/temporal@v${cliVersion}`;
/**
 * With the driver that this release asks for (1.34.1), calls that are given up at a bad moment leave the dev server's
 * one connection to SQLite interrupted for good: from then on it answers every call with `interrupted (9)`. A CLI that
 * was downloaded has it still: start its server anew.
 */
const sqliteVersion = '1.51.0';

/** A missing network is often silent, so a download ends when no byte comes, and not when it is slow. */
const silenceMaxMs = 10_000;

export type Temporal = { kind: 'address'; address: string } | { kind: 'cli'; path: string };

/** There is no server, and none can be started; the message says what to do. */
export class NoTemporalError extends ExpectedError {}

/** @throws NoTemporalError */
export async function resolveTemporal({ env = process.env }: { env?: NodeJS.ProcessEnv } = {}): Promise<Temporal> {
  const address = env['TEMPORAL_ADDRESS'];
  return address ? { kind: 'address', address } : { kind: 'cli', path: await resolveCli(env) };
}

/** @returns the path of the CLI, also where TEMPORAL_ADDRESS names a server. @throws NoTemporalError */
export async function resolveCli(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const chosen = env['TEMPORAL_CLI_PATH'];
  if (chosen) {
    if (isExecutable(chosen)) return chosen;
    // No other CLI is tried: the operator wants exactly this one.
    throw new NoTemporalError(`TEMPORAL_CLI_PATH is set to ${chosen}, which is not an executable file`);
  }

  const installed = onPath('temporal', env);
  if (installed !== undefined) return installed;

  const name = `temporal-${cliVersion}-sqlite-${sqliteVersion}`;
  const folder = await cachedFolder(name, 'temporal', env, async (making) => {
    const tried: string[] = [];
    for (const [how, get] of Object.entries({ download: downloadCli, go: buildCli })) {
      try {
        return await get(making, env);
      } catch (error) {
        tried.push(`${how}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new NoTemporalError(whatToDo(tried));
  });
  return join(folder, 'temporal');
}

/**
 * The SDK downloads the CLI only to start a server, and waits for ever. So a process of its own does it, and is ended
 * when no byte comes; it has started no server before the file is complete.
 */
async function downloadCli(folder: string): Promise<void> {
  const script = join(__dirname, 'download-temporal.mjs');
  const child = spawn(process.execPath, [script, `v${cliVersion}`, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = endOf(child);
  const files = () => readdirSync(folder);
  // Until it is complete, the file has a temporary name.
  const complete = () => files().find((name) => name.endsWith(cliVersion));
  let [bytes, lastByteMs] = [0, Date.now()];
  while (!(await Promise.race([ended.then(() => true), pause(100, false)]))) {
    const now = files().reduce(
      (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    if (now !== bytes) [bytes, lastByteMs] = [now, Date.now()];
    if (complete() !== undefined || Date.now() - lastByteMs < silenceMaxMs) continue;
    child.kill('SIGKILL');
    await ended.catch(() => undefined);
    throw new Error('nothing came for ten seconds');
  }
  const name = complete();
  if (name === undefined) throw new Error('the SDK left nothing behind');
  renameSync(join(folder, name), join(folder, 'temporal'));
}

async function buildCli(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const announce = () => process.stderr.write('building the Temporal CLI with Go (once, about three minutes)…\n');
  await goInstall([goModule], folder, env, announce, [`modernc.org/sqlite@v${sqliteVersion}`]);
}

function whatToDo(tried: readonly string[]): string {
  return [
    'there is no Temporal server, and no CLI to start one. Any one of these helps:',
    '  a running server              export TEMPORAL_ADDRESS=localhost:7233',
    '  the Temporal CLI, installed   so that `temporal --version` works (docs.temporal.io/cli)',
    '  the Temporal CLI, elsewhere   export TEMPORAL_CLI_PATH=<its path>',
    `  the Go toolchain              go install ${goModule}`,
    '  a network                     then it is downloaded',
    'What was tried here:',
    ...tried.map((line) => `  ${line}`),
  ].join('\n');
}

async function main(): Promise<void> {
  const temporal = await resolveTemporal();
  console.log(temporal.kind === 'address' ? temporal.address : temporal.path);
}

runProgram(module, main);
