/** Many sagas at once from the command line: whom it reaches, the question, the lines, and a job that is stopped. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from '../../../src/cli/program';
import type { OpenLine } from '../../../src/client/jobs';
import { countsOf, type JobReport } from '../../../src/domain/decide-many';
import { doubtfulSagas, stuckSagas } from '../../support/bad-night';
import { runHere, startCommand } from '../../support/command-line';
import { folderForFile } from '../../support/folder';
import { itInWays } from '../../support/left-out';
import { Rig, until } from '../../support/rig';
import { outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
const folder = folderForFile();
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const cli = (...args: string[]) => runHere(args, '', rig.environment);
const many = (...args: string[]) => cli('decide-many', ...args, '--by', 'ann', '--note', 'the provider is back');

/** A person at a terminal, who types this. */
async function atTerminal(typed: string, ...args: string[]) {
  const said = { out: '', err: '' };
  const stream = (where: 'out' | 'err') => ({ isTTY: true, write: (text: string) => (said[where] += text) });
  const stdin = Object.assign(Readable.from([typed]), { isTTY: true });
  const outside = process.env;
  process.env = { HOME: outside['HOME'], ...rig.environment };
  try {
    return { status: await run(args, { out: stream('out'), err: stream('err'), stdin }), ...said };
  } finally {
    process.env = outside;
  }
}

itInWays('shows first whom it would reach, and starts nothing until it is told to', async () => {
  const sagas = [...(await stuckSagas(rig, 3, 'AB-1')), ...(await stuckSagas(rig, 1, 'AB-2'))];
  const dry = await many('--where', 'SagaState="stuck"', 'retry', '--rate', '2/s', '--dry-run');
  expect(dry).toMatchObject({ status: 0, err: '' });
  const lines = dry.out.split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'retry where SagaState="stuck": 4 sagas',
    '  kind      stuck 4',
    '  step      place-change-order 4',
    '  account   AB-1 3, AB-2 1',
    '  failure   Unauthorized 4',
    '  age       less than 15 minutes 4',
  ]);
  expect(lines[6]).toMatch(/^ {12}change\/T-\d+ {2}stuck at place-change-order since 20/);
  expect(lines.at(-2)).toBe('at 2 per second it takes about 2 seconds');

  const unasked = { status: 2, err: 'nothing was started: add --yes to start it\n' };
  expect(await many('--all', 'retry')).toMatchObject(unasked);
  const typed = ['decide-many', 'retry', '--all', '--by', 'ann', '--note', 'x'];
  const no = { status: 2, err: 'retry all that wait: 4 sagas. Start? Type yes:\nnothing was started\n' };
  expect(await atTerminal('no\n', ...typed)).toMatchObject(no);
  for (const saga of sagas) expect((await progressOf(saga)).decisions).toEqual([]);
  expect((await rig.temporal.workflow.count(`WorkflowType = 'decideMany'`)).count).toBe(0);

  rig.sandbox.faults.clear();
  const yes = await atTerminal('yes\n', ...typed, '--name', 'night', '--rate', '50');
  expect(yes.status).toBe(0);
  expect(yes.out).toContain('decide-many/night started; it goes on without this terminal\n');
  expect(yes.out).toContain('decide-many/night is done: retry all that wait\n  4 taken\n');
  for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');

  // It is apart from the sagas, and can be looked at later.
  expect((await cli('list')).out).not.toContain('decide-many');
  const report = await cli('job', 'night', 'report');
  expect(report.status).toBe(0);
  for (const { workflowId } of sagas) expect(report.out).toContain(`  taken       ${workflowId}\n`);
  expect(await cli('job', 'night', 'stop')).toMatchObject({ status: 2 });
  expect(await cli('job', 'nobody')).toMatchObject({ status: 2 });
});

itInWays('says that nothing fits, and what is wrong with what it was given', async () => {
  await stuckSagas(rig, 1);
  expect(await many('--where', 'SagaStep="no-such"', 'retry', '--yes')).toMatchObject({
    status: 1,
    out: 'retry where SagaStep="no-such": no saga that waits fits; there is nothing to decide\n',
  });
  const wrong = async (...args: string[]) => {
    const { status, err, out } = await many(...args, '--yes');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    return err;
  };
  expect(await wrong('retry')).toMatch(/where: is required: a list filter, or all/);
  expect(await wrong('retry', '--all', '--where', 'x')).toMatch(/--all does not go with --where/);
  expect(await wrong('retry', '--all', '--rate', '0')).toMatch(/perSecond: must be from 0.01 to 50/);
  expect(await wrong('confirmPlaced', '--all')).toMatch(/decision: must be one of retry, skip, markDone/);
  expect(await wrong('retry', '--where', 'SagaState==')).toMatch(/where: Temporal does not understand it: /);
  expect((await cli('decide-many', 'retry', '--all', '--by', 'ann')).err).toMatch(/required option '--note <TEXT>'/);
});

it('shows where a job stands, and stops it; whoever follows it is told', async () => {
  await stuckSagas(rig, 3);
  const started = await many('retry', '--all', '--rate', '0.01', '--yes', '--detach', '--name', 'slow');
  expect(started.status).toBe(0);
  const following = startCommand(['job', 'slow'], rig.environment);
  const slow = await rig.sagas.job('slow');
  await until(async () => {
    const place = await slow.progress();
    return place !== undefined && countsOf(place).taken === 1;
  });
  expect(await cli('job', 'slow', 'report')).toMatchObject({ status: 4, out: '1 of 3: 1 taken\n' });
  expect(await cli('job', 'slow', 'halt')).toMatchObject({ status: 2 });
  expect(await cli('job', 'slow', 'stop')).toMatchObject({ status: 0 });
  const { status, out } = await following.ended;
  expect(status).toBe(5);
  expect(out).toBe('decide-many/slow is stopped: retry all that wait\n  1 taken, 2 not reached\n');
  const { out: json } = await cli('job', 'slow', 'report', '--json');
  const { report } = JSON.parse(json) as { report: JobReport };
  expect(report).toMatchObject({ outcome: 'stopped', notReached: 2, counts: { taken: 1 } });
});

const fileOf = (lines: readonly unknown[]) => {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  return folder.write('lines.jsonl', `${texts.join('\n')}\n`);
};

it('prints the questions as lines, and takes a decision for each', async () => {
  const sagas = await doubtfulSagas(rig, 3, 1);
  const waits = await Promise.all(sagas.map((saga) => untilWaiting(saga)));
  const { out: printed } = await cli('questions', '--where', 'ProviderAccount="AB-1"');
  const open = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as OpenLine);
  const kind = 'outcome-unknown';
  expect(open).toEqual(
    expect.arrayContaining(
      sagas.map(({ workflowId: saga }, index) => ({ saga, kind, question: waits[index]!.id, decision: null })),
    ),
  );
  expect((await many('--lines', fileOf(open), '--yes')).err).toMatch(/line 1: decision: must be one of/);
  const placed = ({ saga }: OpenLine) => (saga === sagas[0]!.workflowId ? 'confirmPlaced' : 'confirmNotPlaced');
  const filled = open.map((line) => ({ ...line, decision: placed(line) }));
  const { status, out } = await many('--lines', fileOf(filled), '--rate', '50', '--yes');
  expect({ status, out }).toEqual({ status: 0, out: expect.stringContaining('  3 taken\n') as string });
  for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');
});

itInWays('with one wrong line is refused as a whole, and the line is named', async () => {
  const right = { saga: 'change/R-1', decision: 'confirmNotPlaced', question: '1a2b3c4d' };
  const whole = Array.from({ length: 3_000 }, () => right);
  const refusedFor = async (line: number, replaced: unknown) => {
    const lines = [...whole.slice(0, line - 1), replaced, ...whole.slice(line)];
    // No connection is made: no Temporal is needed to see that a line is wrong.
    const environment = { ...rig.environment, TEMPORAL_ADDRESS: 'localhost:1' };
    const args = ['decide-many', '--lines', fileOf(lines), '--by', 'ann', '--note', 'x', '--yes'];
    const { status, err } = await runHere(args, '', environment);
    expect(status).toBe(2);
    return err;
  };
  expect(await refusedFor(1_234, '{"saga":')).toMatch(/^line 1234 is not JSON/);
  expect(await refusedFor(17, '')).toMatch(/^line 17 is not JSON/);
  expect(await refusedFor(3_000, { ...right, question: undefined })).toMatch(
    / {2}line 3000: confirmNotPlaced: question/,
  );
  expect(await refusedFor(5, { ...right, orderId: '9' })).toMatch(/line 5: confirmNotPlaced: orderId: is not a field/);
  expect((await many('--lines', join(folder.path, 'none'), '--yes')).err).toMatch(/there is no file/);
  expect((await many('retry', '--lines', fileOf(whole), '--yes')).err).toMatch(/does not go with decision/);
  expect((await rig.temporal.workflow.count()).count).toBe(0);
});
