/**
 * Where the dev server comes from: the order, and what is said when there is none. Nothing here touches the network.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cachedCliPath, NoTemporalError, resolveTemporal, type ResolveOptions } from '../../../scripts/temporal-cli';

let folder: string;
let bin: string;
let env: NodeJS.ProcessEnv;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-cli-'));
  bin = join(folder, 'bin');
  env = { PATH: [join(folder, 'no-such-folder'), bin].join(':'), ORDER_SAGA_CACHE: join(folder, 'cache') };
  said = [];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function program(path: string, script = 'exit 0', mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, mode);
  return path;
}

const noNetwork = async (): Promise<string> => {
  throw new Error('no network');
};
const resolve = (options: ResolveOptions = {}) =>
  resolveTemporal({ env, say: (line) => said.push(line), download: noNetwork, ...options });

/** Builds what it is asked for by writing down how it was asked. */
const goodGo = 'echo "#!/bin/sh\n# $*" >> "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"';

/** What is in the cache beside the CLI itself. */
const leftBehind = () =>
  existsSync(join(folder, 'cache')) ? readdirSync(join(folder, 'cache'), { recursive: true }).sort() : [];

describe('the order', () => {
  it('a server that runs already needs no CLI', async () => {
    env['TEMPORAL_ADDRESS'] = 'temporal.internal:7233';
    env['TEMPORAL_CLI_PATH'] = '/no/such/file';
    expect(await resolve()).toEqual({ kind: 'address', address: 'temporal.internal:7233' });
  });

  it('the CLI that was chosen goes before one that is installed', async () => {
    program(join(bin, 'temporal'));
    env['TEMPORAL_CLI_PATH'] = program(join(folder, 'chosen'));
    expect(await resolve()).toEqual({ kind: 'cli', path: join(folder, 'chosen'), how: 'TEMPORAL_CLI_PATH' });
  });

  it.each([
    ['is not there', () => undefined],
    ['is not executable', (path: string) => program(path, '', 0o644)],
    ['is a folder', (path: string) => mkdirSync(path)],
  ])('a chosen CLI that %s is an error, whatever else there is', async (_what, make) => {
    program(join(bin, 'temporal'));
    const path = join(folder, 'chosen');
    make(path);
    env['TEMPORAL_CLI_PATH'] = path;
    await expect(resolve()).rejects.toThrow(
      new NoTemporalError(`TEMPORAL_CLI_PATH is set to ${path}, which is not an executable file`),
    );
  });

  it('one that is installed goes before the cache', async () => {
    program(cachedCliPath(env));
    program(join(bin, 'temporal'));
    expect(await resolve()).toEqual({ kind: 'cli', path: join(bin, 'temporal'), how: 'PATH' });
  });

  it('what only has the name is passed over', async () => {
    program(join(bin, 'temporal'), '', 0o644);
    mkdirSync(join(folder, 'no-such-folder', 'temporal'), { recursive: true });
    program(cachedCliPath(env));
    expect(await resolve()).toEqual({ kind: 'cli', path: cachedCliPath(env), how: 'cache' });
  });

  it('the cache goes before a download', async () => {
    program(cachedCliPath(env));
    const download = jest.fn(noNetwork);
    expect(await resolve({ download })).toMatchObject({ how: 'cache' });
    expect(download).not.toHaveBeenCalled();
  });

  it('a download goes before a build, and stays in the cache', async () => {
    program(join(bin, 'go'), goodGo);
    const download = jest.fn(async (into: string) => program(join(into, 'temporal-v0')));
    expect(await resolve({ download })).toEqual({ kind: 'cli', path: cachedCliPath(env), how: 'download' });
    expect(await resolve({ download })).toEqual({ kind: 'cli', path: cachedCliPath(env), how: 'cache' });
    expect(download).toHaveBeenCalledTimes(1);
    expect(leftBehind()).toEqual(['temporal-1.5.1-sqlite-1.51.0', 'temporal-1.5.1-sqlite-1.51.0/temporal']);
  });

  it('without a network it is built, which is said beforehand', async () => {
    program(join(bin, 'go'), goodGo);
    expect(await resolve()).toEqual({ kind: 'cli', path: cachedCliPath(env), how: 'go' });
    expect(said).toEqual(['building the Temporal CLI with Go (once, about three minutes)…']);
    const asked = readFileSync(cachedCliPath(env), 'utf8');
    expect(asked).toContain('get github.com/temporalio/cli/cmd/temporal@v1.5.1 modernc.org/sqlite@v1.51.0');
    expect(asked).toMatch(/install .* github.com\/temporalio\/cli\/cmd\/temporal$/m);
    expect(leftBehind()).toEqual(['temporal-1.5.1-sqlite-1.51.0', 'temporal-1.5.1-sqlite-1.51.0/temporal']);
  });
});

it('nothing helps: the error has every way with its command, and what was tried', async () => {
  program(join(bin, 'go'), 'echo half > "$GOBIN/temporal"; echo "go: cannot find module" >&2; exit 1');
  const error: unknown = await resolve().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NoTemporalError);
  const { message } = error as Error;
  expect(message).toContain('export TEMPORAL_ADDRESS=');
  expect(message).toContain('export TEMPORAL_CLI_PATH=');
  expect(message).toContain('go install github.com/temporalio/cli/cmd/temporal@v1.5.1');
  expect(message).toContain('download: no network');
  expect(message).toContain('go: go: cannot find module');
  expect(leftBehind()).toEqual(['temporal-1.5.1-sqlite-1.51.0']);
});

it('without Go the error says so', async () => {
  await expect(resolve()).rejects.toThrow('go: there is no `go` on PATH');
});

describe('several at once', () => {
  it('get it once, and all have it', async () => {
    const download = jest.fn(async (into: string) => program(join(into, 'temporal-v0')));
    const all = await Promise.all([resolve({ download }), resolve({ download }), resolve({ download })]);
    for (const temporal of all) expect(temporal).toMatchObject({ path: cachedCliPath(env) });
    expect(download).toHaveBeenCalledTimes(1);
  });

  it('do not wait for one that died', async () => {
    const { pid } = spawnSync('/bin/sh', ['-c', 'exit 0']);
    mkdirSync(join(folder, 'cache'));
    writeFileSync(join(folder, 'cache', 'temporal-1.5.1-sqlite-1.51.0.lock'), String(pid));
    program(join(bin, 'go'), goodGo);
    expect(await resolve()).toMatchObject({ how: 'go' });
  });
});

it.each([
  [
    'ORDER_SAGA_CACHE',
    { ORDER_SAGA_CACHE: '/c', XDG_CACHE_HOME: '/x', HOME: '/h' },
    '/c/temporal-1.5.1-sqlite-1.51.0/temporal',
  ],
  ['XDG_CACHE_HOME', { XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x/order-saga/temporal-1.5.1-sqlite-1.51.0/temporal'],
  ['HOME', { XDG_CACHE_HOME: '', HOME: '/h' }, '/h/.cache/order-saga/temporal-1.5.1-sqlite-1.51.0/temporal'],
])('the cache is where %s says', (_name, environment, path) => {
  expect(cachedCliPath(environment)).toBe(path);
});
