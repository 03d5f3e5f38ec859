import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SandboxClient } from '../../../sandbox/client';
import { call, cloudServer } from './calling';
import { itInWays } from '../../support/left-out';

// Node and the TypeScript loader start from nothing here, on a machine that may be busy with other tests.

const root = join(__dirname, '../../..');
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function run(settings: Record<string, string>) {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SANDBOX_')));
  const child = spawn(process.execPath, ['--import', 'tsx', 'sandbox/main.ts'], {
    cwd: root,
    env: { ...inherited, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string,
  }));
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const url = /^sandbox ready: (\S+)\n/.exec(said.out)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`It ended before it was ready: ${said.err}`)));
  });
  ready.catch(() => undefined);
  return { child, said, ended, ready };
}

describe('the sandbox as a process', () => {
  test('is ready with one line, takes its settings from the environment, and can be controlled', async () => {
    const { child, said, ended, ready } = run({
      SANDBOX_TOKEN: 'secret',
      SANDBOX_BASE_PATH: '/v1',
      SANDBOX_SERVERS: '[{"vmObjectId":77,"firewalls":[143]}]',
      SANDBOX_SETTINGS: '{"orderResponse":"ids"}',
      SANDBOX_LATENCY_MS: '1',
    });
    const url = await ready;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    const client = new SandboxClient(url);
    expect(await client.settings()).toMatchObject({ token: 'secret', orderResponse: 'ids', latencyMs: 1 });
    expect((await call({ url }, 'GET', '/firewalls/object/77')).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    expect((await call({ url }, 'POST', '/order/add-to-cart', cloudServer, headers)).status).toBe(200);
    const ledger = await client.ledger();
    expect(ledger.entries).toMatchObject([{ type: 'cartItemAdded', item: { password: cloudServer.password } }]);
    expect(ledger.seededServers).toMatchObject([{ vmObjectId: 77, firewalls: [143] }]);

    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(said.out).toBe(`sandbox ready: ${url}\n`);
    expect(said.err).toContain('POST /v1/order/add-to-cart 200');
    expect(said.err).toContain('stopping on SIGTERM');
    expect(said.err).not.toContain(cloudServer.password);
  });

  test('stops on SIGINT too, with calls hanging', async () => {
    const { child, ended, ready } = run({ SANDBOX_FAULT_RATE: '1', SANDBOX_FAULT_KINDS: 'hang-before' });
    const url = await ready;
    const broken = expect(call({ url }, 'POST', '/order/add-to-cart', cloudServer)).rejects.toThrow();
    const [strike] = await new SandboxClient(url).whenStruck('fault-1');
    expect(strike).toMatchObject({ kind: 'hang-before' });
    child.kill('SIGINT');
    expect(await ended).toEqual({ code: 0, signal: null });
    await broken;
  });

  itInWays('the seed decides which calls fail', async () => {
    const story = async (seed: string) => {
      const { ready } = run({
        SANDBOX_SEED: seed,
        SANDBOX_FAULT_RATE: '0.5',
        SANDBOX_FAULT_KINDS: 'error-before,forbidden',
      });
      const url = await ready;
      const statuses: number[] = [];
      for (let nth = 0; nth < 20; nth++) statuses.push((await call({ url }, 'GET', '/firewalls/object/1')).status);
      return statuses;
    };
    const [first, again, other] = await Promise.all([story('7'), story('7'), story('8')]);
    expect(new Set(first)).toEqual(new Set([403, 404, 500]));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test('says in one sentence that its port is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { said, ended } = run({ SANDBOX_PORT: String(port) });
    expect((await ended).code).toBe(1);
    expect(said.err).toBe(
      `The sandbox cannot start: port ${port} is in use; set SANDBOX_PORT to another port, or to 0 for any free port\n`,
    );
    expect(said.out).toBe('');
    await new Promise((resolve) => holder.close(resolve));
  });

  test('lists every setting that is wrong, and starts nothing', async () => {
    const { said, ended } = run({
      SANDBOX_PORT: 'http',
      SANDBOX_BASE_PATH: 'v1/',
      SANDBOX_FAULT_RATE: '2',
      SANDBOX_FAULT_KINDS: 'gate',
      SANDBOX_SERVERS: '[{}]',
      SANDBOX_SETTINGS: '{',
    });
    expect((await ended).code).toBe(1);
    expect(said.out).toBe('');
    for (const name of ['PORT', 'BASE_PATH', 'FAULT_RATE', 'FAULT_KINDS', 'SERVERS', 'SETTINGS']) {
      expect(said.err).toMatch(new RegExp(`^  SANDBOX_${name}`, 'm'));
    }
  });
});
