/** A provider of which nobody has declared anything: all is asked, looked for in the list, or reported; nothing is believed. */
import { firewallsOf } from '../../../sandbox/sentences';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../../support/requests';
import { sandboxProfile } from '../../support/activity-settings';
import { rigForFile } from '../../support/rig';
import { answer, leftoversOf, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ activities: { profile: undefined }, clears: true });

it('the first order asks, shows the answer, and names the line of the profile that would settle it', async () => {
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  const { question, lastFailure, choices } = await untilWaiting(saga, 'outcome-unknown');
  expect(question).toContain(
    'was answered 200, and nobody has declared what that means: `order.doneIf` of the provider’s profile would',
  );
  expect(lastFailure?.body).toContain('"order_id":');
  expect(choices).toContain('confirmPlaced');
  const [order] = rig.ordersOf(request);
  await answer(saga, 'confirmPlaced', { note: 'seen', orderId: '701', vmObjectIds: order?.vmObjectIds });
  expect(await saga.result()).toMatchObject({ outcome: 'done', servers: [{ vmObjectId: order?.vmObjectIds[0] }] });
  expect(rig.ordersOf(request)).toHaveLength(1);
});

it('the question names the other orders with this label, by the journal, and the provider’s ids of them', async () => {
  const [first, same, other] = ['web-1', 'web-1', 'web-2'].map((label) =>
    provisionRequest({ label, account: 'AB-77' }),
  );
  for (const [request, orderId] of [
    [first!, '701'],
    [other!, '702'],
  ] as const) {
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'outcome-unknown');
    await answer(saga, 'confirmPlaced', { note: 'seen', orderId });
    await saga.result();
  }
  const { question } = await untilWaiting(await rig.sagas.provision(same!), 'outcome-unknown');
  expect(question).toMatch(
    new RegExp(`Others there, by the journal: 701 is ${first!.reference}’s \\(\\S+ \\S+ UTC\\)\\.`),
  );
  expect(question).not.toContain(other!.reference);
});

it('a change order asks, too; a switch that is answered with a quote does not', async () => {
  const change = await rig.sagas.change(changeRequest());
  expect((await untilWaiting(change, 'outcome-unknown')).question).toContain('`changeOrder.doneIf`');
  await answer(change, 'confirmPlaced', { note: 'seen' });
  expect(await change.result()).toMatchObject({ outcome: 'done', order: null });
  expect(await (await rig.sagas.switch(switchRequest())).result()).toMatchObject({ outcome: 'done' });
});

it.each([
  ['a delete that was answered', undefined],
  ['a gateway’s 404', { kind: 'refuse-before', status: 404, body: { message: 'no Route matched' }, times: 'all' }],
  ['a gateway’s 404 without a body', { kind: 'refuse-before', status: 404, body: null, times: 'all' }],
] as const)('%s leaves the item perhaps in the cart, and nobody is asked', async (_, fault) => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
  if (fault) rig.sandbox.faults.add({ endpoint: 'delete-cart-item', ...fault });
  const ended = await outcomeOf(await rig.sagas.provision(request));
  expect(ended.failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed-with-leftovers' } });
  const why = expect.stringMatching(
    /`delete\.(?:done|gone)If` of the provider’s profile would: it is perhaps in the cart/,
  ) as string;
  expect(leftoversOf(ended)).toEqual([{ kind: 'cart-item', cartItemId: expect.any(Number) as number, why }]);
});

describe('firewalls', () => {
  it.each([
    ['the list is the evidence', { ...sandboxProfile.firewalls }, { verified: true }, []],
    ['without one they are unverified', undefined, { verified: false }, ['server-unverified']],
  ] as const)('%s', async (_, firewalls, expected, left) => {
    await rig.restartWith({ profile: { firewalls } });
    if (firewalls === undefined) rig.sandbox.configure({ firewallListResponse: 'opaque' });
    const request = firewallsRequest({ assign: [143] });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
    const ended = await outcomeOf(await rig.sagas.firewalls(request));
    expect(ended.result).toMatchObject(expected);
    expect(leftoversOf(ended).map(({ kind }) => kind)).toEqual(left);
    expect(firewallsOf(rig.sandbox.ledger, request.vmObjectId)).toEqual([143]);
    const { effects } = (await rig.recordOf({ workflow: 'setFirewalls', reference: request.reference })) ?? {};
    expect(effects?.map(({ outcome }) => outcome)).toEqual(['unknown']);
  });

  it('an assignment that is answered with a no is not told as done', async () => {
    await rig.restartWith({ profile: { firewalls: sandboxProfile.firewalls } });
    const request = firewallsRequest({ assign: [143] });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
    const match = { vmObjectId: request.vmObjectId };
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'says-no-before', match });
    const saga = await rig.sagas.firewalls(request);
    expect((await untilWaiting(saga, 'stuck')).question).toContain('does not show 143');
    await saga.cancel();
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed' });
  });
});
