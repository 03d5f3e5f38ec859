/**
 * A Temporal dev server for tests, the demo and trying things out, as a child that never outlives its parent.
 *
 *   parent ──IPC channel── tethered.mjs ── temporal server start-dev
 *
 * The SDK's own (TestWorkflowEnvironment) leaves its server behind when the parent is killed; here the channel breaks
 * with the parent, however it ends, and the one in the middle then ends the server.
 *
 *   npm run temporal    one at localhost:7233 with the Web UI, until Ctrl-C
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Connection } from '@temporalio/client';
import { NoTemporalError, resolveTemporal, type ResolveOptions } from './temporal-cli';

/** What the server is told beyond its defaults. It accepts a misspelt key in silence. */
const dynamicConfig: Record<string, unknown> = {
  // As shipped, each shard polls for what comes next 20 times a second, and a dev server has few shards: a saga that
  // runs alone then waits ten times as long as it works.
  'history.transferProcessorMaxPollRPS': 1000,
  // With more partitions than pollers a task can land in one that nobody polls, and stays there for seconds.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // An activity goes straight to the worker that asked for it, without a way round through the task queue.
  'system.enableActivityEagerExecution': true,
};

/** On a quiet machine it takes less than a second. */
const readyMaxMs = 60_000;
/** One answer; what does not come by then is asked for again. */
const answerMaxMs = 5_000;
/** Each with other ports. */
const startsMax = 5;

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  cli: string;
  /** Created with the server, beside `default`. @default 'default' */
  namespace?: string;
  /** @default any that is free */
  port?: number;
  /** @default true */
  ui?: boolean;
  /** @default any that is free */
  uiPort?: number;
  /** Where the Web UI has payloads decoded and encoded. */
  uiCodecEndpoint?: string;
  /** Keeps everything beyond the server's end. @default in memory */
  dbFile?: string;
  searchAttributes?: Record<string, 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList'>;
  /** More of it, or other values. */
  dynamicConfig?: Record<string, unknown>;
  /** What the server writes is added to it. @default swallowed, but for the end of it in an error */
  logFile?: string;
}

export interface DevServer {
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** The server's own process. */
  readonly pid: number;
  /** Ends it, and in good order where it keeps a file. A second call changes nothing. */
  stop: () => Promise<void>;
  /** SIGKILL, as in a crash. */
  kill: () => Promise<void>;
}

export interface TemporalServer {
  readonly address: string;
  /** Unknown for a server that ran before. */
  readonly uiUrl: string | undefined;
  /** The CLI that started it; a server that ran before needs none. */
  readonly cli: string | undefined;
  /** Leaves a server that ran before alone. */
  stop: () => Promise<void>;
}

/**
 * The server of TEMPORAL_ADDRESS, or one of its own.
 * @throws NoTemporalError
 */
export async function provideTemporal(
  options: Omit<DevServerOptions, 'cli'> = {},
  resolving: ResolveOptions = {},
): Promise<TemporalServer> {
  const temporal = await resolveTemporal(resolving);
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
  // Asked here and not of the server: its answer comes while somebody else's program already answers at that port.
  for (const port of [options.port, options.ui === false ? undefined : options.uiPort]) {
    if (port !== undefined) await assertFree(port);
  }
  for (let start = 1; ; start += 1) {
    const [anyPort, anyUiPort] = await freePorts();
    const port = options.port ?? anyPort;
    const uiPort = options.ui === false ? undefined : (options.uiPort ?? anyUiPort);
    const held = await hold(options.cli, argumentsFor(options, port, uiPort), {
      // With nothing but memory there is no good order to end in, and going through the motions takes a second.
      ...(options.dbFile === undefined ? {} : { TETHERED_GRACE_MS: '5000' }),
      ...(options.logFile === undefined ? {} : { TETHERED_LOG_FILE: options.logFile }),
    });
    const server = {
      address: `127.0.0.1:${String(port)}`,
      uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${String(uiPort)}`,
      ...held,
    };
    const waiting = new AbortController();
    const ready = untilReady(server, options.namespace ?? 'default', waiting.signal);
    try {
      await Promise.race([ready, held.failed]);
      held.release();
      return server;
    } catch (error) {
      waiting.abort();
      await Promise.allSettled([ready, server.stop()]);
      // Between being found free and being used, a port may go to somebody else.
      const lost = error instanceof Error && /address already in use|can't set .*port/.test(error.message);
      const chosen = options.port !== undefined || options.uiPort !== undefined;
      if (!lost || chosen || start === startsMax) throw error;
    }
  }
}

function argumentsFor(options: DevServerOptions, port: number, uiPort: number | undefined): string[] {
  const pairs = (flag: string, values: Record<string, string>) =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]);
  const config = Object.entries({ ...dynamicConfig, ...options.dynamicConfig });
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.uiCodecEndpoint === undefined ? [] : ['--ui-codec-endpoint', options.uiCodecEndpoint]),
    ...(options.namespace === undefined ? [] : ['--namespace', options.namespace]),
    // The write-ahead log makes a server with a file up to twice as fast.
    ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile, '--sqlite-pragma', 'journal_mode=WAL']),
    ...pairs('--search-attribute', options.searchAttributes ?? {}),
    ...pairs('--dynamic-config-value', Object.fromEntries(config.map(([key, value]) => [key, JSON.stringify(value)]))),
  ];
}

interface Held extends Pick<DevServer, 'pid' | 'stop' | 'kill'> {
  /** Never resolves; rejects when the program ends. */
  failed: Promise<never>;
  /** From now on it does not keep this process from ending. */
  release: () => void;
}

/** Starts the program behind `tethered.mjs`, which has the settings. */
async function hold(command: string, args: readonly string[], settings: Record<string, string>): Promise<Held> {
  const tether = fork(join(__dirname, 'tethered.mjs'), [command, ...args], {
    // No loaders of the parent's, and a group of its own: Ctrl-C is for the parent, which may still need the server.
    execArgv: [],
    detached: true,
    stdio: 'ignore',
    env: { ...withoutTemporal(process.env), ...settings },
  });
  const exited = once(tether, 'exit');
  const failed = untilEnded(tether, command);
  // Only whoever still waits for readiness wants to hear of it.
  failed.catch(() => undefined);
  const pid = await Promise.race([untilRunning(tether), failed]);
  return {
    pid,
    failed,
    release: () => {
      tether.unref();
      tether.channel?.unref();
    },
    stop: async () => {
      tether.ref();
      if (tether.connected) tether.disconnect();
      await exited;
    },
    kill: async () => {
      tether.ref();
      if (tether.exitCode === null && tether.signalCode === null) process.kill(pid, 'SIGKILL');
      await exited;
    },
  };
}

interface Told {
  pid?: number;
  ended?: string;
  said?: string;
}

async function untilRunning(tether: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    tether.on('message', ({ pid }: Told) => {
      if (pid !== undefined) resolve(pid);
    });
  });
}

async function untilEnded(tether: ChildProcess, command: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    tether.on('message', ({ ended, said }: Told) => {
      if (ended !== undefined)
        reject(new Error(`${command} ended (${ended}) ${said ? `with:\n${said}` : 'in silence'}`));
    });
    tether.once('error', reject);
    tether.once('exit', () => {
      reject(new Error(`${command} ended`));
    });
  });
}

/** Ready is: a client can list the namespace's workflows, and the Web UI answers. */
async function untilReady(
  { address, uiUrl }: Pick<DevServer, 'address' | 'uiUrl'>,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + readyMaxMs;
  const retry = async (what: string, attempt: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw new Error(`${what} is not ready after a minute`, { cause: error });
        await pause(50, undefined, { signal });
      }
    }
  };
  // First a bare socket: a gRPC channel that is refused once waits a second before it tries again.
  await retry(`the Temporal server at ${address}`, () => touch(address));
  const connection = Connection.lazy({ address });
  try {
    await retry(`the namespace ${namespace} at ${address}`, () =>
      connection.withDeadline(Date.now() + answerMaxMs, () =>
        connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 }),
      ),
    );
  } finally {
    await connection.close();
  }
  if (uiUrl === undefined) return;
  await retry(`the Web UI at ${uiUrl}`, async () => {
    const { ok, status } = await fetch(uiUrl, { signal: AbortSignal.timeout(answerMaxMs) });
    if (!ok) throw new Error(`it answers ${String(status)}`);
  });
}

async function touch(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

async function assertFree(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    throw new Error(`port ${String(port)} cannot be had: it is in use`, { cause: error });
  }
  await once(server.close(), 'close');
}

/** Two, and they differ: both are held until both are known. */
async function freePorts(): Promise<[number, number]> {
  const [one, other] = [createServer(), createServer()];
  for (const server of [one, other]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const ports = [one, other].map((server) => (server.address() as AddressInfo).port);
  for (const server of [one, other]) await once(server.close(), 'close');
  return ports as [number, number];
}

/** The CLI reads settings of the same names as our own processes do; a server has no use for them. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '7233' },
      'ui-port': { type: 'string', default: '8233' },
      'ui-codec-endpoint': { type: 'string' },
      'db-file': { type: 'string' },
      namespace: { type: 'string' },
    },
  });
  // A server of one's own is what is asked for here, whatever others run already.
  const temporal = await resolveTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
  if (temporal.kind !== 'cli') return;
  const server = await startDevServer({
    cli: temporal.path,
    port: Number(values.port),
    uiPort: Number(values['ui-port']),
    ...(values['ui-codec-endpoint'] === undefined ? {} : { uiCodecEndpoint: values['ui-codec-endpoint'] }),
    ...(values['db-file'] === undefined ? {} : { dbFile: values['db-file'] }),
    ...(values.namespace === undefined ? {} : { namespace: values.namespace }),
  });
  console.log(`Temporal ready: ${server.address}, Web UI ${server.uiUrl ?? 'off'}`);
  const stillRunning = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(stillRunning);
  await server.stop();
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error instanceof NoTemporalError ? error.message : error);
    process.exitCode = 1;
  });
}
