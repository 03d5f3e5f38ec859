import { callsTo, firewallsOf, serversOf } from '../../../sandbox/sentences';
import { planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

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
      order: { order_id: order?.orderId, vm_object_ids: order?.vmObjectIds },
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
    const request = provisionRequest();
    addFault(request.reference, { kind: 'unauthorized' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
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

it('a person who says that it was placed says how they know, and names as many servers as were ordered', async () => {
  const request = provisionRequest({ firewalls: [9] });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'outcome-unknown');
  const vmObjectIds = serversOf(rig.sandbox.ledger, request.account).map((server) => server.vmObjectId);
  await expect(answer(saga, 'confirmPlaced', { vmObjectIds })).rejects.toThrow(/note/);
  await expect(answer(saga, 'confirmPlaced', { vmObjectIds: [1, 2], note: 'seen' })).rejects.toThrow(/2 servers/);
  await answer(saga, 'confirmPlaced', { vmObjectIds, note: 'seen in the panel' });
  expect(await saga.result()).toMatchObject({
    ...{ skipped: [], order: null, leftovers: [] },
    servers: [{ vmObjectId: vmObjectIds[0], firewalls: [9] }],
  });
});

describe('after the order', () => {
  it('asks a person where the order’s answer names other servers than the request, and touches neither before', async () => {
    rig.sandbox.addServer({ vmObjectId: 77_301, firewalls: [] });
    const request = provisionRequest({ firewalls: [143], vmObjectIds: [77_301] });
    const saga = await rig.sagas.provision(request);
    const { question } = await untilWaiting(saga, 'servers');
    const [server] = serversOf(rig.sandbox.ledger, request.account);
    const bought = server!.vmObjectId;
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

  it('tells servers without firewalls where it is cancelled before somebody says which they are', async () => {
    rig.sandbox.addServer({ vmObjectId: 77_302, firewalls: [] });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143], vmObjectIds: [77_302] }));
    await untilWaiting(saga, 'servers');
    await saga.cancel();
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.leftovers).toEqual([
      { kind: 'server-unprotected', firewalls: [143], why: expect.stringMatching(/before the object ids/) },
    ]);
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
