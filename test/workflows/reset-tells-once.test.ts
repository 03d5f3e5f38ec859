/** A run that came from a reset and ends before its order tells what the run that was cut short did: all of it, and once. */
import { callsTo, openCartItems } from '../../sandbox/sentences';
import * as history from '../../src/activities/cart-history';
import { SagaHandle } from '../../src/client/handle';
import { activitiesOf } from '../support/events';
import { planIdOf, provisionRequest } from '../support/requests';
import { resetTo, workflowTasksOf } from '../support/reset';
import { Rig, until } from '../support/rig';
import { outcomeOf, untilWaiting } from '../support/sagas';

jest.mock('../../src/activities/cart-history', () => ({
  ...jest.requireActual<typeof history>('../../src/activities/cart-history'),
  readCart: jest.fn(),
}));
const real = jest.requireActual<typeof history>('../../src/activities/cart-history');

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
beforeEach(() => jest.mocked(history.readCart).mockImplementation(real.readCart));
afterEach(() => {
  rig.sandbox.faults.clear();
});

/**
 * Two items; the first run waits at its order. The second one has the first item from it, and its own second one is refused.
 *
 * @returns the second run, and the items that the first one added
 */
async function cutShort(beforeReset: () => void = () => undefined) {
  const request = provisionRequest({ items: [{}, {}] });
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const gate = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', nth: 2, match });
  const first = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await until(async () => (await first.progress()).steps.some(({ status }) => status === 'done'));
  const [kept = 0] = openOf(match.planId);
  rig.sandbox.faults.release(gate);
  await untilWaiting(first, 'stuck');
  const [lost = 0] = openOf(match.planId).filter((id) => id !== kept);
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'refuse-before', match });
  beforeReset();
  await resetTo(rig.temporal, first, (await workflowTasksOf(rig.temporal, first))[1] ?? 0);
  const saga = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  return { ended: await outcomeOf(saga), kept, lost, match };
}

const openOf = (planId: number) =>
  openCartItems(rig.sandbox.ledger).flatMap(({ cartItemId, item }) => (item.plan_id === planId ? [cartItemId] : []));

it('its own item is deleted, and only the other one’s is told', async () => {
  const { ended, kept, lost, match } = await cutShort();
  expect(ended.failure?.type).toBe('OrderRejected');
  expect(ended.failure?.report.leftovers).toEqual([
    { kind: 'cart-item', cartItemId: lost, why: 'an earlier run, which was cut short by a reset, added it' },
  ]);
  expect(openOf(match.planId)).toEqual([lost]);
  expect(callsTo(rig.sandbox.ledger, 'delete-cart-item').at(-1)?.path).toContain(String(kept));
});

it('where the histories cannot be read, anything may be: its items are left alone, and an order may be there', async () => {
  const { ended, kept, lost, match } = await cutShort(() => {
    jest.mocked(history.readCart).mockRejectedValue(new Error('no histories today'));
  });
  expect(ended.failure?.report.leftovers).toEqual([
    {
      kind: 'cart-item',
      cartItemId: kept,
      why: 'it could not be read whether an earlier run of this reference ordered it',
    },
    {
      kind: 'placement-unknown',
      step: 'place-order',
      why: 'an earlier run of this reference, which was cut short by a reset, placed it or may have',
    },
  ]);
  expect(openOf(match.planId).sort()).toEqual([kept, lost].sort());
});

it.each([
  ['its order was not sent', 'unauthorized', 'stuck', -2],
  ['its order is of unknown fate', 'error-before', 'outcome-unknown', -3],
] as const)('what both runs know of is told once, where of the first %s', async (_, kind, wait, beforeItsOrder) => {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-before', match });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind, match: { label: request.label } });
  const first = await rig.sagas.provision(request);
  await untilWaiting(first, wait);
  await resetTo(rig.temporal, first, (await workflowTasksOf(rig.temporal, first)).at(beforeItsOrder) ?? 0);
  const saga = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
  await untilWaiting(saga, 'outcome-unknown');
  await saga.cancel();
  const { cancelled } = await outcomeOf(saga);
  expect(cancelled?.leftovers.map(({ kind }) => kind).sort()).toEqual([
    'cart-item',
    'cart-item-unknown',
    'placement-unknown',
  ]);
  expect(await activitiesOf(rig.temporal.workflow.getHandle(saga.workflowId))).toContain(
    'readEarlierRuns: read what earlier runs did',
  );
});
