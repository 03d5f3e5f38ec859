/**
 * Watching sagas: in place on a terminal, as lines into a pipe, as JSON lines for a program. The terminal is a real one
 * (`script`). ORDER_SAGA_PICTURES=1 also takes the picture of the README.
 */
import { spawn } from 'node:child_process';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { takePicture } from '../../support/terminal-picture';
import { runCommand, startCommand } from '../../support/command-line';
import { programOf } from '../../support/programs';
import { screenOf, withoutColors } from '../../support/terminal';

const rig = rigForFile({ clears: true });

/** A saga that is refused at first, and one that is done. */
async function two() {
  const stuck = provisionRequest({ items: [{}, {}], firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: stuck.label } });
  const done = await rig.sagas.provision(provisionRequest());
  await done.result();
  const saga = await rig.sagas.provision(stuck);
  await untilWaiting(saga, 'stuck');
  return { saga, done };
}

/** Runs the command on a terminal of that size. */
function onTerminal(args: string[], { columns = 100, rows = 30, env = {} } = {}) {
  const command = `stty cols ${columns} rows ${rows}; exec '${process.execPath}' '${programOf('starter')}' ${args.join(' ')}`;
  const { PATH, HOME } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH, HOME, SHELL: '/bin/sh', TERM: 'xterm', ...rig.environment, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const ended = new Promise<{ status: number | null; out: string }>((resolve) =>
    child.once('close', (status) => resolve({ status, out })),
  );
  const shows = async (text: string) => {
    while (!withoutColors(out).includes(text)) await new Promise(setImmediate);
  };
  return { ended, shows, soFar: () => out };
}

it('draws several sagas in place, with what they ask above, until all have ended', async () => {
  const { saga, done } = await two();
  const watching = onTerminal(['watch', saga.reference, done.reference, '--follow']);
  await watching.shows(`${saga.workflowId}  stuck`);
  await watching.shows(`${done.workflowId}  done`);
  await takePicture('watch', watching.soFar(), `$ order-saga watch ${saga.reference} ${done.reference} --follow`);
  await answer(saga, 'retry');
  const { status, out } = await watching.ended;
  expect(status).toBe(0);
  const screen = screenOf(out).map(withoutColors);
  const [first = ''] = screen.filter((line) => line.includes('waits for a decision'));
  expect(first).toMatch(/ since \S+Z \(\d+s ago\), question /);
  expect(screen.filter((line) => line.startsWith(`${saga.workflowId}  `))).toEqual([
    expect.stringMatching(/ {2}done {2}\d+s$/),
  ]);
  expect(screen).toContain(`${saga.workflowId} is done`);
  for (const step of ['Add cart item 2', 'Place the order (2 attempts)', 'Assign firewalls to server 9002'])
    expect(screen.filter((line) => line.startsWith(`  ✓ ${step}`))).toHaveLength(1);
});

it('into a pipe writes lines, each with its saga, and no code', async () => {
  const { saga, done } = await two();
  const env = { ...rig.environment, npm_lifecycle_event: 'cli' };
  const { status, out } = await runCommand(['watch', saga.reference, done.reference], env);
  expect(status).toBe(4);
  expect(out).not.toContain('\u001b');
  expect(out).toContain(`  ${done.workflowId}  done      Place the order\n`);
  // Called from a checkout: the command can be pasted there.
  expect(out).toContain(`  npm run --silent cli -- decide ${saga.workflowId} retry '`);
});

it('for a program writes a line of JSON for each change, and one for each end', async () => {
  const { saga, done } = await two();
  const watching = startCommand(['watch', saga.reference, done.reference, '--follow', '--json'], rig.environment);
  await watching.shows('"state":"stuck"');
  await answer(saga, 'retry');
  const { status, out } = await watching.ended;
  expect(status).toBe(0);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { workflowId: string; state?: string; progress?: { state: string } });
  const of = (workflowId: string) => lines.filter((line) => line.workflowId === workflowId);
  expect(of(saga.workflowId).map(({ progress }) => progress?.state)).toEqual(expect.arrayContaining(['stuck', 'done']));
  for (const id of [saga.workflowId, done.workflowId]) expect(of(id).at(-1)).toMatchObject({ state: 'done' });
});
