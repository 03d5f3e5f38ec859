/**
 * A Temporal dev server for tests, the demo and experiments, as a child that never outlives its parent.
 *
 *   parent ──IPC channel── tethered.mjs ── temporal server start-dev
 *
 * The SDK's own (TestWorkflowEnvironment) leaves its server behind when the parent is killed. Here the channel closes
 * with the parent, however it ends, and `tethered.mjs` then ends the server.
 *
 *   npm run temporal    a server at localhost:7233 with the Web UI, until Ctrl-C
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { holdProgram, readied } from './held-program';
import { runProgram } from './program';
import { assertFree, lowPorts, touch, untilNamespaceReady, untilPageReady } from './reachable';
import { NoTemporalError, resolveCli, resolveTemporal } from './temporal-cli';

/** Each start uses other ports. */
const startsMax = 5;

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  cli: string;
  /** @default any free port */
  port?: number;
  /** @default true */
  ui?: boolean;
  /** @default any free port */
  uiPort?: number;
  /** The codec server of the Web UI. */
  uiCodecEndpoint?: string;
  /** The server keeps its data in this file. @default in memory */
  dbFile?: string;
  /** Additional or other values. */
  dynamicConfig?: Record<string, unknown>;
  /** The server's output is appended to it. @default none; an error has the end of the output */
  logFile?: string;
}

export interface DevServer {
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** The process id of the server itself. */
  readonly pid: number;
  /** Ends the server, gracefully if it keeps a file. A second call changes nothing. */
  stop: () => Promise<void>;
  /** SIGKILL, as in a crash. */
  kill: () => Promise<void>;
}

export interface TemporalServer {
  readonly address: string;
  /** Undefined for a server that was already running. */
  readonly uiUrl: string | undefined;
  /** The CLI that started it; undefined for a server that was already running. */
  readonly cli: string | undefined;
  /** Does not stop a server that was already running. */
  stop: () => Promise<void>;
}

/**
 * Uses the server at TEMPORAL_ADDRESS, or starts one.
 * @throws NoTemporalError
 */
export async function provideTemporal(options: Omit<DevServerOptions, 'cli'> = {}): Promise<TemporalServer> {
  const temporal = await resolveTemporal();
  if (temporal.kind === 'address') {
    await touch(temporal.address).catch((error: unknown) => {
      throw new NoTemporalError(`no Temporal server answers at TEMPORAL_ADDRESS=${temporal.address}`, { cause: error });
    });
    return { address: temporal.address, uiUrl: undefined, cli: undefined, stop: () => Promise.resolve() };
  }
  const { address, uiUrl, stop } = await startDevServer({ ...options, cli: temporal.path });
  return { address, uiUrl, cli: temporal.path, stop };
}

/** @throws with the end of what the server wrote, when it cannot start */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  // Checked here: the server reports a port in use too late, when another program has already answered there.
  for (const port of [options.port, options.ui === false ? undefined : options.uiPort]) {
    if (port !== undefined) await assertFree(port);
  }
  for (let start = 1; ; start += 1) {
    const [anyPort = 0, anyUiPort = 0] = await lowPorts(2);
    const port = options.port ?? anyPort;
    const uiPort = options.ui === false ? undefined : (options.uiPort ?? anyUiPort);
    const where = {
      address: `127.0.0.1:${port}`,
      uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
    };
    const program = holdProgram(options.cli, argumentsFor(options, port, uiPort), {
      // It takes memory for a tenth less of processor time.
      GOGC: '400',
      // A server without a file has nothing to save, and a graceful end takes a second.
      ...(options.dbFile === undefined ? {} : { TETHERED_GRACE_MS: '5000' }),
      ...(options.logFile === undefined ? {} : { TETHERED_LOG_FILE: options.logFile }),
    });
    try {
      const held = await readied(program, async (signal) => {
        await untilNamespaceReady(where.address, 'default', signal);
        if (where.uiUrl !== undefined) await untilPageReady('the Web UI', where.uiUrl, signal);
      });
      return { ...where, ...held };
    } catch (error) {
      // Before a free port is used, another process may take it; the server may then end without a message.
      const lost = error instanceof Error && /address already in use|can't set .*port| ended$/.test(error.message);
      const chosen = options.port !== undefined || options.uiPort !== undefined;
      if (!lost || chosen || start === startsMax) throw error;
    }
  }
}

function argumentsFor(options: DevServerOptions, port: number, uiPort: number | undefined): string[] {
  const config = Object.entries({ ...dynamicConfig(), ...ofDevServers, ...options.dynamicConfig });
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.uiCodecEndpoint === undefined ? [] : ['--ui-codec-endpoint', options.uiCodecEndpoint]),
    // A write-ahead log makes a server with a file up to twice as fast.
    ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile, '--sqlite-pragma', 'journal_mode=WAL']),
    ...config.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
  ];
}

const ofDevServers = {
  // By default the server deletes a run only after it has acknowledged the run's other tasks, which takes four seconds.
  'history.transferProcessorEnsureCloseBeforeDelete': false,
  // By default it reads timers for a second ahead, and so fires each one that is shorter up to a second too late.
  'history.timerProcessorMaxTimeShift': '10ms',
  'history.timerProcessorMaxPollRPS': 1000,
};

/** The dynamic configuration of all our servers, also in production. */
function dynamicConfig(): Record<string, unknown> {
  const file = readFileSync(join(__dirname, '..', 'deploy', 'temporal', 'dynamic-config.yaml'), 'utf8');
  const settings = parse(file) as Record<string, { value: unknown }[]>;
  return Object.fromEntries(Object.entries(settings).map(([key, [setting]]) => [key, setting?.value]));
}

async function main(): Promise<void> {
  // This command always starts a server, also where TEMPORAL_ADDRESS is set.
  const server = await startDevServer({ cli: await resolveCli(), port: 7233, uiPort: 8233 });
  console.log(`Temporal ready: ${server.address}, Web UI ${server.uiUrl}`);
  const stillRunning = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(stillRunning);
  await server.stop();
}

runProgram(module, main);
