/**
 * A run that came from a reset and ends before its order: what the run that was cut short had bought, or left in the cart, is
 * told by nobody else. Found by chaos.
 */
import { callsTo, orders, openCartItems } from '../../sandbox/sentences';
import { SagaHandle } from '../../src/client/handle';
import type { WorkflowName } from '../../src/domain/identity';
import { brokenPromises, type Asked } from '../support/promises';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../support/requests';
import { resetTo, workflowTasksOf } from '../support/reset';
import { Rig, until } from '../support/rig';
import { outcomeOf, untilWaiting } from '../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const latest = (workflow: WorkflowName, reference: string) =>
  new SagaHandle(rig.temporal, workflow, reference, '', true);

/** Back to the beginning, or to a later workflow task. */
async function resetToTask(workflow: WorkflowName, reference: string, task = 0): Promise<void> {
  const { workflowId } = latest(workflow, reference);
  const tasks = await workflowTasksOf(rig.temporal, { workflowId });
  await resetTo(rig.temporal, { workflowId }, tasks[task] ?? 0);
}

const broken = (asked: Asked, ended: Awaited<ReturnType<typeof outcomeOf>>) =>
  brokenPromises(rig.sandbox.ledger, asked, ended);

it('cancelled while it asks: the items of the run that was cut short are told', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  await untilWaiting(await rig.sagas.provision(request), 'stuck');
  await resetToTask('provisionServers', request.reference);
  const saga = latest('provisionServers', request.reference);
  await untilWaiting(saga, 'outcome-unknown');
  await saga.cancel();
  const ended = await outcomeOf(saga);
  const open = openCartItems(rig.sandbox.ledger).map(({ cartItemId }) => cartItemId);
  expect(open).toHaveLength(2);
  const told = ended.cancelled?.leftovers.flatMap((one) => (one.kind === 'cart-item' ? [one.cartItemId] : [])) ?? [];
  expect([...told].sort()).toEqual(open);
  expect(broken({ workflow: 'provisionServers', request }, ended)).toEqual([]);
});

it('refused before its order: the order of the run that was cut short is told', async () => {
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({
    endpoint: 'place-order',
    kind: 'gate',
    hold: 'after',
    match: { label: request.label },
  });
  await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  rig.sandbox.faults.add({
    endpoint: 'add-cart-item',
    kind: 'refuse-before',
    match: { planId: planIdOf(request.reference) },
  });
  await resetToTask('provisionServers', request.reference);
  const ended = await outcomeOf(latest('provisionServers', request.reference));
  rig.sandbox.faults.release(gate);
  expect(orders(rig.sandbox.ledger).filter(({ label }) => label === request.label)).toHaveLength(1);
  expect(ended.failure).toMatchObject({
    type: 'OrderRejected',
    report: { leftovers: [{ kind: 'placement-unknown', step: 'place-order' }, { kind: 'cart-item' }] },
  });
  expect(broken({ workflow: 'provisionServers', request }, ended)).toEqual([]);
});

it.each(['changeOrder', 'switchPlan'] as const)(
  '%s, refused at the quote: what was placed is told',
  async (workflow) => {
    const request = workflow === 'changeOrder' ? changeRequest() : switchRequest();
    const asked = { workflow, request } as Asked;
    const match = { subscriptionId: request.subscription_id };
    const saga = await rig.sagas.start(workflow, request);
    await saga.result();
    rig.sandbox.faults.add({ endpoint: '*', kind: 'refuse-before', match });
    await resetToTask(workflow, request.reference);
    const ended = await outcomeOf(latest(workflow, request.reference));
    expect(ended.failure?.report.leftovers).toMatchObject([{ kind: 'placement-unknown' }]);
    expect(broken(asked, ended)).toEqual([]);
  },
);

it('of a saga that never placed anything: nothing is told', async () => {
  const request = changeRequest({ approval: 'always' });
  await untilWaiting(await rig.sagas.change(request), 'approval');
  await resetToTask('changeOrder', request.reference);
  const saga = latest('changeOrder', request.reference);
  await untilWaiting(saga, 'approval');
  await saga.decide('reject', {});
  expect((await outcomeOf(saga)).failure).toMatchObject({ type: 'NotApproved', report: { leftovers: [] } });
});

it('refused beside an item that the run that was cut short has ordered: that item is not deleted', async () => {
  const request = provisionRequest({ items: [{}, {}] });
  const match = { planId: planIdOf(request.reference) };
  const gate = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', nth: 2, match });
  const first = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await until(async () => (await first.progress()).steps.some(({ status }) => status === 'done'));
  rig.sandbox.faults.release(gate);
  await first.result();

  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'refuse-before', match });
  // One item is added, the other one not yet: it is added again.
  await resetToTask('provisionServers', request.reference, 1);
  const ended = await outcomeOf(latest('provisionServers', request.reference));
  const [ordered] = orders(rig.sandbox.ledger).filter(({ label }) => label === request.reference);
  expect(ended.failure?.type).toBe('OrderRejected');
  expect(
    callsTo(rig.sandbox.ledger, 'delete-cart-item').filter(({ names }) => names.planId?.includes(match.planId)),
  ).toEqual([]);
  const kinds = ended.failure?.report.leftovers.map(({ kind }) => kind);
  expect(kinds).toEqual(['cart-item', 'placement-unknown']);
  expect(ordered?.cartItems).toContain((ended.failure?.report.leftovers[0] as { cartItemId: number }).cartItemId);
  expect(broken({ workflow: 'provisionServers', request }, ended)).toEqual([]);
});
