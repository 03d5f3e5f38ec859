/** Our own dev server: ready when it says so, gone when it should be, whichever way its parent ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startDevServer } from '../../../scripts/dev-server';
import { isRunning } from '../../support/is-running';
import { unless } from '../../support/left-out';

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

  const ends = [
    ['is killed', 'wait', 'SIGKILL'],
    ['is terminated', 'wait', 'SIGTERM'],
    ['is interrupted', 'wait', 'SIGINT'],
    ['comes to its end without a stop', 'end', undefined],
    ['calls exit', 'exit', undefined],
    ['throws', 'throw', undefined],
  ] as const;
  it.each(ends)('does not outlive a parent that %s', async (_what, ending, signal) => {
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
});
