/**
 * The command line against a real Temporal, a worker and the sandbox: what it prints, and how it ends. Watching is in
 * place on a terminal, as lines into a pipe, as JSON lines for a program; the terminal is a real one (`script`).
 */
import { spawn } from 'node:child_process';
import { runHere, startCommand, type Ended } from '../../support/command-line';
import { saidThere } from '../../support/operator';
import { stuckOrder } from '../../support/orders';
import { programOf } from '../../support/programs';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';
import { screenOf, withoutColors } from '../../support/terminal';
import { idsListed } from '../../support/listed';

const rig = rigForFile({ clears: true });

const order = (args: readonly string[], request?: unknown): Promise<Ended> =>
  runHere(args, request === undefined ? '' : JSON.stringify(request), rig.environment);

const startWaiting = async () => {
  const saga = await rig.sagas.start('switchPlan', switchRequest({ approval: 'always' }));
  await untilWaiting(saga);
  return saga;
};

interface Document {
  workflowId: string;
  state: string;
  waiting?: { id: string; choices: string[] };
}
const documentIn = ({ out }: Ended) => JSON.parse(out) as Document;

describe('starting', () => {
  it('waits for the end of each kind of saga, tells its steps, and exits 0', async () => {
    const provision = await order(
      ['provision', '-'],
      provisionRequest({ firewalls: [143], items: [{ password: 'geheim' }] }),
    );
    const change = await order(['change', '-'], changeRequest());
    const switched = await order(['switch', '-'], switchRequest({ quoteOnly: true }));
    const firewalls = await order(['firewalls', '-'], firewallsRequest());
    expect([provision, change, switched, firewalls].map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(provision.out).toMatch(/started\n[^]*done +Add cart item 1\n[^]*done +Place the order\n[^]*is done\n/);
    expect(provision.out).toMatch(/servers: \[\{"vmObjectId":\d+,"firewalls":\[143\],"verified":true\}\]/);
    expect(provision.out + provision.err).not.toContain('geheim');
    expect(change.out).toMatch(/order: \{"status":"accepted"\}/);
    expect(switched.out).toMatch(/placed: false/);
    expect(firewalls.out).toMatch(/verified: true/);
  });

  it('exits 4 when it waits for a decision, and says which', async () => {
    const request = switchRequest({ approval: 'always' });
    const ended = await order(['switch', '-'], request);
    expect(ended.status).toBe(4);
    expect(ended.out).toContain(`order-saga cancel switch/${request.reference}`);
    const status = await order(['status', request.reference, '--json']);
    const { id } = documentIn(status).waiting!;
    expect(ended.out).toContain(
      `order-saga decide switch/${request.reference} approve '{"question":"${id}","by":"you"}'`,
    );
    expect(status.status).toBe(4);
    expect(documentIn(status)).toMatchObject({ state: 'approval', waiting: { choices: ['approve', 'reject'] } });
  });

  it('exits 4 when it is queued behind a saga that waits for a decision, and names that one', async () => {
    const { subscription_id, ...request } = switchRequest({ approval: 'always' });
    const first = await rig.sagas.switch({ ...request, subscription_id });
    await untilWaiting(first);
    const ended = await order(['change', '-'], changeRequest({ subscription_id }));
    expect(ended.status).toBe(4);
    expect(ended.out).toContain(`is queued behind ${first.workflowId}, which waits for a decision (approval) itself\n`);
  });
});

it('decide takes a decision, and the saga goes on', async () => {
  const saga = await startWaiting();
  const { waiting } = documentIn(await order(['status', saga.reference, '--json']));
  const approval = JSON.stringify({ question: waiting!.id, by: 'ada' });
  const { status, out } = await order(['decide', saga.reference, 'approve', approval]);
  expect({ status, out }).toEqual({ status: 0, out: `${saga.workflowId}: approve is taken at switch-plan\n` });
  expect(await saga.result()).toMatchObject({ decisions: [{ decision: 'approve', by: 'ada' }] });
});

it('cancel waits until it is undone, and exits 0 also when asked again', async () => {
  const saga = await startWaiting();
  const first = await order(['cancel', ...saidThere, saga.reference]);
  expect(first.status).toBe(0);
  expect(first.out).toMatch(/cancellation is requested\n[^]*was cancelled, says op: a test/);
  const again = await order(['cancel', ...saidThere, saga.reference]);
  expect(again).toMatchObject({
    status: 0,
    out: expect.stringMatching(/was cancelled, says op: a test\n[^]*reversed: nothing of it is there/) as string,
  });
  expect(again.out.match(/was cancelled/g)).toHaveLength(1);
});

it('a saga that was terminated while it waited is lost, and asks nobody', async () => {
  const { workflowId, reference } = await startWaiting();
  await rig.runOf({ workflowId }).terminate('a test');
  for (const shown of [await order(['watch', reference]), await order(['status', reference])]) {
    expect(shown).toMatchObject({ status: 1, out: expect.stringContaining('was lost (terminated): a test') });
    expect(shown.out).not.toContain('waits for a decision');
  }
});

it('list prints a table, or one document', async () => {
  const saga = await startWaiting();
  await until(async () => (await idsListed(rig.sagas, { state: 'approval' })).includes(saga.workflowId));
  const table = await order(['list', '--state', 'approval']);
  const json = await order(['list', '--state', 'approval', '--json']);
  const first = await order(['list', '--limit', '1']);
  expect(table.out).toMatch(/^saga +state +step +waiting since +started +account\n/);
  expect(table.out).toMatch(new RegExp(`${saga.workflowId} +approval +switch-plan +20`));
  const rows = JSON.parse(json.out) as Document[];
  expect(rows.find(({ workflowId }) => workflowId === saga.workflowId)).toMatchObject({ state: 'approval' });
  expect(first.out.trim().split('\n')).toHaveLength(2);
  expect(first.err).toContain('--limit');
});

/** A saga that is refused at first, and one that is done. */
async function two() {
  const done = await rig.sagas.provision(provisionRequest());
  await done.result();
  return { done, ...(await stuckOrder(rig, { items: [{}, {}], firewalls: [143] })) };
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
  return { ended, shows };
}

it('watch draws several sagas in place, with what they ask above, until all have ended', async () => {
  const { saga, done } = await two();
  const watching = onTerminal(['watch', saga.reference, done.reference, '--follow']);
  await watching.shows(`${saga.workflowId}  stuck`);
  await watching.shows(`${done.workflowId}  done`);
  await answer(saga, 'retry');
  const { status, out } = await watching.ended;
  expect(status).toBe(0);
  const screen = screenOf(out).map(withoutColors);
  const [first = ''] = screen.filter((line) => line.includes('waits for a decision'));
  expect(first).toMatch(/ since \S+ \S+ UTC \(\d+s ago\), question /);
  expect(screen.filter((line) => line.startsWith(`${saga.workflowId}  `))).toEqual([
    expect.stringMatching(/ {2}done {2}\d+s$/),
  ]);
  expect(screen).toContain(`${saga.workflowId} is done`);
  const { servers } = (await saga.result()) as { servers: { vmObjectId: number }[] };
  const assigned = servers.map(({ vmObjectId }) => `Assign firewalls to server ${vmObjectId}`);
  for (const step of ['Add cart item 2', 'Place the order (2 attempts)', ...assigned])
    expect(screen.filter((line) => line.startsWith(`  ✓ ${step}`))).toHaveLength(1);
});

it('watch into a pipe writes lines, each with its saga, and no code', async () => {
  const { saga, done } = await two();
  const env = { ...rig.environment, npm_lifecycle_event: 'cli' };
  const { status, out } = await runHere(['watch', saga.reference, done.reference], '', env);
  expect(status).toBe(4);
  expect(out).not.toContain('\u001b');
  expect(out).toContain(`  ${done.workflowId}  done      Place the order\n`);
  // Called from a checkout: the command can be pasted there.
  expect(out).toContain(`  npm run --silent cli -- decide ${saga.workflowId} retry '`);
});

it('watch for a program writes a line of JSON for each change, and one for each end', async () => {
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

it('who leaves a command that waits for a saga is told that it goes on, and how to watch and to stop it', async () => {
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before' });
  const waiting = startCommand(['provision', '-'], rig.environment);
  waiting.child.stdin.end(JSON.stringify(request));
  await rig.sandbox.whenStruck(gate);
  await waiting.shows('done      Add cart item 1');
  waiting.child.kill('SIGINT');
  const { status, err } = await waiting.ended;
  expect(status).toBe(130);
  const id = `provision/${request.reference}`;
  expect(err).toBe(
    `${id} goes on without this terminal\n  order-saga watch ${id}\n  order-saga cancel ${id} --by you --note 'why'\n`,
  );
  rig.sandbox.faults.release(gate);
  expect(await (await rig.sagas.get(request.reference, 'provisionServers')).result()).toMatchObject({
    outcome: 'done',
  });
});

it('watch ends with its next line when nobody reads it any more', async () => {
  const { saga } = await two();
  const watching = startCommand(['watch', saga.reference, '--follow'], rig.environment);
  await watching.shows('waits for a decision');
  watching.child.stdout.destroy();
  await answer(saga, 'retry');
  expect(await watching.ended).toMatchObject({ status: 141, err: '' });
});
