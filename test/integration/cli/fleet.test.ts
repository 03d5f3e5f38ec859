/** Sweeps from the command line. */
import { openCartItems } from '../../../sandbox/sentences';
import { runHere, type Ended } from '../../support/command-line';
import { stuckOrder } from '../../support/orders';
import { rigForFile, until } from '../../support/rig';
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
    await until(() => openCartItems(rig.sandbox.ledger).length === 0);
    await reconcile('remove');
    await rig.temporal.workflow.getHandle(`clean/${saga.reference}`).result();
  });
});
