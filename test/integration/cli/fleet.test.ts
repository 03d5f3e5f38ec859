/** Many sagas at once from the command line: sweeps, and jobs that decide. */
import { openCartItems } from '../../../sandbox/sentences';
import type { OpenLine } from '../../../src/client/jobs';
import { countsOf, type JobReport } from '../../../src/domain/decide-many';
import { doubtfulSagas, stuckSagas } from '../../support/bad-night';
import { runHere, startCommand, type Ended } from '../../support/command-line';
import { folderForFile } from '../../support/folder';
import { stuckOrder } from '../../support/orders';
import { rigForFile, until } from '../../support/rig';
import { outcomeOf, untilWaiting } from '../../support/sagas';
import { terminate } from '../../support/web-ui';

const rig = rigForFile();
const cli = (...args: string[]): Promise<Ended> => runHere(args, '', rig.environment);

const reconcile = (...args: string[]) => cli('reconcile', ...args);
const describeSchedule = () => rig.temporal.schedule.getHandle('reconcile').describe();
const hourMs = 60 * 60_000;

describe('the schedule of sweeps', () => {
  afterEach(() => reconcile('remove'));

  it('is made, and changed by the same command', async () => {
    expect(await reconcile('show')).toMatchObject({ status: 0, out: expect.stringMatching(/^no schedule/) as string });
    const made = await reconcile('schedule', '--every', '1h', '--rate', '20');
    expect(made.status).toBe(0);
    expect(made.out).toMatch(
      /^the schedule is made\na sweep every 1h: clean true, repair false, .*perSecond 20\nthe next/,
    );
    expect(await describeSchedule()).toMatchObject({
      spec: { intervals: [{ every: hourMs }] },
      policies: { overlap: 'SKIP', catchupWindow: hourMs, pauseOnFailure: false },
      action: {
        workflowType: 'reconcile',
        workflowId: 'reconcile',
        taskQueue: 'order-saga',
        args: [{ perSecond: 20 }],
      },
    });
    const changed = await reconcile('schedule', '--every', '1d', '--repair', '--json');
    expect(JSON.parse(changed.out)).toMatchObject({
      existing: true,
      schedule: { everyMs: 24 * hourMs, options: { repair: true, perSecond: 2 }, paused: false },
    });
    expect(await describeSchedule()).toMatchObject({
      spec: { intervals: [{ every: 24 * hourMs }] },
      policies: { overlap: 'SKIP', catchupWindow: 24 * hourMs },
    });
  });

  it('starts sweeps, of which the last is shown', async () => {
    await reconcile('schedule', '--every', '1h', '--rate', '20');
    await rig.temporal.schedule.getHandle('reconcile').trigger();
    const { last } = await until(async () => {
      const shown = JSON.parse((await reconcile('show', '--json')).out) as {
        last?: { workflowId: string; report?: { outcome: string } };
      };
      return shown.last?.report !== undefined && shown;
    });
    expect(last).toMatchObject({
      workflowId: expect.stringMatching(/^reconcile-20/) as string,
      report: { outcome: 'clean' },
    });
  });
});

describe('a sweep that is started at once', () => {
  it('that finds nothing exits 0', async () => {
    const { status, out } = await reconcile('now', '--rate', '20');
    expect(out).toMatch(/^the sweep is started\nreconcile: clean, begun on .*\nlooked at 0 sagas .*; found nothing\n$/);
    expect(status).toBe(0);
  });

  it('tells what was found, exits 4, and does as the schedule has it', async () => {
    const { saga } = await stuckOrder(rig);
    await terminate(rig.temporal, saga);
    await reconcile('schedule', '--every', '1h', '--no-clean', '--rate', '20');
    const told = await reconcile('now');
    expect(told.out).toContain(`- ${saga.workflowId} was lost (terminated): bring it to an end\n`);
    expect(told.out).toMatch(new RegExp(`- ${saga.workflowId} has left cart items \\d+: look at its record\n`));
    expect(told.status).toBe(4);
    expect(openCartItems(rig.sandbox.ledger)).toHaveLength(1);
    expect((await reconcile('now', '--clean')).out).toMatch(/a clean-up is started/);
    await until(() => Promise.resolve(openCartItems(rig.sandbox.ledger).length === 0));
    await reconcile('remove');
    await rig.temporal.workflow.getHandle(`clean/${saga.reference}`).result();
  });
});

const folder = folderForFile();
const many = (...args: string[]) => cli('decide-many', ...args, '--by', 'ann', '--note', 'the provider is back');

it('shows where a job that decides stands, and stops it; whoever follows it is told', async () => {
  await stuckSagas(rig, 3, 'CD-1');
  const paced = ['--rate', '0.01', '--yes', '--detach', '--name', 'slow'];
  const started = await many('retry', '--where', 'ProviderAccount="CD-1"', ...paced);
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
  expect(out).toBe('decide-many/slow is stopped: retry where ProviderAccount="CD-1"\n  1 taken, 2 not reached\n');
  const { out: json } = await cli('job', 'slow', 'report', '--json');
  const { report } = JSON.parse(json) as { report: JobReport };
  expect(report).toMatchObject({ outcome: 'stopped', notReached: 2, counts: { taken: 1 } });
});

it('prints the questions as lines, and takes a decision for each', async () => {
  const fileOf = (lines: readonly unknown[]) =>
    folder.write('lines.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
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
