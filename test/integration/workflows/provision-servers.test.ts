/**
 * Buying servers, alone and beside something else: what is sent and told, what is asked about the servers of an order,
 * and how what a terminated saga has left in the cart is cleaned up.
 */
import { callsTo, firewallsOf, serversOf } from '../../../sandbox/sentences';
import { documentedPlanTypes } from '../../../src/domain/plan-types';
import { activitiesOf } from '../../support/events';
import { orderThat, stuckOrder } from '../../support/orders';
import { planIdOf, provisionRequest } from '../../support/requests';
import { sandboxProfile } from '../../support/activity-settings';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';
import { startRaw } from '../../support/web-ui';

const planTypes = { object_storage: 'other', bare_metal: 'unknown' } as const;
const rig = rigForFile({
  sandbox: { supportedPlanTypes: [...documentedPlanTypes, 'object_storage', 'bare_metal'] },
  activities: { profile: { ...sandboxProfile, planTypes } },
  planTypes,
  clears: true,
  onPostgres: true,
});

const idsOf = ({ account }: { account: string }) =>
  serversOf(rig.sandbox.ledger, account).map(({ vmObjectId }) => vmObjectId);

const addFault = (reference: string, fault: object) =>
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', match: { planId: planIdOf(reference) }, ...fault } as never);

describe('the way forward', () => {
  it('adds every item, places one order and assigns the firewalls to every server', async () => {
    const request = provisionRequest({ items: [{ quantity: 2 }, {}], firewalls: [143, 144] });
    const saga = await rig.sagas.provision(request);
    const result = await saga.result();

    const [order, ...more] = rig.ordersOf(request);
    expect(more).toEqual([]);
    expect(result).toEqual({
      reference: request.reference,
      outcome: 'done',
      cartItemIds: order?.cartItems,
      order: { status: 'accepted', order_id: order?.orderId, vm_object_ids: order?.vmObjectIds },
      servers: order?.vmObjectIds.map((vmObjectId) => ({ vmObjectId, firewalls: [143, 144], verified: true })),
      skipped: [],
      leftovers: [],
      decisions: [],
    });
    expect(order?.vmObjectIds).toHaveLength(3);
    for (const id of order?.vmObjectIds ?? []) expect(firewallsOf(rig.sandbox.ledger, id)).toEqual([143, 144]);
    const progress = await saga.progress();
    expect(progress.state).toBe('done');
    expect(progress.steps.map(({ status, attempts }) => [status, attempts])).toEqual(
      Array.from({ length: 2 + 1 + 3 + 3 }, () => ['done', 1]),
    );
  });

  it('sends the order with all that was asked for, and with nothing else', async () => {
    const asked = { currency: 'eur', payment_type: 'ccard' as const };
    const [full, bare] = [provisionRequest(asked), provisionRequest({ label: undefined })];
    for (const request of [full, bare]) await (await rig.sagas.provision(request)).result();
    const orders = callsTo(rig.sandbox.ledger, 'place-order').map(({ body }) => body as { account: string });
    const cartItems = [expect.any(Number) as number];
    expect(orders.filter(({ account }) => [full.account, bare.account].includes(account))).toEqual([
      { account: full.account, label: full.label, cartItems, ...asked },
      { account: bare.account, cartItems },
    ]);
  });

  it('reports a server as not verified where the list cannot be read', async () => {
    rig.sandbox.configure({ firewallListResponse: 'opaque' });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      servers: [{ firewalls: [143], verified: false }],
      leftovers: [{ kind: 'server-unverified', firewalls: [143] }],
    });
    const { steps } = await saga.progress();
    expect(steps.at(-1)?.detail).toMatch(/^unverified/);
  });
});

describe('before the order', () => {
  it('awaits the siblings of a refused item, and deletes what they added', async () => {
    const request = provisionRequest({ items: [{ quantity: 1 }, { quantity: 7 }] });
    const gate = addFault(request.reference, { kind: 'gate', hold: 'after', nth: 1 });
    const refusal = addFault(request.reference, { kind: 'refuse-before', nth: 2 });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(refusal);
    await rig.sandbox.whenStruck(gate);
    rig.sandbox.faults.release(gate);
    const { failure } = await outcomeOf(saga);

    expect(failure?.type).toBe('OrderRejected');
    expect(rig.callsOf(request, 'add-cart-item')).toHaveLength(2);
    expect(rig.openItems(request)).toEqual([]);
    expect(rig.ordersOf(request)).toEqual([]);
  });

  it('corrects an item that was not added yet, and refuses to correct anything else', async () => {
    const { request, saga } = await stuckOrder(rig, {}, 'add-cart-item');
    await expect(answer(saga, 'retry', { correction: { plan_id: 9, account: 'XX-1' } })).rejects.toThrow(
      /plan_id.*account.*may be corrected: item, password, os_template_id/s,
    );
    await expect(answer(saga, 'retry', { correction: { item: 2 } })).rejects.toThrow(/item/);
    await answer(saga, 'retry', { correction: { os_template_id: 77, password: 'another' } });
    const result = await saga.result();

    expect(rig.callsOf(request, 'add-cart-item').at(-1)?.body).toMatchObject({
      os_template_id: 77,
      password: 'another',
    });
    expect(result.decisions[0]?.correction).toEqual({ os_template_id: 77, password: '[redacted]' });
  });
});

describe('after the order', () => {
  it('asks a person where the order’s answer names other servers than the request', async () => {
    rig.sandbox.addServer({ vmObjectId: 77_301, firewalls: [] });
    const request = provisionRequest({ firewalls: [143], vmObjectIds: [77_301] });
    const saga = await rig.sagas.provision(request);
    const { question } = await untilWaiting(saga, 'servers');
    const [bought = 0] = idsOf(request);
    expect(question).toBe(
      'The order is placed. What are the object ids of its 1 servers? ' +
        `The request names 77301, but the order’s answer names ${bought}.`,
    );
    expect([77_301, bought].map((id) => firewallsOf(rig.sandbox.ledger, id))).toEqual([[], []]);
    await answer(saga, 'provideServers', { vmObjectIds: [bought] });
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      servers: [{ vmObjectId: bought, firewalls: [143], verified: true }],
    });
    expect(firewallsOf(rig.sandbox.ledger, 77_301)).toEqual([]);
  });

  it('asks a person about firewalls that are refused: corrected, they are assigned', async () => {
    const request = provisionRequest({ firewalls: [404] });
    rig.sandbox.configure({ knownFirewalls: [143] });
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga)).toMatchObject({
      kind: 'stuck',
      choices: ['retry', 'markDone', 'skip', 'markCancelled'],
    });
    await expect(answer(saga, 'retry', { correction: { firewalls: [] } })).rejects.toThrow(/one at least/);
    await answer(saga, 'retry', { correction: { firewalls: [143] } });
    expect((await saga.result()).servers).toMatchObject([{ firewalls: [143], verified: true }]);
  });
});

const storage = { plan_type: 'object_storage', quantity: 3 };
const untyped = { plan_type: undefined };
const protectedIn = (request: { account: string }) =>
  idsOf(request).map((vmObjectId) => ({ vmObjectId, firewalls: [143], verified: true }));

describe('an order', () => {
  it('of a server and something else: the server gets the firewalls', async () => {
    const request = provisionRequest({ items: [{}, storage], firewalls: [143] });
    const saga = await rig.sagas.provision(request);
    const { servers, decisions, cartItemIds } = await saga.result();
    expect(idsOf(request)).toHaveLength(1);
    expect(servers).toEqual(protectedIn(request));
    expect(decisions).toEqual([]);
    expect(cartItemIds).toHaveLength(2);
    expect(firewallsOf(rig.sandbox.ledger, idsOf(request)[0] ?? 0)).toEqual([143]);
  });

  it('of items that may be servers: a person is asked for as many as there can be', async () => {
    rig.sandbox.configure({ orderResponse: 'opaque', untypedItemsAreServers: false });
    const request = provisionRequest({ items: [{}, { ...untyped, quantity: 2 }], firewalls: [143] });
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga, 'servers')).toMatchObject({
      question:
        'The order is placed. What are the object ids of its servers? ' +
        'It brings 1 to 3 servers: not every item’s plan type says whether the item is a server.',
    });
    const vmObjectIds = idsOf(request);
    expect(vmObjectIds).toHaveLength(1);
    await expect(answer(saga, 'provideServers', { vmObjectIds: [] })).rejects.toThrow(
      'vmObjectIds: names 0 servers, but 1 to 3 were ordered',
    );
    await expect(answer(saga, 'provideServers', { vmObjectIds: [1, 2, 3, 4] })).rejects.toThrow(
      'vmObjectIds: names 4 servers, but 1 to 3 were ordered',
    );
    await answer(saga, 'provideServers', { vmObjectIds });
    expect((await saga.result()).servers).toEqual(protectedIn(request));
  });

  it('of no server is placed, and nobody is asked for servers, nor looks for any', async () => {
    rig.sandbox.configure({ orderResponse: 'opaque' });
    const request = provisionRequest({ items: [storage] });
    const saga = await rig.sagas.provision(request);
    expect(await saga.result()).toMatchObject({ servers: [], decisions: [] });
    expect(rig.ordersOf(request)).toMatchObject([{ vmObjectIds: [] }]);
    expect(await stepOf(saga, 'find-servers')).toBeUndefined();
  });

  it('of no server is refused before anything is sent where firewalls are asked for, also past the client', async () => {
    const request = provisionRequest({ items: [storage], firewalls: [143] });
    await expect(rig.sagas.provision(request)).rejects.toThrow('firewalls: protect servers, but no item is a server');
    const saga = await startRaw(rig, 'provisionServers', request);
    const outcome = await outcomeOf(saga);
    expect(outcome.failure).toMatchObject({
      type: 'InvalidRequest',
      report: { problems: [{ field: 'firewalls', message: 'protect servers, but no item is a server' }] },
    });
    expect(await activitiesOf(rig.runOf(saga))).toEqual(['supportedPlanTypes: look up further plan types']);
  });
});

describe('the clean-up', () => {
  /** A run that was terminated while its order was of unknown outcome. */
  async function terminated(kind: 'reset-before' | 'reset-after') {
    const { request, saga } = await orderThat(rig, { endpoint: 'place-order', kind }, { items: [{}, {}] });
    await untilWaiting(saga);
    await rig.runOf(saga).terminate('pressed the wrong button');
    return request;
  }

  it.each(['reset-before', 'reset-after'] as const)(
    'asks about items whose order may have been placed (%s)',
    async (kind) => {
      const { reference } = await terminated(kind);
      const saga = await rig.sagas.clean(reference);
      const { question, ...waiting } = await untilWaiting(saga);
      expect(waiting).toMatchObject({ kind: 'outcome-unknown', step: 'settle-order' });
      expect(question).toMatch(
        /^It is not known whether the provider placed the order, .* \(account AB-\d+, label “.+”, cart items \d+, \d+\): is it there\?/,
      );
      const settling = () => stepOf(saga, 'settle-order');
      expect(await settling()).toMatchObject({ status: 'stuck', title: 'Learn whether the order was placed' });
      await expect(answer(saga, 'confirmPlaced', { note: 'seen', vmObjectIds: [1] })).rejects.toThrow(
        'vmObjectIds: this step brings no servers; leave it out',
      );
      const placed = rig.ordersOf({ reference }).length === 1;
      await answer(saga, placed ? 'confirmPlaced' : 'confirmNotPlaced', { note: 'looked into the panel' });
      const result = await saga.result();
      expect(await settling()).toMatchObject({
        status: 'done',
        detail: placed ? 'it was placed' : 'it was not placed',
      });
      expect(placed ? result.leftAlone : result.deleted).toHaveLength(2);
      expect(placed ? result.deleted : result.leftAlone).toEqual([]);
      expect(rig.openItems({ reference })).toEqual([]);
    },
  );

  it('deletes what such a call has added, once its answer is written down', async () => {
    const request = provisionRequest();
    const gate = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', hold: 'after' });
    const saga = await rig.sagas.provision(request);
    await rig.sandbox.whenStruck(gate);
    await rig.runOf(saga).terminate();
    rig.sandbox.faults.release(gate);
    await until(() =>
      rig.withJournal(async ({ db }) => {
        const rows = await db
          .selectFrom('effect')
          .select('outcome')
          .where('reference', '=', request.reference)
          .execute();
        return rows.some(({ outcome }) => outcome === 'done');
      }),
    );
    expect(await (await rig.sagas.clean(request.reference)).result()).toMatchObject({
      deleted: [expect.any(Number)],
      leftovers: [],
    });
    expect(rig.openItems(request)).toEqual([]);
  });

  it('touches nothing of a saga that is still running', async () => {
    const { request, saga } = await stuckOrder(rig);
    const { failure } = await outcomeOf(await rig.sagas.clean(request.reference));
    expect(failure).toMatchObject({ type: 'InvalidRequest', report: { why: expect.stringMatching(/still running/) } });
    expect(rig.openItems(request)).toHaveLength(1);
    await answer(saga, 'retry');
    await saga.result();
  });
});
