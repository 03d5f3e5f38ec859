/**
 * What a person has corrected holds for the reference, whichever run goes on: reset to before it, started again, or
 * told what it was.
 */
import { callsTo, changeOrdersOf, orders } from '../../../sandbox/sentences';
import { recordSchema } from '../../../src/domain/record';
import { recordOf } from '../../../src/journal/record';
import { timelineOf } from '../../../src/cli/print-record';
import { activitiesOf, inputsOf } from '../../support/events';
import { describeInWays, itInWays } from '../../support/left-out';
import { changeRequest, provisionRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

const ordersOf = ({ account }: { account: string }) =>
  orders(rig.sandbox.ledger).filter((order) => order.account === account);
const secret = 'a new password';

/** Refused, corrected, and then stuck: its item is in the cart as it was corrected, and nothing is ordered. */
async function corrected() {
  const request = provisionRequest({ onRefusal: 'ask', items: [{ quantity: 3 }] });
  const match = { account: request.account };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', nth: 2, match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'refused');
  const before = (await workflowTasksOf(rig.temporal, saga)).length;
  const correction = { quantity: 1, password: secret };
  await answer(saga, 'retry', { by: 'op', note: 'out of stock', correction });
  await untilWaiting(saga, 'stuck');
  expect(rig.openItems(request)).toMatchObject([{ item: { quantity: 1, password: secret } }]);
  return { request, saga, before };
}

const asCorrected = { items: [{ quantity: 1, password: secret }] };

// The one after them heard of the refusal.
itInWays.each([0, 1])('reset to workflow task %d, it orders what was corrected, and nothing is left', async (task) => {
  const { request, saga, before } = await corrected();
  // A task more, where what was written beside the saga is already heard of.
  expect(before).toBeGreaterThanOrEqual(3);
  await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[task] ?? 0);
  const again = rig.latest('provisionServers', request);
  const { outcome, cartItemIds, leftovers } = await again.result();
  expect({ outcome, leftovers }).toEqual({ outcome: 'done', leftovers: [] });
  expect(ordersOf(request)).toMatchObject([{ cartItems: cartItemIds, ...asCorrected }]);
  expect(rig.openItems(request)).toEqual([]);
});

itInWays('reset, it still names the last row that it knows, where it has taken the reference once more', async () => {
  const { request, saga } = await corrected();
  await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[1] ?? 0);
  await rig.latest('provisionServers', request).result();
  const run = rig.temporal.workflow.getHandle(saga.workflowId);
  const taken = (await activitiesOf(run)).filter((asked) => asked.startsWith('takeReference'));
  expect(taken).toHaveLength(2);
  const row = expect.any(String) as string;
  expect((await inputsOf(run, 'addCartItem')).at(-1)).toMatchObject({ knows: { row } });
});

describeInWays('reset to where it was refused, it asks again', () => {
  const askedAgain = async () => {
    const { request, saga } = await corrected();
    await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[2] ?? 0);
    const again = rig.latest('provisionServers', request);
    await untilWaiting(again, 'refused');
    return { request, again };
  };

  it('and where nothing more is corrected, orders what was', async () => {
    const { request, again } = await askedAgain();
    await answer(again, 'retry');
    expect(await again.result()).toMatchObject({ outcome: 'done', leftovers: [] });
    expect(ordersOf(request)).toMatchObject([asCorrected]);
    expect(rig.openItems(request)).toEqual([]);
  });

  it('and puts what is corrected now on top of that', async () => {
    const { request, again } = await askedAgain();
    await answer(again, 'retry', { correction: { quantity: 2 } });
    expect(await again.result()).toMatchObject({ outcome: 'done', leftovers: [] });
    expect(ordersOf(request)).toMatchObject([{ items: [{ quantity: 2, password: secret }] }]);
    expect(rig.openItems(request)).toEqual([]);
  });
});

it('ended from outside and started again, it orders what was corrected, and adds nothing anew', async () => {
  const { request, saga } = await corrected();
  const adds = () => callsTo(rig.sandbox.ledger, 'add-cart-item').length;
  const before = adds();
  await rig.temporal.workflow.getHandle(saga.workflowId).terminate();
  // As somebody does who knows nothing of corrections: with the same request.
  await rig.temporal.workflow.start('provisionServers', {
    ...{ workflowId: saga.workflowId, taskQueue: 'order-saga', args: [request] },
  });
  expect(await rig.latest('provisionServers', request).result()).toMatchObject({ outcome: 'done', decisions: [] });
  expect(adds()).toBe(before);
  expect(ordersOf(request)).toMatchObject([asCorrected]);
});

itInWays('the reference is taken for the request as it was first asked, and for no other', async () => {
  const { request, saga } = await corrected();
  await answer(saga, 'retry');
  await saga.result();
  const start = (args: object) =>
    rig.temporal.workflow.start('provisionServers', {
      ...{ workflowId: saga.workflowId, taskQueue: 'order-saga', args: [args] },
    });
  await start({ ...request, items: [{ ...request.items[0], quantity: 1, password: secret }] });
  expect((await outcomeOf(rig.latest('provisionServers', request))).failure).toMatchObject({ type: 'ReferenceTaken' });
  await start(request);
  expect((await rig.latest('provisionServers', request).result()).outcome).toBe('done');
  expect(ordersOf(request)).toHaveLength(1);
});

itInWays('a change order that was reset to before its correction is placed as it was corrected', async () => {
  const request = changeRequest({ onRefusal: 'ask' });
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'refuse-before', match });
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'unauthorized', nth: 2, match });
  const saga = await rig.sagas.change(request);
  await untilWaiting(saga, 'refused');
  const resources = [{ resource_name: 'vm_antiddos', delta_value: '2' }];
  const tasks = await workflowTasksOf(rig.temporal, saga);
  await answer(saga, 'retry', { correction: { resources } });
  await untilWaiting(saga, 'stuck');
  await resetTo(rig.temporal, saga, tasks[1] ?? 0);
  expect(await rig.latest('changeOrder', request).result()).toMatchObject({ outcome: 'done', quote: { total: 40 } });
  expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toMatchObject([{ resources }]);
});

it('stands in the record, with who made it, and without the secret', async () => {
  const { request, saga } = await corrected();
  await answer(saga, 'retry');
  await saga.result();
  const record = await rig.withJournal((journal) =>
    recordOf(journal, { workflow: 'provisionServers', reference: request.reference }),
  );
  expect(recordSchema.parse(record)).toMatchObject({
    request: { items: [{ quantity: 3 }] },
    corrections: [
      {
        ...{ run: saga.runId, step: 'place-order', by: 'op', note: 'out of stock' },
        correction: { items: [1], quantity: 1, password: '[redacted]' },
      },
    ],
    decisions: [{ kind: 'refused', correction: { quantity: 1, password: '[redacted]' } }, { kind: 'stuck' }],
  });
  const adds = record!.effects.filter(({ kind }) => kind === 'mutate');
  expect(adds.map(({ outcome, about }) => [outcome, about.corrected])).toEqual([
    ['undone', undefined],
    ['done', 1],
  ]);
  const lines = timelineOf(record!).map((row) => row.join('  '));
  const line = lines.findIndex((text) => text.includes('  corrected  place-order: {"items":[1],'));
  expect(lines[line]).toContain('"quantity":1');
  expect(lines[line]).toContain('by op: out of stock');
  expect(lines.join('\n')).not.toContain(secret);
  // After the refusal, and before what it has led to.
  expect(lines.findIndex((text) => text.includes('not-done') && text.includes('Rejected'))).toBeLessThan(line);
  expect(lines.findIndex((text) => text.includes('(undo)'))).toBeGreaterThan(line);
});
