/**
 * After a reset the order is not sent before a person has spoken; and if the worker dies just then, nobody hears that it was
 * not. The items of this run belong to no order all the same. Found by chaos.
 */
import { openCartItems, orders } from '../../sandbox/sentences';
import * as guard from '../../src/activities/pivot-guard';
import { SagaHandle } from '../../src/client/handle';
import { provisionRequest } from '../support/requests';
import { resetTo, workflowTasksOf } from '../support/reset';
import { Rig } from '../support/rig';
import { answer, untilWaiting } from '../support/sagas';

jest.mock('../../src/activities/pivot-guard', () => {
  const real = jest.requireActual<typeof guard>('../../src/activities/pivot-guard');
  return { ...real, refuseSecondRun: jest.fn(real.refuseSecondRun) };
});

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

async function resetToTheBeginning(workflowId: string): Promise<void> {
  const [first = 0] = await workflowTasksOf(rig.temporal, { workflowId });
  await resetTo(rig.temporal, { workflowId }, first);
}

/** As a worker that dies with the call: it ends without a word of ours. */
function loseTheNextOrder(): void {
  jest.mocked(guard.refuseSecondRun).mockRejectedValueOnce(new Error('the worker is gone'));
}

async function resetAndLost() {
  const request = provisionRequest({ items: [{}, {}] });
  const { workflowId } = await rig.sagas.provision(request);
  const saga = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await saga.result();
  loseTheNextOrder();
  await resetToTheBeginning(workflowId);
  const { question } = await untilWaiting(saga, 'outcome-unknown');
  expect(question).toMatch(/not known whether the provider placed/);
  return { request, saga };
}

it('the order is there: it is the earlier run’s, and the items of this run are deleted', async () => {
  const { request, saga } = await resetAndLost();
  await answer(saga, 'confirmPlaced', { note: 'the panel shows it' });
  expect(await saga.result()).toMatchObject({ leftovers: [] });
  expect(openCartItems(rig.sandbox.ledger)).toEqual([]);
  expect(orders(rig.sandbox.ledger).filter(({ label }) => label === request.label)).toHaveLength(1);
});

it('in a first run: its items are the order’s, and stay', async () => {
  const request = provisionRequest({ items: [{}, {}] });
  loseTheNextOrder();
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'outcome-unknown');
  // Here it never left; had it, these would be in it.
  const items = openCartItems(rig.sandbox.ledger);
  await answer(saga, 'confirmPlaced', { note: 'so it seems' });
  await saga.result();
  expect(items).toHaveLength(2);
  expect(openCartItems(rig.sandbox.ledger)).toEqual(items);
});
