/**
 * What workers do when they see an outage: one hold, which says what was seen; and what a person has said counts for
 * more.
 */
import { noopMetricMeter, type MetricMeter } from '@temporalio/common';
import { openCartItems, orders, orderedTwice } from '../../../sandbox/sentences';
import type { OutageConfig } from '../../../src/config';
import { OutageWatch } from '../../../src/operations/outage-watch';
import type { CallEvent } from '../../../src/provider/client';
import { planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, progressOf, untilWaitingOrEnded } from '../../support/sagas';
import { deleteRun } from '../../support/web-ui';

const outage: OutageConfig = { holdMs: 60_000, windowMs: 60_000, callsMin: 6 };

const failure = 'UnknownOutcome';
const call: CallEvent = { endpoint: 'POST /order', durationMs: 1, sent: true, status: 503, failure };

const rig = rigForFile();
// What was held a moment ago counts for the next hold.
afterEach(async () => {
  await rig.sagas.release();
  await deleteRun(rig.temporal, { workflowId: 'hold' }).catch(() => undefined);
});

/**
 * A watch as a worker has one, with all that it says. Calls outside of an activity are of no saga: each is given one.
 */
function watch(identity: string, config = outage) {
  const counted: string[] = [];
  const said: string[] = [];
  const meter: MetricMeter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, {
    createCounter: (name: string) => ({
      ...noopMetricMeter.createCounter(name),
      add: (_: number, { fate }: { fate: string }) => counted.push(`${name} ${fate}`),
    }),
  });
  const log = { warn: (text: string) => said.push(text), error: (text: string) => said.push(text) };
  let sagas = 0;
  const around = { temporal: rig.temporal, taskQueue: 'order-saga', identity, meter, log };
  const watching = new OutageWatch(config, around, () => `provision/${++sagas}`);
  const seesOutage = async () => {
    for (let nth = 0; nth < outage.callsMin; nth += 1) watching.onCall(call);
    await watching.close();
  };
  return { counted, said, seesOutage };
}

it('is one hold, whoever sees the outage; each says what it did', async () => {
  const [one, other] = [watch('1@a'), watch('2@b')];
  await Promise.all([one.seesOutage(), other.seesOutage()]);
  expect([...one.counted, ...other.counted].sort()).toEqual([
    'order_saga_outages held',
    'order_saga_outages held-before',
  ]);
  expect([...one.said, ...other.said].sort()).toEqual([
    'the provider is down: a hold is on already',
    'the provider is down: new sagas are held from now on',
  ]);
  // The list shows it after a moment.
  const holds = "WorkflowType = 'hold' AND ExecutionStatus = 'Running'";
  await until(async () => (await rig.temporal.workflow.count(holds)).count === 1);
  expect((await rig.sagas.holding())?.by).toMatch(/^worker [12]@[ab]$/);
});

it('leaves the hold of a person alone, and what a person has released', async () => {
  await rig.sagas.hold({ by: 'ann', note: 'a move' });
  const before = await rig.sagas.holding();
  const first = watch('1@a');
  await first.seesOutage();
  expect(await rig.sagas.holding()).toEqual(before);
  await rig.sagas.release({ by: 'ann' });
  const second = watch('1@a');
  await second.seesOutage();
  expect(await rig.sagas.holding()).toBeUndefined();
  expect([...first.counted, ...second.counted]).toEqual([
    'order_saga_outages held-before',
    'order_saga_outages left-off',
  ]);
  expect(second.said).toEqual([expect.stringMatching(/not held, because a person has released a hold just before/)]);
});

it('holds twice as long where the last one of an outage has just ended by itself', async () => {
  const lasts = async () => {
    const { seesOutage, counted } = watch('2@b', { ...outage, holdMs: 1_000 });
    await seesOutage();
    expect(counted).toEqual(['order_saga_outages held']);
    const { since, until: ends = '' } = (await rig.sagas.holding())!;
    return Date.parse(ends) - Date.parse(since);
  };
  expect(await lasts()).toBe(1_000);
  await rig.temporal.workflow.getHandle('hold').result();
  expect(await lasts()).toBe(2_000);
});

const start = (count: number) =>
  Promise.all(Array.from({ length: count }, () => rig.sagas.provision(provisionRequest())));
const goDown = () => rig.sandbox.faults.add({ endpoint: '*', kind: 'error-before', status: 503, times: 'all' });

it('holds in an outage, again while it goes on; what comes meanwhile makes no call; when the provider is back all go', async () => {
  await rig.replaceWorkers({ outage: { holdMs: 20_000, windowMs: 10_000, callsMin: 6 } });
  const down = goDown();
  const first = await start(4);
  const hold = await until(() => rig.sagas.holding());
  expect(hold).toMatchObject({
    by: expect.stringMatching(/^worker \d+@/) as string,
    note: expect.stringMatching(/^the provider is down: \d+ of \d+ calls within 10 s got no answer$/) as string,
    until: expect.any(String) as string,
  });
  const later = await start(20);
  await until(async () => (await rig.sagas.countHeld()) > 0);
  const held = await until(async () => {
    const states = await Promise.all(later.map(async (saga) => ({ saga, ...(await progressOf(saga)) })));
    const found = states.filter(({ state }) => state === 'held');
    return found.length >= 12 && found;
  });
  const called = new Set(rig.sandbox.ledger.calls.flatMap(({ names }) => names.planId ?? []));
  for (const { saga } of held) expect(called).not.toContain(planIdOf(saga.reference));

  rig.sandbox.faults.lift(down);
  for (const saga of [...first, ...later]) {
    while ((await untilWaitingOrEnded(saga)) !== undefined) await answer(saga, 'retry');
    await saga.result();
  }
  expect(orders(rig.sandbox.ledger)).toHaveLength(24);
  expect(orderedTwice(rig.sandbox.ledger)).toEqual([]);
  expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
});
