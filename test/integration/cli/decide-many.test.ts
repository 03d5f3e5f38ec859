/**
 * Many sagas at once from the command line: the dry list, the question, the bar, the evidence file, and what is said to
 * a job.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from '../../../src/cli/program';
import type { JobReport } from '../../../src/domain/job-report';
import { doubtfulSagas, stuckSagas } from '../../support/bad-night';
import { runHere, startCommand } from '../../support/command-line';
import { itInWays } from '../../support/left-out';
import { Rig, until } from '../../support/rig';
import { outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
let folder: string;
beforeEach(async () => {
  rig = await Rig.start();
  folder = mkdtempSync(join(tmpdir(), 'order-saga-evidence-'));
});
afterEach(async () => {
  await rig.close();
  rmSync(folder, { recursive: true });
});

const cli = (...args: string[]) => runHere(args, '', rig.environment);
const many = (...args: string[]) => cli('decide-many', ...args, '--note', 'the provider is back');

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
    '  state     stuck 4',
    '  step      place-change-order 4',
    '  account   AB-1 3, AB-2 1',
    '  waiting   less than 5 minutes 4',
    '  failure   Unauthorized 4',
  ]);
  expect(lines[6]).toMatch(/^ {12}change\/T-\d+ {2}stuck at place-change-order since 20/);
  expect(lines.at(-2)).toBe('at 2 per second it takes about 2 seconds');

  expect(await many('--all', 'retry')).toMatchObject({
    status: 2,
    err: 'nothing was started: add --yes to start it\n',
  });
  const no = await atTerminal('no\n', 'decide-many', 'retry', '--all', '--note', 'x');
  expect(no).toMatchObject({
    status: 2,
    err: 'retry all that wait: 4 sagas. Start? Type yes:\nnothing was started\n',
  });
  for (const saga of sagas) expect((await progressOf(saga)).decisions).toEqual([]);
  expect((await rig.temporal.workflow.count(`WorkflowType = 'decideMany'`)).count).toBe(0);

  rig.sandbox.faults.clear();
  const yes = await atTerminal(
    'yes\n',
    'decide-many',
    'retry',
    '--all',
    '--note',
    'x',
    '--name',
    'night',
    '--rate',
    '50',
  );
  expect(yes.status).toBe(0);
  expect(yes.out).toContain('decide-many/night started; it goes on without this terminal\n');
  expect(yes.out).toContain(`\r\u001b[K${'█'.repeat(20)} 100 %  4 of 4: 4 taken (done)`);
  expect(yes.out).toContain('decide-many/night is done: retry all that wait\n  4 taken\n');
  for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');

  // It is apart from the sagas, and can be looked at later.
  await until(async () => (await rig.temporal.workflow.count(`WorkflowType = 'decideMany'`)).count === 1);
  expect((await cli('list')).out).not.toContain('decide-many');
  const report = await cli('job', 'night', 'report');
  expect(report.status).toBe(0);
  for (const { workflowId } of sagas) expect(report.out).toContain(`  taken       ${workflowId}\n`);
  expect(await cli('job', 'night', 'stop')).toMatchObject({
    status: 2,
    err: expect.stringContaining('has ended') as string,
  });
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
  expect(await wrong('retry')).toMatch(/where: is required: a list filter; for all that wait, say all: true/);
  expect(await wrong('retry', '--where', '')).toMatch(/where: is required/);
  expect(await wrong('retry', '--all', '--rate', '0')).toMatch(/perSecond: must be from 0.01 to 50/);
  expect(await wrong('confirmPlaced', '--all')).toMatch(/decision: must be one of retry, skip, release/);
  expect(await wrong('retry', '--where', 'SagaState==')).toMatch(/where: Temporal does not understand it: /);
  expect((await cli('decide-many', 'retry', '--all')).err).toMatch(/required option '--note <TEXT>'/);
});

it('pauses, goes on and stops a job; whoever follows it is told', async () => {
  await stuckSagas(rig, 3);
  const started = await many('retry', '--all', '--rate', '0.01', '--yes', '--detach', '--name', 'slow');
  expect(started.status).toBe(0);
  const following = startCommand(['job', 'slow'], rig.environment);
  await until(async () => (await (await rig.sagas.job('slow')).progress()).counts.taken === 1);
  expect(await cli('job', 'slow', 'pause', '--note', 'wait')).toMatchObject({
    status: 0,
    out: 'decide-many/slow is paused\n',
  });
  await following.shows('decide-many/slow is paused: wait. To go on: order-saga job decide-many/slow resume', 'err');
  expect(await cli('job', 'slow', 'report')).toMatchObject({
    status: 4,
    out: '██████░░░░░░░░░░░░░░ 33 %  1 of 3: 1 taken (paused)\n',
  });
  expect(await cli('job', 'slow', 'resume')).toMatchObject({ status: 0, out: 'decide-many/slow is running\n' });
  expect(await cli('job', 'slow', 'halt')).toMatchObject({ status: 2 });
  expect(await cli('job', 'slow', 'stop', '--by', 'bob')).toMatchObject({ status: 0 });
  const { status, out } = await following.ended;
  expect(status).toBe(5);
  expect(out).toBe('decide-many/slow is stopped by bob: retry all that wait\n  1 taken, 2 not reached\n');
  const { out: json } = await cli('job', 'slow', 'report', '--json');
  expect(JSON.parse(json) as JobReport).toMatchObject({ outcome: 'stopped', notReached: 2, counts: { taken: 1 } });
});

describe('an evidence file', () => {
  const fileOf = (lines: readonly unknown[]) => {
    const path = join(folder, 'evidence.jsonl');
    writeFileSync(
      path,
      `${lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')}\n`,
    );
    return path;
  };

  it('settles each saga that it names', async () => {
    const sagas = await doubtfulSagas(rig, 3, 1);
    const waits = await Promise.all(sagas.map((saga) => untilWaiting(saga)));
    const open = await cli('evidence', '--where', 'ProviderAccount="AB-1"');
    const printed = open.out.trim().split('\n');
    expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual(
      expect.arrayContaining(
        sagas.map(({ workflowId }, index) => ({ reference: workflowId, question: waits[index]!.id, placed: null })),
      ),
    );
    expect((await many('--evidence', fileOf(printed), '--yes')).err).toMatch(/line 1: placed: must be true or false/);
    const first = sagas[0]!.workflowId;
    const lines = printed.map((line) => line.replace('null', String(line.includes(`"${first}"`))));
    const { status, out } = await many('--evidence', fileOf(lines), '--rate', '50', '--yes');
    expect(out).toMatch(/^3 lines of evidence: 1 placed, 2 not placed\n/);
    expect({ status, out }).toEqual({ status: 0, out: expect.stringContaining('  3 taken\n') as string });
    for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');
  });

  itInWays('with one wrong line is refused as a whole, and the line is named', async () => {
    const right = (index: number) => ({ reference: `R-${index}`, question: '1a2b3c4d', placed: false });
    const whole = Array.from({ length: 3_000 }, (_, index) => right(index));
    const refusedFor = async (line: number, ...replaced: unknown[]) => {
      const lines = [...whole.slice(0, line - 1), ...replaced, ...whole.slice(line)];
      // No connection is made: no Temporal is needed to see that a line is wrong.
      const environment = { ...rig.environment, TEMPORAL_ADDRESS: 'localhost:1' };
      const args = ['decide-many', '--evidence', fileOf(lines), '--note', 'x', '--yes'];
      const { status, err } = await runHere(args, '', environment);
      expect(status).toBe(2);
      return err;
    };
    const nothing = 'the request is wrong; nothing was started:\n';
    expect(await refusedFor(1_234, '{"reference":')).toBe(`${nothing}  line 1234: is not JSON\n`);
    expect(await refusedFor(17, '')).toBe(`${nothing}  line 17: is empty\n`);
    expect(await refusedFor(3_000, { ...right(1), question: undefined, reference: 'R-x' })).toMatch(
      / {2}line 3000: question: /,
    );
    expect(await refusedFor(2_000, right(7))).toBe(`${nothing}  line 2000: stands in line 8, too\n`);
    expect(await refusedFor(2_000, { ...right(7), placed: true })).toMatch(/line 2000: contradicts line 8/);
    expect(await refusedFor(5, { ...right(4), orderId: '9' })).toMatch(
      /line 5: contradicts itself: what was not placed/,
    );
    const { err } = await many('--evidence', fileOf(whole.slice(0, 2)), '--yes');
    expect(err).toBe(`${nothing}  line 1: no saga has the reference R-0\n  line 2: no saga has the reference R-1\n`);
    expect((await many('--evidence', join(folder, 'none'), '--yes')).err).toMatch(/there is no file/);
    expect((await many('retry', '--evidence', fileOf(whole), '--yes')).err).toMatch(
      /decision: does not go with evidence/,
    );
    expect((await rig.temporal.workflow.count()).count).toBe(0);
  });
});
