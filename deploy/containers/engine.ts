/**
 * A Docker engine: the one that `docker` reaches already, or Debian's, started in a folder of its own. What is built in
 * ours stays in the project's cache, so that a second run is quick; nothing else of it is left.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ExpectedError } from '../../scripts/program';
import { cachedFolder, cacheFolder, goInstall, onPath } from '../../scripts/program-cache';
import { untilReady } from '../../scripts/reachable';
import { attempt, succeeded, type Command } from './command';

/** Containers cannot be run here; the message says what to do. */
export class NoContainersError extends ExpectedError {}

export interface Engine {
  /** In a few words, for a person. */
  readonly name: string;
  /** True if it was started here, and has nothing of anybody else's. */
  readonly isOurs: boolean;
  /** Its clients need this in their environment. */
  readonly env: NodeJS.ProcessEnv;
  /** @throws unless the status is 0 */
  docker: Command;
  stop: () => Promise<void>;
}

/** @throws NoContainersError */
export async function startEngine(): Promise<Engine> {
  if (onPath('docker', process.env) === undefined) throw new NoContainersError(whatIsMissing('docker'));
  const there = await attempt('docker', ['version', '--format', '{{.Server.Version}}'], { withinMs: 20_000 });
  if (there.status === 0) {
    const version = there.stdout.trim();
    const name = `the engine ${version} that was there`;
    return { ...clientsOf({}), name, isOurs: false, stop: () => Promise.resolve() };
  }
  return startOwn();
}

async function startOwn(): Promise<Engine> {
  for (const program of ['dockerd', 'containerd', 'runc', 'iptables'])
    if (onPath(program, process.env) === undefined) throw new NoContainersError(whatIsMissing(program));
  if (process.getuid?.() !== 0)
    throw new NoContainersError(
      'no Docker engine answers, and only root can start one: start Docker, or run this as root',
    );
  const data = join(cacheFolder(), 'containers', 'engine');
  mkdirSync(data, { recursive: true });
  // The path of a socket has at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), 'order-saga-docker-'));
  const [socket, pidFile, log] = ['sock', 'pid', 'log'].map((name) => join(folder, name)) as [string, string, string];
  const out = openSync(log, 'w');
  const daemon = spawn(
    'dockerd',
    [
      ...['--data-root', data, '--exec-root', join(folder, 'exec'), '--pidfile', pidFile, '--host', `unix://${socket}`],
      // An old engine cannot start a container if the machine's own limit is higher than this one.
      ...['--default-ulimit', 'nofile=20000:20000'],
    ],
    { stdio: ['ignore', out, out], detached: true },
  );
  closeSync(out);
  daemon.unref();
  const hasEnded = () => daemon.exitCode !== null || daemon.signalCode !== null;
  const stop = async () => {
    if (!hasEnded()) daemon.kill('SIGTERM');
    while (!hasEnded()) await pause(100);
    // The engine leaves its own network namespace mounted there.
    await attempt('umount', [join(folder, 'exec', 'netns', 'default')]);
    rmSync(folder, { recursive: true, force: true });
  };
  const clients = clientsOf({ DOCKER_HOST: `unix://${socket}` });
  try {
    await untilReady('dockerd', async () => {
      if (hasEnded()) return;
      await clients.docker(['version']);
    });
    if (hasEnded()) throw new Error('it ended');
  } catch {
    const said = readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n');
    await stop();
    throw new NoContainersError(`dockerd does not start here:\n${said}`);
  }
  const { stdout } = await clients.docker(['version', '--format', '{{.Server.Version}}']);
  return { ...clients, name: `an engine ${stdout.trim()} of its own`, isOurs: true, stop };
}

function clientsOf(more: NodeJS.ProcessEnv): Pick<Engine, 'env' | 'docker'> {
  const env = { ...process.env, ...more };
  const docker: Command = async (args, options) =>
    succeeded(await attempt('docker', args, { env, ...options }), ['docker', ...args]);
  return { env, docker };
}

function whatIsMissing(program: string): string {
  return `no Docker engine can be reached, and there is no \`${program}\` to start one with (Debian: the packages docker.io and iptables)`;
}

const composeVersion = '2.39.4';

/**
 * Compose v2: the engine's plugin, or where there is none, as with Debian's engine, built from its module into the
 * project's cache.
 *
 * @returns what `docker` needs in its environment beside the engine's, so that it knows `compose`
 * @throws NoContainersError
 */
export async function provideCompose(env: NodeJS.ProcessEnv): Promise<{ DOCKER_CONFIG?: string }> {
  const plugin = await attempt('docker', ['compose', 'version', '--short'], { env, withinMs: 20_000 });
  if (plugin.status === 0 && /^v?([2-9]|\d\d)\./.test(plugin.stdout.trim())) return {};
  const plugins = 'cli-plugins';
  const say = () => process.stderr.write('building Compose with Go (once, about two minutes)…\n');
  const config = await cachedFolder(`docker-compose-${composeVersion}`, plugins, process.env, async (making) => {
    await goInstall([`github.com/docker/compose/v2/cmd@v${composeVersion}`], making, process.env, say);
    mkdirSync(join(making, plugins));
    renameSync(join(making, 'cmd'), join(making, plugins, 'docker-compose'));
  }).catch((error: unknown) => {
    throw new NoContainersError(`there is no \`docker compose\`, and it cannot be built: ${(error as Error).message}`);
  });
  return { DOCKER_CONFIG: config };
}
