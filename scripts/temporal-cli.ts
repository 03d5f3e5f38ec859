/**
 * Where the Temporal dev server comes from. It uses the first of these that exists:
 *
 *   TEMPORAL_ADDRESS        a running server; no CLI is needed
 *   TEMPORAL_CLI_PATH       exactly this CLI
 *   PATH                    an installed `temporal`
 *   the project's cache     what an earlier run put there
 *   a download              of the release, into the cache
 *   a build with Go         from the module's source, into the cache
 *
 *   tsx scripts/temporal-cli.ts    does this, then prints the address or the path
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, interceptors, request } from 'undici';
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

async function downloadCli(folder: string): Promise<void> {
  const machine = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const archive = `https://github.com/temporalio/cli/releases/download/v${cliVersion}/temporal_cli_${cliVersion}_${machine}.tar.gz`;
  const limits = { connect: { timeout: silenceMaxMs }, headersTimeout: silenceMaxMs, bodyTimeout: silenceMaxMs };
  const dispatcher = new EnvHttpProxyAgent(limits).compose(interceptors.redirect({ maxRedirections: 5 }));
  const { statusCode, body } = await request(archive, { dispatcher });
  if (statusCode !== 200) throw new Error(`it is answered with ${statusCode}`);
  const tar = spawn('tar', ['-xz', '-C', folder, 'temporal'], { stdio: ['pipe', 'ignore', 'pipe'] });
  await Promise.all([pipeline(body, tar.stdin), endOf(tar)]);
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
