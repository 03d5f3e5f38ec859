/** An order that the provider refuses, and a person is asked about: what may be corrected, and what is bought then. */
import { orders } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

/** Of another type than the items of these requests have. */
const wrongPlan = 7777;

const planTypesMore = ['object_storage:other'];
const rig = rigForFile({
  sandbox: {
    plans: { [String(wrongPlan)]: 'cloud_servers_highmemory' },
    supportedPlanTypes: ['cloud_servers_standard', 'object_storage'],
  },
  activities: { planTypesMore },
  planTypesMore,
  clears: true,
});

type Changes = Parameters<typeof provisionRequest>[0];
interface Refused {
  saga: SagaHandle<'provisionServers'>;
  request: ReturnType<typeof provisionRequest>;
}

/** The order is refused once. */
async function refusedOrder(changes: Changes = {}): Promise<Refused> {
  const request = provisionRequest({ onRefusal: 'ask', ...changes });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { account: request.account } });
  return { request, saga: await rig.sagas.provision(request) };
}

const ordersOf = ({ account }: { account: string }) =>
  orders(rig.sandbox.ledger).filter((order) => order.account === account);
describe('an item that the provider refuses', () => {
  it('is corrected, and costs neither the saga nor what was added beside it', async () => {
    const request = provisionRequest({ onRefusal: 'ask', items: [{}, { plan_id: wrongPlan }] });
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga);
    expect(waiting).toMatchObject({
      kind: 'refused',
      step: 'add-cart-item-2',
      choices: ['retry'],
      lastFailure: { failure: 'Rejected', status: 422 },
    });
    expect(waiting.question).toMatch(
      /^Refused: “Add cart item 2” was not done\. The provider refuses it: .*\. Retry with a correction, or as it is; or request cancellation\.$/,
    );
    await answer(saga, 'retry', { by: 'op', correction: { plan_id: planIdOf(request.reference) } });
    const { outcome, cartItemIds, decisions } = await saga.result();
    expect(outcome).toBe('done');
    expect(decisions).toMatchObject([{ kind: 'refused', correction: { plan_id: planIdOf(request.reference) } }]);
    expect(ordersOf(request)).toMatchObject([{ cartItems: cartItemIds }]);
    expect(rig.callsOf(request, 'add-cart-item')).toHaveLength(2);
  });
});

describe('an order that the provider refuses', () => {
  it('deletes an item that is corrected, and orders what was added in its place', async () => {
    const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }, { quantity: 3 }] });
    await untilWaiting(saga, 'refused');
    const before = rig.openItems(request).map(({ cartItemId }) => cartItemId);
    await answer(saga, 'retry', { correction: { item: 2, quantity: 1 } });
    const { outcome, cartItemIds, servers, leftovers } = await saga.result();
    expect({ outcome, leftovers }).toEqual({ outcome: 'done', leftovers: [] });
    expect(servers).toHaveLength(3);
    expect(ordersOf(request)).toMatchObject([{ cartItems: cartItemIds, items: [{ quantity: 2 }, { quantity: 1 }] }]);
    expect(before).toContain(cartItemIds[0]);
    expect(before).not.toContain(cartItemIds[1]);
    const { entries } = rig.sandbox.ledger;
    const deletedAt = entries.findIndex(
      (entry) => entry.type === 'cartItemDeleted' && before.includes(entry.cartItemId),
    );
    const addedAt = entries.findIndex((entry) => entry.type === 'cartItemAdded' && entry.cartItemId === cartItemIds[1]);
    expect(deletedAt).toBeGreaterThan(-1);
    expect(deletedAt).toBeLessThan(addedAt);
    expect(rig.openItems(request)).toEqual([]);
  });
});

describe('a correction that does not fit', () => {
  it.each<[Changes, object, string]>([
    [{}, { account: 'AB-9' }, 'account: is not a field of this request'],
    [{}, { quantity: 0 }, 'quantity: must be a whole number above 0'],
    [{}, { item: 3, quantity: 1 }, 'item: is not the number of an item that waits'],
    [{}, { quantity: 1 }, 'item: is required: there are 2 items'],
    [{}, {}, 'names no field to correct'],
    [{}, { item: 2 }, 'names no field to correct'],
    [{}, { item: 1, quantity: 3 }, 'items[0].quantity: must not be more than 2, as in the first request'],
    [{}, { item: 2, plan_type: 'nothing' }, 'plan_type: must be one of'],
    [{}, { label: 'x'.repeat(1_001) }, 'correction.label: must not have more than 1000 characters'],
    [{ vmObjectIds: [1, 2, 3] }, { item: 1, quantity: 1 }, 'vmObjectIds: names 3 servers, but 2 are ordered'],
    [
      { items: [{ plan_type: 'object_storage', password: undefined, os_template_id: undefined }, {}] },
      { item: 1, plan_type: 'cloud_servers_standard' },
      'items[0].password: is required for plan_type cloud_servers_standard',
    ],
    [
      { items: [{ plan_type: 'object_storage' }, {}], guard: { maxServers: 1 } },
      { item: 1, plan_type: 'cloud_servers_standard' },
      'the request orders 2 servers and the guard allows 1',
    ],
  ])('%# is refused by the field’s name, and nothing is sent', async (changes, correction, why) => {
    const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }, {}], ...changes });
    const waiting = await untilWaiting(saga, 'refused');
    const calls = rig.sandbox.ledger.calls.length;
    await expect(answer(saga, 'retry', { correction })).rejects.toThrow(why);
    expect(await saga.progress()).toMatchObject({ state: 'refused', waiting: { id: waiting.id }, decisions: [] });
    expect(rig.sandbox.ledger.calls).toHaveLength(calls);
    await saga.cancel();
    await outcomeOf(saga);
    expect(rig.openItems(request)).toEqual([]);
  });
});

describe('what was approved', () => {
  it('is asked for again with what was corrected, before anything is sent by it', async () => {
    const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }], approval: 'always' });
    await untilWaiting(saga, 'approval');
    await answer(saga, 'approve');
    await untilWaiting(saga, 'refused');
    const [before] = rig.openItems(request);
    await answer(saga, 'retry', { correction: { quantity: 1 } });
    const { question } = await untilWaiting(saga, 'approval');
    expect(question).toMatch(/^Approve 1 server: 1 × plan/);
    expect(rig.openItems(request)).toEqual([before]);
    await answer(saga, 'approve');
    await saga.result();
    expect(ordersOf(request)).toMatchObject([{ items: [{ quantity: 1 }] }]);
  });
});

it('an item that cannot be deleted is asked about, and told where it is left behind', async () => {
  const { request, saga } = await refusedOrder({ items: [{ quantity: 2 }] });
  await untilWaiting(saga, 'refused');
  const [before] = rig.openItems(request);
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized' });
  await answer(saga, 'retry', { correction: { quantity: 1 } });
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({ choices: ['retry', 'markDone', 'skip'] });
  await saga.cancel();
  // A cancellation does not make it forgotten.
  expect((await untilWaiting(saga, 'stuck')).choices).toEqual(['retry', 'markDone', 'skip']);
  await answer(saga, 'skip', { note: 'by hand' });
  const { cancelled } = await outcomeOf(saga);
  expect(cancelled?.leftovers).toEqual([{ kind: 'cart-item', cartItemId: before?.cartItemId, why: 'by hand' }]);
  expect(rig.openItems(request)).toEqual([before]);
});
