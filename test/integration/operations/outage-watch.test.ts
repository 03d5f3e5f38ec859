/**
 * What workers do when they see an outage: one hold, which says what was seen; and what a person has said counts for
 * more.
 */
import { Client } from '@temporalio/client';
import { noopMetricMeter, type MetricMeter } from '@temporalio/common';
import { callsTo, openCartItems, orders, orderedTwice } from '../../../sandbox/sentences';
import { startProcess } from '../../../scripts/processes';
import type { OutageConfig } from '../../../src/config';
import { OutageWatch } from '../../../src/operations/outage-watch';
import type { CallEvent } from '../../../src/provider/client';
import { itInWays } from '../../support/left-out';
import { programOf } from '../../support/programs';
import { planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, untilWaiting, untilWaitingOrEnded } from '../../support/sagas';

const outage: OutageConfig = { share: 0.8, windowMs: 60_000, callsMin: 6, quietMs: 60_000, probe: undefined };

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const start = (count: number) =>
  Promise.all(Array.from({ length: count }, () => rig.sagas.provision(provisionRequest())));
const goDown = () => rig.sandbox.faults.add({ endpoint: '*', kind: 'error-before', status: 503, times: 'all' });

it('holds in an outage; what comes meanwhile makes no call; when the provider is back a probe finds out, and all go', async () => {
  await rig.replaceWorkers({ outage: { ...outage, probe: { first: 2, pauseMs: 2_000 } } });
  const down = goDown();
  const first = await start(4);
  const hold = await until(() => rig.sagas.holding());
  expect(hold).toMatchObject({
    by: expect.stringMatching(/^worker \d+@/) as string,
    note: expect.stringMatching(
      /^the provider is down: \d+ of \d+ calls within \d s got no answer \(\d+ × 503\), of [34] sagas, of accounts AB-/,
    ) as string,
    detected: true,
  });
  const later = await start(20);
  for (const saga of first) await untilWaiting(saga, 'stuck');
  await until(async () => (await rig.sagas.countHeld()) > 0);
  await Promise.all(later.map((saga) => untilWaiting(saga)));
  const called = new Set(rig.sandbox.ledger.calls.flatMap(({ names }) => names.planId ?? []));
  // Seen after that: whom a probe has let go has a decision, and may have called.
  const seen = await Promise.all(later.map((saga) => saga.progress()));
  const held = seen.filter(({ waiting, decisions }) => waiting?.kind === 'held' && decisions.length === 0);
  expect(held.length).toBeGreaterThanOrEqual(12);
  for (const { reference } of held) expect(called).not.toContain(planIdOf(reference));

  rig.sandbox.faults.lift(down);
  await until(async () => (await rig.sagas.holding()) === undefined);
  for (const saga of [...first, ...later]) {
    while ((await untilWaitingOrEnded(saga)) !== undefined) await answer(saga, 'retry');
    await saga.result();
  }
  expect(orders(rig.sandbox.ledger)).toHaveLength(24);
  expect(orderedTwice(rig.sandbox.ledger)).toEqual([]);
  expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
});

itInWays('stays when the worker that has set it is killed: another one probes, and lets all go', async () => {
  // Only the process looks for outages.
  const worker = await startProcess(programOf('worker'), {
    ...rig.environment,
    TASK_QUEUE: 'order-saga',
    OUTAGE_HOLD: 'probe',
    OUTAGE_CALLS_MIN: '6',
    OUTAGE_PROBE_FIRST: '1',
    OUTAGE_PROBE_PAUSE_MS: '1000',
  });
  const down = goDown();
  const sagas = await start(1);
  // Which worker takes a call is not ours to say: until the process has seen enough of them.
  await until(async () => {
    sagas.push(...(await start(2)));
    return rig.sagas.holding();
  });
  await worker.kill('SIGKILL');
  sagas.push(...(await start(6)));
  expect(await rig.sagas.holding()).toMatchObject({ detected: true });
  rig.sandbox.faults.lift(down);
  await until(async () => (await rig.sagas.holding()) === undefined);
  for (const saga of sagas) {
    while ((await untilWaitingOrEnded(saga)) !== undefined) await answer(saga, 'retry');
    await saga.result();
  }
  expect(callsTo(rig.sandbox.ledger, 'place-order').length).toBe(sagas.length);
  expect(orders(rig.sandbox.ledger)).toHaveLength(sagas.length);
});

/**
 * A watch as a worker has one, with all that it says. Calls outside of an activity are of no saga: each is given one.
 */
function watch(identity: string, temporal = rig.temporal) {
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
  const around = { temporal, taskQueue: 'order-saga', identity, meter, log };
  const watching = new OutageWatch(outage, around, () => `provision/${++sagas}`);
  const call: CallEvent = { endpoint: 'POST /order', method: 'POST', durationMs: 1, sent: true, status: 200 };
  return {
    counted,
    said,
    seesOutage: async () => {
      for (let nth = 0; nth < 6; nth += 1) {
        watching.onCall({ ...call, status: 503, failure: 'UnknownOutcome' });
      }
      await watching.close();
    },
    sees: async (changes: Partial<CallEvent>, times: number) => {
      for (let nth = 0; nth < times; nth += 1) watching.onCall({ ...call, ...changes });
      await watching.close();
    },
  };
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
  await until(async () => (await rig.temporal.workflow.count("WorkflowType = 'hold'")).count === 1);
  expect((await rig.sagas.holding())?.by).toMatch(/^worker [12]@[ab]$/);
});

it('leaves the hold of a person alone, and what a person has released', async () => {
  const { seesOutage, counted, said } = watch('1@a');
  await rig.sagas.hold({ by: 'ann', note: 'a move' });
  const before = await rig.sagas.holding();
  await seesOutage();
  expect(await rig.sagas.holding()).toEqual(before);
  await rig.sagas.release({ by: 'ann' });
  await until(async () => (await rig.sagas.holding()) === undefined);
  await seesOutage();
  expect(await rig.sagas.holding()).toBeUndefined();
  expect(counted).toEqual(['order_saga_outages held-before', 'order_saga_outages left-off']);
  expect(said.at(-1)).toMatch(/new sagas are not held, because a person has released a hold just before/);
});

itInWays('holds again at once where probes have released the hold before', async () => {
  const args = [{ by: 'worker 1@a', detected: true, probe: { first: 1, pauseMs: 10 } }];
  const first = await rig.temporal.workflow.start('hold', { workflowId: 'hold', taskQueue: 'order-saga', args });
  const [saga] = await start(1);
  await saga!.result();
  expect(await first.result()).toMatchObject({ by: 'probes' });
  const { seesOutage, counted } = watch('2@b');
  await seesOutage();
  expect(counted).toEqual(['order_saga_outages held']);
  expect(await rig.sagas.holding()).toMatchObject({ by: 'worker 2@b' });
});

itInWays.each<[string, Partial<CallEvent>]>([
  ['a wrong password', { status: 401, failure: 'Unauthorized' }],
  ['refusals', { status: 422, failure: 'Rejected' }],
  ['429', { status: 429, failure: 'RateLimited' }],
  ['calls that our side kept back', { failure: 'NotSent', sent: false, heldBack: true }],
])('does not hold for %s', async (_what, changes) => {
  const { sees, counted } = watch('1@a');
  await sees(changes, 100);
  expect(counted).toEqual([]);
  expect(await rig.sagas.holding()).toBeUndefined();
});

itInWays('says so when it cannot hold, and tries again', async () => {
  const nobody = new Client({ connection: rig.temporal.connection, namespace: 'no-such-namespace' });
  const { seesOutage, said } = watch('1@a', nobody);
  await seesOutage();
  await seesOutage();
  expect(said).toEqual(Array(2).fill('the provider is down, and new sagas could not be held'));
});
