/**
 * Where the Temporal dev server comes from. It uses the first of these that exists:
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
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { alone, cacheFolder, endOf, goInstall, isExecutable, onPath } from './program-cache';

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
const downloadSilenceMaxMs = 10_000;
const downloadMaxMs = 5 * 60_000;

export type TemporalSource = 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'go';

export type Temporal = { kind: 'address'; address: string } | { kind: 'cli'; path: string; how: TemporalSource };

export interface ResolveOptions {
  /** @default process.env */
  env?: NodeJS.ProcessEnv;
  /** Called with one line before something that takes long. @default standard error */
  say?: (line: string) => void;
  /** Puts the CLI into the folder. @returns its path @default the SDK's download */
  download?: (folder: string) => Promise<string>;
}

/** There is no server, and none can be started; the message says what to do. */
export class NoTemporalError extends Error {}

/** @throws NoTemporalError */
export async function resolveTemporal({
  env = process.env,
  say = (line) => process.stderr.write(`${line}\n`),
  download = downloadCli,
}: ResolveOptions = {}): Promise<Temporal> {
  const address = env['TEMPORAL_ADDRESS'];
  if (address) return { kind: 'address', address };

  const chosen = env['TEMPORAL_CLI_PATH'];
  if (chosen) {
    if (isExecutable(chosen)) return { kind: 'cli', path: chosen, how: 'TEMPORAL_CLI_PATH' };
    // No other CLI is tried: the operator wants exactly this one.
    throw new NoTemporalError(`TEMPORAL_CLI_PATH is set to ${chosen}, which is not an executable file`);
  }

  const installed = onPath('temporal', env);
  if (installed !== undefined) return { kind: 'cli', path: installed, how: 'PATH' };

  const cached = cachedCliPath(env);
  if (isExecutable(cached)) return { kind: 'cli', path: cached, how: 'cache' };

  mkdirSync(dirname(cached), { recursive: true });
  return alone(`${dirname(cached)}.lock`, async () => {
    // Another process may have got it while this one waited.
    if (isExecutable(cached)) return { kind: 'cli', path: cached, how: 'cache' };
    const tried: string[] = [];
    for (const [how, get] of [
      ['download', download],
      ['go', (folder: string) => buildCli(folder, env, say)],
    ] as const) {
      const folder = mkdtempSync(join(dirname(cached), `${how}-`));
      try {
        // The name appears only when the file is whole: a rename inside one folder is atomic.
        renameSync(await get(folder), cached);
        return { kind: 'cli', path: cached, how };
      } catch (error) {
        tried.push(`${how}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
    throw new NoTemporalError(whatToDo(tried));
  });
}

function cachedCliPath(env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFolder(env), `temporal-${cliVersion}-sqlite-${sqliteVersion}`, 'temporal');
}

/**
 * The SDK downloads the CLI only to start a server, and waits for ever. So a process of its own does it, and is ended
 * when no byte comes; it has started no server before the file is complete.
 */
async function downloadCli(folder: string): Promise<string> {
  const script = join(__dirname, 'download-temporal.mjs');
  const child = spawn(process.execPath, [script, `v${cliVersion}`, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = endOf(child);
  // Until it is complete, the file has a temporary name.
  const complete = () => readdirSync(folder).find((name) => name.endsWith(cliVersion));
  const started = Date.now();
  let [bytes, lastByteAt] = [0, started];
  while (!(await Promise.race([ended.then(() => true), pause(100, false)]))) {
    const now = Date.now();
    const bytesNow = bytesIn(folder);
    if (bytesNow !== bytes) [bytes, lastByteAt] = [bytesNow, now];
    if (complete() !== undefined) continue;
    const silent = now - lastByteAt > downloadSilenceMaxMs;
    if (silent || now - started > downloadMaxMs) {
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
      throw new Error(silent ? 'nothing came for ten seconds' : 'not finished after five minutes');
    }
  }
  const name = complete();
  if (name === undefined) throw new Error('the SDK left nothing behind');
  return join(folder, name);
}

async function buildCli(folder: string, env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  const announce = () => say('building the Temporal CLI with Go (once, about three minutes)…');
  await goInstall([goModule], folder, env, announce, [`modernc.org/sqlite@v${sqliteVersion}`]);
  return join(folder, 'temporal');
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

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

async function main(): Promise<void> {
  const temporal = await resolveTemporal();
  console.log(temporal.kind === 'address' ? temporal.address : temporal.path);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof NoTemporalError ? error.message : error);
    process.exitCode = 1;
  });
}
