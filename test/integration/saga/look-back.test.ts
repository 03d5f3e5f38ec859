/**
 * A run that was reset to after it took its reference is not told that the reference is known. What the run before it
 * has placed counts all the same: nobody is asked about it, it does not fail, and what was added for nothing does not
 * stay in the cart.
 */
import { firewallsOf, ordersWithLabel, switchesOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { rigSettings } from '../../support/activity-settings';
import { planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { resetTo, taskBefore, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({
    planTypesMore: ['vps:other'],
    sandbox: { supportedPlanTypes: ['cloud_servers_standard', 'vps'] },
  });
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ unavailableSubscriptions: [] });
});

const orderOf = ({ reference }: { reference: string }) => {
  const [order, ...more] = ordersWithLabel(rig.sandbox.ledger, reference);
  if (order === undefined || more.length > 0) throw new Error(`${reference} has not one order`);
  return order;
};

/** Placed, and all its servers have what was asked for. */
function expectProtected(request: { reference: string }, servers: number): void {
  const { vmObjectIds } = orderOf(request);
  expect(vmObjectIds).toHaveLength(servers);
  expect(vmObjectIds.map((id) => firewallsOf(rig.sandbox.ledger, id))).toEqual(vmObjectIds.map(() => [143]));
}

const untilStuckAtFirewalls = (saga: SagaHandle) =>
  until(async () => (await saga.progress()).waiting?.step.startsWith('assign-firewalls'));

const refusesItemOf = ({ reference }: { reference: string }) =>
  ({ endpoint: 'add-cart-item', kind: 'refuse-before', match: { planId: planIdOf(reference) } }) as const;

/**
 * Whose item is refused, or only stuck, and then corrected; placed, and stuck at the firewalls, which may be assigned
 * from now on.
 */
async function placedAsCorrected(first: { quantity?: number }, correction: object, onRefusal: 'ask' | 'fail' = 'ask') {
  const request = provisionRequest({ items: [first], firewalls: [143], onRefusal });
  const match = { planId: planIdOf(request.reference) };
  const kind = onRefusal === 'ask' ? 'refuse-before' : 'unauthorized';
  rig.sandbox.faults.add({ ...refusesItemOf(request), kind });
  const atFirewalls = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, onRefusal === 'ask' ? 'refused' : 'stuck');
  await answer(saga, 'retry', { correction });
  await untilStuckAtFirewalls(saga);
  rig.sandbox.faults.lift(atFirewalls);
  return { request, saga, match };
}

describe('an order that was placed as it was corrected, reset to before that', () => {
  it('does not leave in the cart what it adds uncorrected', async () => {
    const { request, saga } = await placedAsCorrected({}, { os_template_id: 7 });
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'addCartItem'));
    const result = await rig.latest('provisionServers', request).result();
    expect(result).toMatchObject({ outcome: 'done', leftovers: [], cartItemIds: orderOf(request).cartItems });
    expect(rig.openItems(request)).toEqual([]);
    expectProtected(request, 1);
  });

  it('asks nobody where the uncorrected item is refused again', async () => {
    const { request, saga } = await placedAsCorrected({ quantity: 2 }, { os_template_id: 7 });
    rig.sandbox.faults.add(refusesItemOf(request));
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'addCartItem'));
    const result = await rig.latest('provisionServers', request).result();
    expect(result).toMatchObject({ outcome: 'done', leftovers: [], decisions: [] });
    expectProtected(request, 2);
  });

  it('protects as many servers as were bought', async () => {
    const { request, saga } = await placedAsCorrected({ quantity: 2 }, { quantity: 1 });
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'addCartItem'));
    const result = await rig.latest('provisionServers', request).result();
    expect(result).toMatchObject({ outcome: 'done', leftovers: [], decisions: [] });
    expectProtected(request, 1);
    expect(rig.openItems(request)).toEqual([]);
  });

  it('does not end where a refusal ends a saga', async () => {
    const { request, saga } = await placedAsCorrected({ quantity: 2 }, { os_template_id: 7 }, 'fail');
    rig.sandbox.faults.add(refusesItemOf(request));
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'addCartItem'));
    expect(await rig.latest('provisionServers', request).result()).toMatchObject({ outcome: 'done', leftovers: [] });
    expectProtected(request, 2);
  });
});

it('an order that was approved and placed is not asked about again', async () => {
  const request = provisionRequest({ firewalls: [143], approval: 'always' });
  const atFirewalls = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'approval');
  await answer(saga, 'approve');
  await untilWaiting(saga, 'stuck');
  rig.sandbox.faults.lift(atFirewalls);
  const [first = 0] = await workflowTasksOf(rig.temporal, { workflowId: saga.workflowId });
  await resetTo(rig.temporal, { workflowId: saga.workflowId }, first);
  const again = rig.latest('provisionServers', request);
  expect(await again.result()).toMatchObject({ outcome: 'done', leftovers: [], decisions: [] });
  expect(await stepOf(again, 'approve')).toBeUndefined();
  expectProtected(request, 1);
});

describe('a switch that was made, reset to before its quote', () => {
  async function made(changes: Record<string, unknown> = {}) {
    const request = switchRequest(changes);
    const saga = await rig.sagas.switch(request);
    const { quote } = await saga.result();
    const again = async () => {
      await resetTo(
        rig.temporal,
        { workflowId: saga.workflowId },
        await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'quotePlanSwitch'),
      );
      return outcomeOf(rig.latest('switchPlan', request));
    };
    return { request, quote, again };
  }
  const expectTold = (
    request: { subscription_id: number },
    told: Awaited<ReturnType<typeof outcomeOf>>,
    quote: unknown,
  ) => {
    expect(told).toMatchObject({ result: { outcome: 'done', placed: true, quote } });
    expect(switchesOf(rig.sandbox.ledger, request.subscription_id)).toHaveLength(1);
  };

  it('does not fail because it is not available any more', async () => {
    const { request, quote, again } = await made();
    rig.sandbox.configure({ unavailableSubscriptions: [request.subscription_id] });
    expectTold(request, await again(), quote);
  });

  it('nor because the price would break the guard by now', async () => {
    const { request, quote, again } = await made({ guard: { maxTotal: 1_000 } });
    rig.sandbox.configure({ planPrices: { 21: 5_000 } });
    try {
      expectTold(request, await again(), quote);
    } finally {
      rig.sandbox.configure({ planPrices: {} });
    }
  });

  it.each(['fail', 'ask'] as const)('nor because its quote is refused, where a refusal is to %s', async (onRefusal) => {
    const { request, quote, again } = await made({ onRefusal });
    const match = { subscriptionId: request.subscription_id };
    rig.sandbox.faults.add({ endpoint: 'quote-plan-switch', kind: 'refuse-before', match, times: 'all' });
    expectTold(request, await again(), quote);
  });
});

// Last: the workers have other settings from here on.
it('an order is not held against a guard that counts other plan types by now', async () => {
  const counting = (planTypesMore: string[]) => rig.replaceWorkers({ activities: { ...rigSettings, planTypesMore } });
  const items = [{ plan_type: 'vps' as never, quantity: 2 }];
  const request = provisionRequest({ items, guard: { maxServers: 1 } });
  await counting(['vps:other']);
  const saga = await rig.sagas.provision(request);
  await saga.result();
  await counting(['vps:server']);
  const [task = 0] = await workflowTasksOf(rig.temporal, { workflowId: saga.workflowId });
  await resetTo(rig.temporal, { workflowId: saga.workflowId }, task);
  expect(await rig.latest('provisionServers', request).result()).toMatchObject({ outcome: 'done', leftovers: [] });
});

it('what another run may have placed is settled first, where this one gives up; and what is known then counts', async () => {
  const request = switchRequest({ approval: 'always' });
  const saga = await rig.sagas.switch(request);
  await untilWaiting(saga, 'approval');
  const key = { workflow: 'switchPlan', reference: request.reference } as const;
  await rig.withJournal(async (journal) => {
    const call = { step: 'switch-plan', kind: 'pivot', activity: 'switchPlan', about: {} } as const;
    const meaning = { ...key, call, run: 'another', inAirMs: 0, knows: undefined };
    const meant = await journal.mean(meaning);
    if (meant.how !== 'send') throw new Error(meant.how);
    await journal.answered(
      key,
      { call, run: 'another', inAirMs: 0, knows: meant.knows },
      { outcome: 'unknown', answer: null },
    );
  });
  await answer(saga, 'reject');
  await untilWaiting(saga, 'outcome-unknown');
  await answer(saga, 'confirmNotPlaced', { note: 'not there' });
  await untilWaiting(saga, 'approval');
  await answer(saga, 'reject');
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'NotApproved', report: { outcome: 'reversed', leftovers: [] } });
  expect(switchesOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
});
