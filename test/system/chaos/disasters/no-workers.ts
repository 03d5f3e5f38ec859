/**
 * Every worker is gone for a day. Nobody can make a day pass on a real server: what a day does is shown with deadlines,
 * expiries and a schedule of seconds.
 */
import { reconcileWorkflow } from '../../../../src/domain/reconcile';
import { until } from '../../../support/rig';
import { outcomeOf, untilWaiting, type Ended } from '../../../support/sagas';
import type { Member } from './cast';
import type { Disaster } from './scene';

const soonMs = 30_000;
const expiresAfterSeconds = 20;
/** `order-saga reconcile schedule` takes five minutes at least. */
const everyMs = 3_000;
/** Times that the schedule was due while nobody worked. */
const dueMin = 4;

export const noWorkers: Disaster = {
  name: 'no-workers',
  title: 'Every worker is gone for a day (shown with times of seconds)',
  strike: async (scene) => {
    const { cast, ground, person } = scene;
    scene.phase('deadlines and expiries are set, and a schedule');
    await person.type(['reconcile', 'schedule', '--every', '5m']);
    const schedule = ground.temporal.schedule.getHandle(reconcileWorkflow);
    const notAfter = new Date(Date.now() + soonMs).toISOString();
    const late = await cast.sendMortal('waits for an approval, until a time', { approval: 'always', notAfter });
    const unanswered = await cast.sendMortal('waits for an approval that expires', {
      approval: { expiresAfterSeconds },
    });
    for (const { saga } of [late, unanswered]) await untilWaiting(saga, 'approval');

    scene.phase('no worker');
    await ground.dismiss();
    await schedule.update(({ spec: _spec, ...rest }) => ({ ...rest, spec: { intervals: [{ every: everyMs }] } }));
    cast.letGo();
    const came = await cast.sendNew('came while nobody worked');
    const tooLate = await cast.sendMortal('came while nobody worked, for a time that passed', { notAfter });
    const asked = await person.type(['status', came.asked.request.reference], [0, 3]);
    await until(async () => {
      const { numActionsTaken, numActionsSkippedOverlap } = (await schedule.describe()).info;
      return numActionsTaken + numActionsSkippedOverlap >= dueMin && Date.now() > Date.parse(notAfter);
    });
    const { info } = await schedule.describe();
    await person.inbox();

    scene.phase('workers come back');
    await person.type(['reconcile', 'schedule', '--every', '5m']);
    await ground.hire();
    const ends = new Map<Member, Ended>();
    for (const member of [late, unanswered, tooLate, came]) ends.set(member, await outcomeOf(member.saga));
    const failureOf = (member: Member) => ends.get(member)?.failure?.type;
    const words = `${asked.out}${asked.err}`.trim().replaceAll('\n', '; ');
    return {
      facts: {
        [`asked about a saga, the command line says: ${words}`]: words !== '',
        [`the one with a deadline ended as ${failureOf(late)}`]: failureOf(late) !== undefined,
        [`the one whose approval expired ended as ${failureOf(unanswered)}`]: failureOf(unanswered) === 'NotApproved',
        [`the one that came too late ended as ${failureOf(tooLate)}`]: failureOf(tooLate) !== undefined,
        'the one that came meanwhile is done': ends.get(came)?.result !== undefined,
        [`of ${info.numActionsTaken + info.numActionsSkippedOverlap} sweeps that were due, ${info.numActionsTaken} was started`]:
          info.numActionsTaken === 1,
      },
    };
  },
};
