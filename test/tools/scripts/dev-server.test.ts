/** Our own dev server: ready when it says so, gone when it should be, whichever way its parent ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startDevServer } from '../../../scripts/dev-server';
import { isRunning } from '../../support/is-running';
import { unless } from '../../support/left-out';
import { projectFolder } from '../../support/project';

const cli = process.env['ORDER_SAGA_TEST_TEMPORAL_CLI'] ?? '';
/** With a server from elsewhere (TEMPORAL_ADDRESS) there need not be a CLI on this machine. */
const describeWithCli = unless(cli === '' ? 'TEMPORAL_ADDRESS names a server, and no CLI is here' : undefined);

describeWithCli('a dev server', () => {
  it('is ready with its namespace and Web UI, and gone after the stop', async () => {
    const server = await startDevServer({ cli });
    const connection = await Connection.connect({ address: server.address });
    await connection.workflowService.listWorkflowExecutions({ namespace: 'default' });
    await connection.close();
    expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
    expect(isRunning(server.pid)).toBe(true);

    await server.stop();
    expect(isRunning(server.pid)).toBe(false);
    await server.stop();
    await server.kill();
  });

  it('does not outlive a parent that is killed', async () => {
    const program = `require('./scripts/dev-server').startDevServer({ cli: '${cli}', ui: false }).then(({ pid }) => console.log(pid))`;
    const parent = spawn(process.execPath, ['--import', 'tsx', '-e', program], {
      cwd: projectFolder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(String(printed));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    while (isRunning(pid)) await pause(20);
  });
});
