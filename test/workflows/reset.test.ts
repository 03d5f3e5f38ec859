/**
 * An operator resets a run, or starts it again: no second order, change order or switch is ever sent unasked.
 *
 * Reset offers every finished workflow task; all of them are tried.
 */
import { changeOrdersOf, openCartItems, ordersWithLabel, switchesOf } from '../../sandbox/sentences';
import { SagaHandle } from '../../src/client/handle';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../support/requests';
import { resetTo, workflowTasksOf } from '../support/reset';
import { Rig, until } from '../support/rig';
import { answer, outcomeOf, untilWaiting, untilWaitingOrEnded } from '../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const openItemsOf = (reference: string) =>
  openCartItems(rig.sandbox.ledger).filter(({ item }) => item.plan_id === planIdOf(reference));

/** Where the run after a reset stands: at its end, or asking. */
async function settle(saga: SagaHandle): Promise<'asks' | 'ended'> {
  return (await untilWaitingOrEnded(saga, 'outcome-unknown')) ? 'asks' : 'ended';
}

it('of a provisioning that is done never orders again, from whichever point', async () => {
  const request = provisionRequest({ items: [{}, {}] });
  const saga = await rig.sagas.provision(request);
  await saga.result();
  const points = await workflowTasksOf(rig.temporal, saga);
  const firstRun = (await saga.describe()).runId;
  let asked = 0;
  for (const point of points) {
    await resetTo(rig.temporal, { workflowId: saga.workflowId, runId: firstRun }, point);
    const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
    if ((await settle(again)) === 'asks') {
      asked += 1;
      expect((await again.progress()).waiting?.question).toMatch(/earlier run/);
      await answer(again, 'confirmPlaced', { note: 'the first run placed it' });
      await outcomeOf(again);
    }
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
    // What the run after the reset added belongs to no order, and is deleted.
    expect(openItemsOf(request.reference)).toEqual([]);
  }
  expect(asked).toBeGreaterThan(0);
}, 120_000);

it('of a change order and of a switch never places again, from whichever point', async () => {
  const change = changeRequest();
  const other = switchRequest();
  const sagas = [await rig.sagas.change(change), await rig.sagas.switch(other)] as SagaHandle[];
  for (const saga of sagas) {
    await saga.result();
    const firstRun = (await saga.describe()).runId;
    for (const point of await workflowTasksOf(rig.temporal, saga)) {
      await resetTo(rig.temporal, { workflowId: saga.workflowId, runId: firstRun }, point);
      const again = new SagaHandle(rig.temporal, saga.workflow, saga.reference, '', true);
      if ((await settle(again)) === 'asks') await answer(again, 'confirmPlaced', { note: 'it was' });
      await outcomeOf(again);
    }
  }
  expect(changeOrdersOf(rig.sandbox.ledger, change.subscription_id)).toHaveLength(1);
  expect(switchesOf(rig.sandbox.ledger, other.subscription_id)).toHaveLength(1);
}, 120_000);

it('while the order is under way does not send it a second time', async () => {
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'before', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  // A signal brings a workflow task that can be reset to while the order's activity is scheduled: it is copied.
  await rig.temporal.workflow.getHandle(saga.workflowId).signal('retry', {});
  const point = await until(async () => {
    const points = await workflowTasksOf(rig.temporal, saga);
    return points.length >= 3 && points.at(-1);
  });
  await resetTo(rig.temporal, saga, point);
  rig.sandbox.faults.release(gate);
  const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await untilWaiting(again, 'outcome-unknown');
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  await answer(again, 'confirmPlaced', { note: 'it was' });
  await again.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});

it('places once when the earlier run had placed nothing, and deletes what that run left in the cart', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const [first = 0] = await workflowTasksOf(rig.temporal, saga);
  await resetTo(rig.temporal, saga, first);
  const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await untilWaiting(again, 'outcome-unknown');
  expect(openItemsOf(request.reference)).toHaveLength(2);
  await answer(again, 'confirmNotPlaced', { note: 'the panel shows none' });
  await again.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  expect(openItemsOf(request.reference)).toEqual([]);
});

it('asks in each further run anew: a word given in one run does not hold for the next', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const handle = () => new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[0] ?? 0);
  await untilWaiting(handle(), 'outcome-unknown');
  await answer(handle(), 'confirmNotPlaced', { note: 'the panel shows none' });
  await handle().result();
  const secondRun = (await handle().describe()).runId;
  const second = { workflowId: saga.workflowId, runId: secondRun };
  for (const point of await workflowTasksOf(rig.temporal, second)) {
    await resetTo(rig.temporal, second, point);
    if ((await settle(handle())) === 'asks') await answer(handle(), 'confirmPlaced', { note: 'it is there now' });
    await outcomeOf(handle());
    expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
  }
}, 120_000);

it('asks when somebody starts the same workflow id again after its end', async () => {
  const request = provisionRequest();
  await (await rig.sagas.provision(request)).result();
  // The client refuses this; the Web UI and other SDKs do not.
  const handle = await rig.temporal.workflow.start('provisionServers', {
    workflowId: `provision/${request.reference}`,
    taskQueue: 'order-saga',
    args: [request],
  });
  const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  expect((await untilWaiting(again, 'outcome-unknown')).question).toMatch(/earlier run/);
  await handle.cancel();
  await outcomeOf(again);
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});
