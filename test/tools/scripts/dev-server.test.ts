/** Our own dev server: ready when it says so, gone when it should be, whichever way its parent ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

describeWithCli('a dev server', () => {
  it('is ready with its namespace, search attributes and Web UI, and gone after the stop', async () => {
    const server = await startDevServer({
      cli,
      namespace: 'orders',
      searchAttributes: { Colour: 'Keyword' },
    });
    const connection = await Connection.connect({ address: server.address });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'orders' });
    await connection.close();
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
    ['comes to its end without a stop', 'end', undefined],
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
    while (isRunning(pid)) await pause(20);
  });
});
