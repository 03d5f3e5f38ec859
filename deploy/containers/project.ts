/** A copy of this project with an `.env` of its own, brought up by compose beside whatever else the engine runs. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt, run, succeeded, type Command, type Said } from './command';
import type { Engine } from './engine';
import { withoutDigest } from './images';
import type { Variables } from '../compose';

const root = join(__dirname, '..', '..');

/** Long enough to build our images on a busy machine. */
const upMaxMs = 20 * 60_000;

export interface ContainerState {
  Service: string;
  State: string;
  Health: string;
  ExitCode: number;
}

/** As the engine has it. */
export interface EngineState {
  Pid: number;
  StartedAt: string;
  Health?: { Status: string };
}

export class Project {
  private readonly envFile: string;

  private constructor(
    private readonly engine: Engine,
    private readonly composeEnv: NodeJS.ProcessEnv,
    readonly folder: string,
  ) {
    this.envFile = join(folder, '.env');
  }

  /** @param composeEnv what `docker` needs beside the engine's environment, so that it knows `compose` */
  static async copy(engine: Engine, composeEnv: NodeJS.ProcessEnv, hasStandIns: boolean): Promise<Project> {
    const folder = mkdtempSync(join(tmpdir(), 'order-saga-containers-'));
    const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const { stdout } = await run('git', listing, { cwd: root });
    for (const file of stdout.split('\0')) {
      if (file === '' || !existsSync(join(root, file))) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
    if (hasStandIns) {
      const file = join(folder, 'docker-compose.yml');
      writeFileSync(file, withoutDigest(readFileSync(file, 'utf8')));
    }
    await Project.clear(engine);
    return new Project(engine, composeEnv, folder);
  }

  /** As docs/deploying.md says it, then with what a person changes in it. */
  async makeEnv(changes: Variables): Promise<void> {
    await run('sh', ['-c', 'sh deploy/make-env.sh > .env'], { cwd: this.folder });
    this.changeEnv(changes);
  }

  changeEnv(changes: Variables): void {
    appendFileSync(
      this.envFile,
      Object.entries(changes)
        .map((entry) => `\n${entry.join('=')}`)
        .join(''),
    );
  }

  /** The last line of a name holds, as in compose. */
  readEnv(): Variables {
    const lines = readFileSync(this.envFile, 'utf8').matchAll(/^(\w+)=(.*)$/gm);
    return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  }

  /** Whatever its status. */
  attempt(
    args: readonly string[],
    { input = '', withinMs = upMaxMs }: { input?: string; withinMs?: number } = {},
  ): Promise<Said> {
    return attempt('docker', ['compose', ...args], { cwd: this.folder, env: this.env, input, withinMs });
  }

  /** As a person types it, in the project’s folder. */
  shell(line: string): Promise<Said> {
    return attempt('sh', ['-c', line], { cwd: this.folder, env: this.env });
  }

  /** No more than it needs: a variable of the caller would go before the one of `.env`. */
  private get env(): NodeJS.ProcessEnv {
    const { PATH, HOME, DOCKER_HOST, DOCKER_CONTEXT } = this.engine.env;
    const names = { COMPOSE_PROJECT_NAME: projectName, ORDER_SAGA_VERSION: version };
    return { PATH, HOME, DOCKER_HOST, DOCKER_CONTEXT, ...this.composeEnv, ...names };
  }

  readonly compose: Command = async (args, options = {}) =>
    succeeded(await this.attempt(args, options), ['docker', 'compose', ...args]);

  async up(...services: string[]): Promise<Said> {
    return this.compose(['--profile', 'sandbox', 'up', '--detach', '--wait', ...services]);
  }

  async states(): Promise<ContainerState[]> {
    const listed = linesOf(await this.compose(['--profile', '*', 'ps', '--all', '--format', 'json']));
    return listed.map((line) => JSON.parse(line) as ContainerState);
  }

  /** Asked of the engine: compose reads its file first, and that needs `.env`. */
  async containers(): Promise<string[]> {
    return linesOf(await this.docker(['ps', '--all', '--quiet', ...ofOurs]));
  }

  /** A command in the service’s running container. */
  inside(service: string, command: readonly string[], options: { user?: string; input?: string } = {}): Promise<Said> {
    const as = options.user === undefined ? [] : ['--user', options.user];
    return this.attempt(['exec', '-T', ...as, service, ...command], { input: options.input ?? '', withinMs: 300_000 });
  }

  /** Our command line, in the worker’s container. */
  cli(args: readonly string[], input = ''): Promise<Said> {
    return this.inside('worker', ['node', 'dist/starter.js', ...args], { input });
  }

  /** The engine's own view of the service's container. */
  async inspect(service: string, format: string): Promise<string> {
    const container = (await this.compose(['ps', '--all', '--quiet', service])).stdout.trim();
    return (await this.docker(['inspect', '--format', format, container])).stdout.trim();
  }

  async stateOf(service: string): Promise<EngineState> {
    return JSON.parse(await this.inspect(service, '{{json .State}}')) as EngineState;
  }

  /** Of the service’s data, whole: nobody may be using either volume. */
  async copyVolume(from: string, to: string): Promise<void> {
    const name = (volume: string) => `${projectName}_${volume}`;
    const image = await this.inspect('worker', '{{.Image}}');
    await this.docker(['volume', 'create', '--label', `com.docker.compose.project=${projectName}`, name(to)]);
    const mounts = ['--volume', `${name(from)}:/from:ro`, '--volume', `${name(to)}:/to`];
    const copy = 'find /to -mindepth 1 -delete && cp -a /from/. /to';
    await this.docker([
      'run',
      '--rm',
      '--user',
      '0',
      '--network',
      'none',
      ...mounts,
      '--entrypoint',
      'sh',
      image,
      '-c',
      copy,
    ]);
  }

  docker(args: readonly string[]): Promise<Said> {
    return this.engine.docker(args);
  }

  /**
   * Everything of it that the engine has, also what a run that was killed has left. Without compose, which would read
   * `.env`.
   */
  private static async clear({ docker, env }: Engine): Promise<void> {
    const clear = async (list: string, remove: string) => {
      const ids = linesOf(await docker([...list.split(' '), '--quiet', ...ofOurs]));
      if (ids.length > 0) await docker([...remove.split(' '), ...ids]);
    };
    await clear('ps --all', 'rm --force --volumes');
    await clear('volume ls', 'volume rm --force');
    await clear('network ls', 'network rm');
    // Compose builds what is not there; the layers stay in the builder’s cache.
    await attempt('docker', ['rmi', `order-saga:${version}`, `order-saga-sandbox:${version}`], { env });
  }

  async remove(): Promise<void> {
    await Project.clear(this.engine);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Not those of a project that somebody runs on this engine: its volumes would be deleted. */
const projectName = 'order-saga-containers';
const version = 'containers';
const ofOurs = ['--filter', `label=com.docker.compose.project=${projectName}`];

const linesOf = ({ stdout }: Said) => stdout.split('\n').filter(Boolean);
