/** No process of the demo outlives it, whoever ends it; nor does its folder, unless it is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { folderForFile } from '../../support/folder';
import { isRunning } from '../../support/is-running';
import { projectFolder } from '../../support/project';

const left = folderForFile().path;
const killed = folderForFile().path;
const address = process.env['ORDER_SAGA_TEST_TEMPORAL_ADDRESS'] ?? '';

async function startDemo(folder: string) {
  const demo = spawn(process.execPath, ['--import', 'tsx', 'scripts/demo.ts'], {
    cwd: projectFolder,
    env: { ...process.env, TMPDIR: folder, TEMPORAL_ADDRESS: address },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(demo, 'exit');
  let said = '';
  for await (const chunk of demo.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('worker ready')) break;
  }
  const programs = childrenOf(demo.pid ?? 0);
  expect(programs.length).toBeGreaterThanOrEqual(2);
  return { demo, ended, programs };
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

const allEnded = async (pids: readonly number[]) => {
  while (pids.some(isRunning)) await pause(20);
};

it('when nobody reads on, it ends what it has started, and takes its folder away', async () => {
  const { demo, ended, programs } = await startDemo(left);
  demo.stdout.destroy();
  await ended;
  await allEnded(programs);
  expect(readdirSync(left).filter((name) => name.startsWith('order-saga-demo'))).toEqual([]);
});

it('when it is killed, its worker and its codec server end', async () => {
  const { demo, programs } = await startDemo(killed);
  demo.kill('SIGKILL');
  await allEnded(programs);
});
