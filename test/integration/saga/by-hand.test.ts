/**
 * What a person has done by hand: it counts as done, and nothing is left over. Its row, and every later run:
 * test/integration/journal/contract/by-hand.ts.
 */
import { callsTo } from '../../../sandbox/sentences';
import { panelOf } from '../../support/panel';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

// Requests name their servers.
const rig = rigForFile({ sandbox: { orderResponse: 'opaque' }, clears: true });

const panel = () => panelOf(rig.sandbox);
const seen = { by: 'ada', note: 'done in the panel' };
/** A server of the test’s own, and an order that is for it. */
function orderFor(vmObjectIds: number[], changes: object = {}) {
  for (const vmObjectId of vmObjectIds) rig.sandbox.addServer({ vmObjectId, firewalls: [] });
  return provisionRequest({ items: [{ quantity: vmObjectIds.length }], firewalls: [143], vmObjectIds, ...changes });
}
const refuse = (vmObjectId: number) =>
  rig.sandbox.faults.add({
    ...{ endpoint: 'assign-firewalls', kind: 'refuse-before', match: { vmObjectId }, times: 'all' },
  });

const assignmentsOf = (vmObjectId: number) =>
  callsTo(rig.sandbox.ledger, 'assign-firewalls').filter(({ names }) => names.vmObjectId?.includes(vmObjectId)).length;

describe('a firewall that was assigned by hand', () => {
  it('counts as protection: the saga is done, and its list is still looked at', async () => {
    const request = orderFor([81_001]);
    const refused = refuse(81_001);
    const saga = await rig.sagas.provision(request);
    expect(await untilWaiting(saga)).toMatchObject({
      kind: 'stuck',
      choices: ['retry', 'markDone', 'skip', 'markCancelled'],
    });
    rig.sandbox.faults.lift(refused);
    panel().assign(81_001, [143]);
    await answer(saga, 'markDone', seen);
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      skipped: [],
      leftovers: [],
      servers: [{ vmObjectId: 81_001, firewalls: [143], verified: true }],
      decisions: [{ decision: 'markDone', step: 'assign-firewalls-81001', ...seen }],
    });
    expect(await stepOf(saga, 'assign-firewalls-81001')).toMatchObject({
      status: 'done',
      detail: 'done by hand, says ada: done in the panel',
    });
  });

  it('is what the provider’s list shows, whatever was said', async () => {
    const request = orderFor([81_011]);
    const refused = refuse(81_011);
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    rig.sandbox.faults.lift(refused);
    await answer(saga, 'markDone', { note: 'not so' });
    expect(await untilWaiting(saga)).toMatchObject({
      step: 'verify-firewalls-81011',
      lastFailure: { failure: 'NotVisibleYet' },
    });
    await answer(saga, 'skip', { note: 'later' });
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      servers: [{ vmObjectId: 81_011, firewalls: [], verified: false }],
      leftovers: [{ kind: 'server-unprotected', vmObjectId: 81_011, firewalls: [143] }],
    });
  });
});

describe('a cart item that was deleted by hand', () => {
  it('is left nowhere: the saga is reversed, and nobody deletes it again', async () => {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'refuse-before', match, times: 'all' });
    const saga = await rig.sagas.provision(request);
    const { id, choices } = await untilWaiting(saga);
    expect(choices).toEqual(['retry', 'markDone', 'skip']);
    const [item] = rig.openItems(request);
    rig.sandbox.faults.clear();
    panel().deleteCartItem(item!.cartItemId);
    await saga.decide('markDone', { question: id, ...seen });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.steps[0]).toMatchObject({
      status: 'undone',
      detail: 'done by hand, says ada: done in the panel',
    });
    const cleaned = await (await rig.sagas.clean(request.reference)).result();
    expect(cleaned).toMatchObject({ deleted: [], leftovers: [] });
  });
});

it('a change of firewalls goes on with what was assigned, and then with what was unassigned, by hand', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [150] });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [150] });
  for (const endpoint of ['assign-firewalls', 'unassign-firewalls'])
    rig.sandbox.faults.add({ endpoint, kind: 'unauthorized', match: { vmObjectId }, times: 'all' } as never);
  const saga = await rig.sagas.firewalls(request);
  expect(await untilWaiting(saga)).toMatchObject({ step: 'assign-firewalls', choices: ['retry', 'markDone'] });
  panel().assign(vmObjectId, [143]);
  await answer(saga, 'markDone', seen);
  expect(await untilWaiting(saga)).toMatchObject({ step: 'unassign-firewalls', choices: ['retry', 'markDone'] });
  panel().unassign(vmObjectId, [150]);
  await answer(saga, 'markDone', seen);
  expect(await saga.result()).toMatchObject({
    ...{ outcome: 'done', verified: true },
    ...{ assigned: [143], unassigned: [150], firewalls: [143] },
  });
});

it('a decision names which of the servers that wait were seen to; the others are asked about again', async () => {
  const request = orderFor([82_001, 82_002, 82_003]);
  for (const id of [82_001, 82_002, 82_003]) refuse(id);
  const saga = await rig.sagas.provision(request);
  const first = await untilWaiting(saga);
  const steps = [82_001, 82_002, 82_003].map((id) => `assign-firewalls-${id}`);
  expect(first).toMatchObject({ step: steps[0], steps });
  await expect(answer(saga, 'markDone', seen)).rejects.toThrow(
    `steps: is required: name the steps that you have done; those that wait are ${steps.join(', ')}`,
  );
  rig.sandbox.faults.clear();
  panel().assign(82_001, [143]);
  panel().assign(82_003, [143]);
  const sent = assignmentsOf(82_002);
  await answer(saga, 'markDone', { ...seen, steps: [steps[0], steps[2]] });
  const second = await untilWaiting(saga);
  expect(second).toMatchObject({ step: steps[1], choices: ['retry', 'markDone', 'skip', 'markCancelled'] });
  expect(second.id).not.toBe(first.id);
  expect(second).not.toHaveProperty('steps');
  // Nothing was said of it, so nothing is done with it.
  expect(assignmentsOf(82_002)).toBe(sent);
  await answer(saga, 'skip', { note: 'it goes' });
  expect(await saga.result()).toMatchObject({
    outcome: 'partly',
    skipped: [steps[1]],
    leftovers: [{ kind: 'server-unprotected', vmObjectId: 82_002 }],
    decisions: [{ decision: 'markDone', steps: [steps[0], steps[2]] }, { decision: 'skip' }],
  });
});
