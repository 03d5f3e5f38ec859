/**
 * The hold: only what has not begun is held; one switch for the namespace; and they do not all begin at once when it
 * ends.
 */
import type { WorkflowFailedError } from '@temporalio/client';
import { noopMetricMeter, type MetricMeter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { callsTo } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { metrics } from '../../../src/domain/metrics';
import { Gauges } from '../../../src/operations/gauges';
import { healthOf } from '../../../src/journal/health';
import { LostSagas } from '../../../src/operations/lost-sagas';
import { runHere } from '../../support/command-line';
import { itInWays } from '../../support/left-out';
import { isMute, muteSagas } from '../../support/mute-sagas';
import { changeRequest, provisionRequest, switchRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
// One for each test: a release goes on looking for a minute, and lets go whatever it finds.
beforeEach(async () => {
  rig = await Rig.start({ replays: (run) => !isMute(run) });
});
afterEach(() => rig.close());

/** As the Web UI does it: a name, an id, a queue, some JSON. */
const startHold = (workflowId: string, ...args: unknown[]) =>
  rig.temporal.workflow.start('hold', { workflowId, taskQueue: 'order-saga', args });
const held = async (count: number, start: () => Promise<SagaHandle>) => {
  const sagas = await Promise.all(Array.from({ length: count }, start));
  await Promise.all(sagas.map((saga) => untilWaiting(saga, 'held')));
  await until(async () => (await rig.sagas.countHeld()) === count);
  return sagas;
};
const cli = (...args: string[]) => runHere(args, '', rig.environment);

itInWays('can be terminated: what was held is let go by the next release', async () => {
  const hold = await startHold('hold', { note: 'a test' });
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  await hold.terminate();
  await rig.sagas.provision(provisionRequest()).then((other) => other.result());
  expect((await saga!.progress()).state).toBe('held');
  expect(await rig.sagas.release()).toEqual({ was: false });
  await saga!.result();
});

it('holds what has not begun, and says since when, who and why; it goes on when somebody releases it', async () => {
  const hold = await startHold('hold', { by: 'ann', note: 'moving the database' });
  await until(async () => (await rig.sagas.holding())?.by === 'ann');
  const calls = rig.sandbox.ledger.calls.length;
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  const { question, choices } = await untilWaiting(saga!, 'held');
  expect(question).toMatch(
    /^New sagas are held since 20[-0-9]+ [:0-9]+ UTC by ann; nothing was sent\. This one has not begun/,
  );
  expect(choices).toEqual(['retry']);
  expect(rig.sandbox.ledger.calls).toHaveLength(calls);

  // Whoever retries while it is on is held again.
  await answer(saga!, 'retry');
  await until(async () => (await saga!.progress()).decisions.length === 1);
  await untilWaiting(saga!, 'held');

  expect(await hold.executeUpdate('release', { args: [{ by: 'bob', perSecond: 5 }] })).toEqual({ released: true });
  expect(await outcomeOf(saga!)).toMatchObject({ result: { decisions: expect.any(Array) as unknown } });
  expect((await saga!.progress()).decisions).toMatchObject([
    { decision: 'retry', kind: 'held' },
    { decision: 'retry', kind: 'held', note: 'the hold was released by bob' },
  ]);
  expect(await hold.result()).toMatchObject({ by: 'bob', perSecond: 5 });
  expect(await rig.sagas.holding()).toBeUndefined();
});

itInWays('does not hold a saga that is under way: it is approved while the hold is on, and ends', async () => {
  const saga = await rig.sagas.change(changeRequest({ approval: 'always' }));
  await untilWaiting(saga, 'approval');
  await rig.sagas.hold({ note: 'a test' });
  await answer(saga, 'approve');
  expect(await outcomeOf(saga)).toMatchObject({ result: { order: expect.anything() as unknown } });
  await rig.sagas.release();
});

itInWays('lets a saga that is held be cancelled', async () => {
  await rig.sagas.hold({ note: 'a test' });
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  await saga!.cancel();
  expect(await outcomeOf(saga!)).toMatchObject({ cancelled: { leftovers: [] } });
  await rig.sagas.release();
});

itInWays('lets them begin at the pace that was asked for, and forgets nobody', async () => {
  await rig.sagas.hold({ note: 'a test' });
  const { runId } = (await rig.sagas.holding())!;
  const before = callsTo(rig.sandbox.ledger, 'place-order').length;
  const sagas = await held(7, () => rig.sagas.provision(provisionRequest()));
  await rig.sagas.release({ by: 'ann', perSecond: 3 });
  await Promise.all(sagas.map((saga) => saga.result()));
  expect(callsTo(rig.sandbox.ledger, 'place-order')).toHaveLength(before + 7);

  // Three, a second, three, a second, one: as its history has it, whatever the machine made of it.
  const { events } = await rig.temporal.workflow.getHandle(`release-held/${runId}`).fetchHistory();
  const waves = (events ?? []).flatMap((event) => {
    if (event.signalExternalWorkflowExecutionInitiatedEventAttributes) return ['told'];
    const { startToFireTimeout } = event.timerStartedEventAttributes ?? {};
    return Number(startToFireTimeout?.seconds ?? 0) === 1 ? ['a second'] : [];
  });
  const first = ['told', 'told', 'told', 'a second'];
  expect(waves.slice(0, 10)).toEqual([...first, ...first, 'told', 'a second']);
});

itInWays('tells those that do not answer a few times, and how many they are', async () => {
  await rig.sagas.hold({ note: 'a test' });
  const { runId } = (await rig.sagas.holding())!;
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  const [mute = ''] = await muteSagas(rig, 1);
  await rig.sagas.release({ perSecond: 50 });
  await saga!.result();
  const releasing = rig.temporal.workflow.getHandle(`release-held/${runId}`);
  expect(await releasing.result()).toEqual({ told: 6, heldAgain: false, stillHeld: 1 });
  const { events } = await rig.temporal.workflow.getHandle(mute).fetchHistory();
  expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(5);
});

itInWays('lets no more of them begin, however slowly, once there is another hold', async () => {
  await rig.sagas.hold({ note: 'a test' });
  const { runId } = (await rig.sagas.holding())!;
  const sagas = await held(3, () => rig.sagas.provision(provisionRequest()));
  await rig.sagas.release({ perSecond: 0.1 });
  await until(async () => (await rig.sagas.countHeld()) < sagas.length);
  await rig.sagas.hold({ note: 'another one' });
  const releasing = rig.temporal.workflow.getHandle(`release-held/${runId}`);
  const { told, heldAgain } = (await releasing.result()) as { told: number; heldAgain: boolean };
  expect(heldAgain).toBe(true);
  expect(told).toBeLessThanOrEqual(2);
  expect(await rig.sagas.countHeld()).toBeGreaterThanOrEqual(1);
});

itInWays('is one hold: another one is not started beside it', async () => {
  expect(await rig.sagas.hold({ by: 'ann', note: 'first' })).toEqual({ existing: false });
  expect(await rig.sagas.hold({ by: 'bob', note: 'second' })).toEqual({ existing: true });
  expect(await rig.sagas.holding()).toMatchObject({ by: 'ann', note: 'first' });
  await rig.sagas.release();
});

itInWays('is not there under another id, and says so', async () => {
  const misnamed = await startHold('a-hold', { note: 'a test' });
  const failed = (await misnamed.result().catch((error: unknown) => error)) as WorkflowFailedError;
  expect(failed.cause?.message).toBe('this holds nothing: the workflow id must be hold, and it is a-hold');
  expect(await rig.sagas.holding()).toBeUndefined();
});

itInWays('holds without a word of who and why, and is released by a cancellation', async () => {
  const hold = await startHold('hold');
  const [saga] = await held(1, () => rig.sagas.start('switchPlan', switchRequest()));
  await hold.cancel();
  await saga!.result();
  expect(await hold.result()).toMatchObject({ note: 'by a cancellation' });
});

itInWays('refuses a pace beyond its bounds, and stays on', async () => {
  await rig.sagas.hold({ note: 'a test' });
  await expect(rig.sagas.release({ perSecond: 101 })).rejects.toThrow(/perSecond: must be from 0.01 to 100/);
  const hold = rig.temporal.workflow.getHandle('hold');
  await expect(hold.executeUpdate('release', { args: [{ perSecond: 0 }] })).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/perSecond: must be from 0.01 to 100.*Like/) as string },
  });
  await hold.signal('release', { perSecond: 0 });
  expect(await rig.sagas.holding()).toBeDefined();
  await rig.sagas.release();
});

itInWays('begins and is counted while no worker runs', async () => {
  await rig.withoutWorkers(async () => {
    await rig.sagas.hold({ by: 'ann', note: 'a test' });
    expect(await rig.sagas.holding()).toMatchObject({ by: 'ann', note: 'a test' });
  });
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  await rig.sagas.release();
  await saga!.result();
});

it('is switched and told of by the command line', async () => {
  expect(await cli('hold', 'status')).toEqual({
    status: 0,
    out: 'new sagas begin: no hold is on\n0 sagas are held\n',
    err: '',
  });
  const on = await cli('hold', 'on', '--by', 'ann', '--note', 'a move');
  expect(on).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^new sagas are held since .* by ann \(a move\)\n$/) as string,
  });
  expect((await cli('hold', 'on', '--note', 'again')).out).toMatch(/by ann \(a move\): that hold was on before/);
  const [saga] = await held(1, () => rig.sagas.provision(provisionRequest()));
  expect((await cli('hold', 'status')).out).toMatch(/by ann \(a move\)\n1 saga is held\n$/);
  expect(JSON.parse((await cli('hold', 'status', '--json')).out)).toMatchObject({
    hold: { by: 'ann', note: 'a move', since: expect.any(String) as string },
    held: 1,
  });
  const list = await cli('list', '--state', 'held');
  expect(list.out).toContain(saga!.workflowId);
  expect(list.err).toMatch(/^new sagas are held since .* by ann \(a move\); `order-saga hold off` lets them begin\n$/);

  for (const wrong of [
    ['hold', 'on'],
    ['hold', 'off', '--rate', 'fast'],
    ['hold', 'off', '--rate', '1000'],
  ]) {
    expect((await cli(...wrong)).status).toBe(2);
  }
  expect(await cli('hold', 'off', '--rate', '5/s', '--by', 'bob')).toMatchObject({
    status: 0,
    out: 'the hold is off: new sagas begin\n1 saga is released, one after the other\n',
  });
  await saga!.result();
  expect((await cli('list', '--limit', '1')).err).not.toContain('held');
  expect((await cli('hold', 'off')).out).toMatch(/^no hold was on\n0 sagas are released/);
});

itInWays('is a gauge of every worker', async () => {
  const connection = await NativeConnection.connect({ address: rig.address });
  const { namespace } = rig;
  const seen = () =>
    rig.withJournal(async (journal) => {
      const values: number[] = [];
      const meter: MetricMeter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, {
        createGauge: (name: string) => ({
          ...noopMetricMeter.createGauge(name),
          set: (value: number) => name === metrics.hold.name && values.push(value),
        }),
      });
      const config = { namespace, taskQueue: 'order-saga' };
      const lost = new LostSagas(rig.temporal, journal);
      const gauges = new Gauges(
        connection,
        config,
        meter,
        { warn: () => undefined },
        {
          lost,
          openServers: () => Promise.resolve([]),
          outbox: () => Promise.resolve([]),
          holding: () => rig.sagas.holding(),
          unserved: () => Promise.resolve(0),
          journal: () => healthOf(journal),
        },
      );
      gauges.start();
      const [value] = await until(() => Promise.resolve(values.length > 0 ? values : undefined));
      gauges.stop();
      return value;
    });
  try {
    await rig.sagas.hold({ note: 'a test' });
    expect(await seen()).toBe(1);
    await rig.sagas.release();
    await until(async () => (await rig.sagas.holding()) === undefined);
    expect(await seen()).toBe(0);
  } finally {
    await connection.close();
  }
});
