/** Our own dev server: ready when it says so, gone when it should be, whichever way its parent ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { provideTemporal, startDevServer } from '../../../scripts/dev-server';
import { isRunning } from '../../support/is-running';
import { itInWays, takesWays, unless } from '../../support/left-out';

const root = join(__dirname, '..', '..', '..');
const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'] ?? '';
/** With a server from elsewhere (TEMPORAL_ADDRESS) there need not be a CLI on this machine. */
const describeWithCli = unless(cli === '' ? 'TEMPORAL_ADDRESS names a server, and no CLI is here' : undefined);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-saga-server-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function untilGone(pid: number): Promise<void> {
  while (isRunning(pid)) await pause(20);
}

async function withConnection<T>(address: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

describeWithCli('a dev server', () => {
  it('is ready with its namespace, search attributes and Web UI, and gone after the stop', async () => {
    const server = await startDevServer({
      cli,
      namespace: 'orders',
      searchAttributes: { Colour: 'Keyword' },
    });
    const { customAttributes } = await withConnection(server.address, ({ operatorService }) =>
      operatorService.listSearchAttributes({ namespace: 'orders' }),
    );
    expect(Object.keys(customAttributes)).toContain('Colour');
    expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
    expect(isRunning(server.pid)).toBe(true);

    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
    await server.stop();
    await server.kill();
  });

  itInWays('keeps what is in its file through a crash, at the same address', async () => {
    const dbFile = join(folder, 'temporal.db');
    const first = await startDevServer({ cli, dbFile, ui: false });
    expect(first.uiUrl).toBeUndefined();
    await withConnection(first.address, ({ workflowService }) =>
      workflowService.registerNamespace({ namespace: 'kept', workflowExecutionRetentionPeriod: msToTs('24 hours') }),
    );
    await first.kill();
    expect(isRunning(first.pid)).toBe(false);

    const port = Number(first.address.split(':')[1]);
    const second = await startDevServer({ cli, dbFile, ui: false, port });
    const { namespaceInfo } = await withConnection(second.address, ({ workflowService }) =>
      workflowService.describeNamespace({ namespace: 'kept' }),
    );
    expect(namespaceInfo?.name).toBe('kept');
    await second.stop();
  });

  const ends = [
    ['is killed', 'wait', 'SIGKILL'],
    ['is terminated', 'wait', 'SIGTERM'],
    ['is interrupted', 'wait', 'SIGINT'],
    ['comes to its end without a stop', 'end', undefined],
    ['calls exit', 'exit', undefined],
    ['throws', 'throw', undefined],
  ] as const;
  it.each(takesWays ? ends : ends.slice(0, 1))('does not outlive a parent that %s', async (_what, ending, signal) => {
    const program = join(__dirname, 'dev-server-parent.ts');
    const parent = spawn(process.execPath, ['--import', 'tsx', program, cli, ending], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(parent, 'exit');
    const printed = await Promise.race([once(parent.stdout, 'data'), exited]);
    const pid = Number(String(printed[0]));
    expect(pid).toBeGreaterThan(1);
    if (signal !== undefined) {
      expect(isRunning(pid)).toBe(true);
      parent.kill(signal);
    }
    await exited;
    await untilGone(pid);
  });

  it('takes other ports when somebody was faster', async () => {
    const mark = join(folder, 'was-here');
    const unlucky = script(
      'temporal',
      `if [ ! -e ${mark} ]; then : > ${mark}; echo "listen tcp 127.0.0.1:1: bind: address already in use" >&2; exit 1; fi
       exec ${cli} "$@"`,
    );
    const server = await startDevServer({ cli: unlucky, ui: false });
    await withConnection(server.address, ({ workflowService }) => workflowService.getSystemInfo({}));
    await server.stop();
  });

  it('does not start on a chosen port that is taken, and says so', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    await expect(startDevServer({ cli, ui: false, port })).rejects.toThrow(`port ${port} is in use`);
    holder.close();
  });
});

it('a CLI that cannot start is quoted, and logged where that is wanted', async () => {
  const broken = script('temporal', 'echo "no such flag" >&2; exit 4');
  const logFile = join(folder, 'server.log');
  const starting = startDevServer({ cli: broken, logFile });
  await expect(starting).rejects.toThrow(`${broken} ended (status 4) with:\nno such flag`);
  expect(readFileSync(logFile, 'utf8')).toBe('no such flag\n');
});

itInWays('a log that cannot be written is an error, and nothing stays behind', async () => {
  const mark = join(folder, 'pid');
  const patient = script('temporal', `echo $$ > ${mark}; echo hello; exec sleep 600`);
  await expect(startDevServer({ cli: patient, logFile: join(folder, 'no', 'such', 'folder') })).rejects.toThrow(
    /ENOENT/,
  );
  if (existsSync(mark)) await untilGone(Number(readFileSync(mark, 'utf8')));
});

it('a CLI that is not there is named', async () => {
  await expect(startDevServer({ cli: join(folder, 'nothing') })).rejects.toThrow(/ENOENT/);
});

it('TEMPORAL_ADDRESS where nobody answers is an error at once', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = `127.0.0.1:${String((holder.address() as AddressInfo).port)}`;
  const resolving = { env: { TEMPORAL_ADDRESS: address } };
  expect(await provideTemporal({}, resolving)).toMatchObject({ address, uiUrl: undefined });
  holder.close();
  await once(holder, 'close');
  await expect(provideTemporal({}, resolving)).rejects.toThrow(
    `no Temporal server answers at TEMPORAL_ADDRESS=${address}`,
  );
});
