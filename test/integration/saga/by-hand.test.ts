/** What a person has done by hand: it counts as done, nothing is left over, and every later run knows who said so. */
import { openCartItems } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { recordOf } from '../../../src/journal/record';
import { panelOf } from '../../support/panel';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  // Requests name their servers.
  rig = await Rig.start({ sandbox: { orderResponse: 'opaque' } });
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
  rig.sandbox.configure({ firewallListResponse: 'objects' });
});

const panel = () => panelOf(rig.sandbox);
const seen = { by: 'ada', note: 'done in the panel' };
const effectsOf = ({ workflowId }: SagaHandle, reference: string) =>
  rig.withJournal(async (journal) => {
    const workflow = workflowId.startsWith('firewalls/') ? 'setFirewalls' : 'provisionServers';
    return (await recordOf(journal, { workflow, reference }))?.effects ?? [];
  });

/** A server of the test’s own, and an order that is for it. */
function orderFor(vmObjectIds: number[], changes: object = {}) {
  for (const vmObjectId of vmObjectIds) rig.sandbox.addServer({ vmObjectId, firewalls: [] });
  return provisionRequest({ items: [{ quantity: vmObjectIds.length }], firewalls: [143], vmObjectIds, ...changes });
}
const refuse = (endpoint: 'assign-firewalls' | 'list-firewalls', vmObjectId: number) =>
  rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', match: { vmObjectId }, times: 'all' });

const callsTo = (endpoint: string, vmObjectId: number) =>
  rig.sandbox.ledger.calls.filter((call) => call.endpoint === endpoint && call.names.vmObjectId?.includes(vmObjectId));

describe('a firewall that was assigned by hand', () => {
  it('counts as protection: the saga is done, and its list is still looked at', async () => {
    const request = orderFor([81_001]);
    const refused = refuse('assign-firewalls', 81_001);
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
    const effects = await effectsOf(saga, request.reference);
    expect(effects.filter(({ step }) => step === 'assign-firewalls-81001').at(-1)).toMatchObject({
      kind: 'mutate',
      activity: 'assignFirewalls',
      about: { vmObjectId: 81_001, firewalls: [143] },
      run: saga.runId,
      outcome: 'done',
      decided: seen,
    });
  });

  it('is what the provider’s list shows, whatever was said', async () => {
    const request = orderFor([81_011]);
    const refused = refuse('assign-firewalls', 81_011);
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
    const [item] = openCartItems(rig.sandbox.ledger).filter(
      ({ item: { plan_id } }) => plan_id === planIdOf(request.reference),
    );
    rig.sandbox.faults.clear();
    panel().deleteCartItem(item!.cartItemId);
    await saga.decide('markDone', { question: id, ...seen });
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed', leftovers: [] } });
    expect(failure?.report.steps[0]).toMatchObject({
      status: 'undone',
      detail: 'done by hand, says ada: done in the panel',
    });
    const effects = await effectsOf(saga, request.reference);
    const deleted = effects.at(-1);
    expect(deleted).toMatchObject({
      kind: 'compensate',
      activity: 'deleteCartItem',
      about: { cartItemId: item!.cartItemId },
      outcome: 'done',
      decided: seen,
    });
    expect(effects[0]).toMatchObject({ kind: 'mutate', outcome: 'undone', undoneBy: deleted?.id });
    const cleaned = await (await rig.sagas.clean(request.reference)).result();
    expect(cleaned).toMatchObject({ deleted: [], leftovers: [] });
  });
});

describe('a change of firewalls', () => {
  function requestFor(firewalls: number[], changes: object) {
    const request = firewallsRequest({ assign: undefined, ...changes });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls });
    return request;
  }
  const unauthorized = (
    endpoint: 'assign-firewalls' | 'unassign-firewalls',
    vmObjectId: number,
    changes: object = {},
  ) => rig.sandbox.faults.add({ endpoint, kind: 'unauthorized', match: { vmObjectId }, times: 'all', ...changes });

  it('goes on with what was assigned, and then with what was unassigned, by hand', async () => {
    const request = requestFor([150], { assign: [143], unassign: [150] });
    const { vmObjectId } = request;
    unauthorized('assign-firewalls', vmObjectId);
    const saga = await rig.sagas.firewalls(request);
    expect(await untilWaiting(saga)).toMatchObject({ step: 'assign-firewalls', choices: ['retry', 'markDone'] });
    rig.sandbox.faults.clear();
    panel().assign(vmObjectId, [143]);
    unauthorized('unassign-firewalls', vmObjectId);
    await answer(saga, 'markDone', seen);
    expect(await untilWaiting(saga)).toMatchObject({ step: 'unassign-firewalls', choices: ['retry', 'markDone'] });
    rig.sandbox.faults.clear();
    panel().unassign(vmObjectId, [150]);
    await answer(saga, 'markDone', seen);
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      assigned: [143],
      unassigned: [150],
      firewalls: [143],
      verified: true,
    });
  });
});

it('a decision names which of the servers that wait were seen to; the others are asked about again', async () => {
  const request = orderFor([82_001, 82_002, 82_003]);
  for (const id of [82_001, 82_002, 82_003]) refuse('assign-firewalls', id);
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
  const sent = callsTo('assign-firewalls', 82_002).length;
  await answer(saga, 'markDone', { ...seen, steps: [steps[0], steps[2]] });
  const second = await untilWaiting(saga);
  expect(second).toMatchObject({ step: steps[1], choices: ['retry', 'markDone', 'skip', 'markCancelled'] });
  expect(second.id).not.toBe(first.id);
  expect(second).not.toHaveProperty('steps');
  // Nothing was said of it, so nothing is done with it.
  expect(callsTo('assign-firewalls', 82_002)).toHaveLength(sent);
  await answer(saga, 'skip', { note: 'it goes' });
  expect(await saga.result()).toMatchObject({
    outcome: 'partly',
    skipped: [steps[1]],
    leftovers: [{ kind: 'server-unprotected', vmObjectId: 82_002 }],
    decisions: [{ decision: 'markDone', steps: [steps[0], steps[2]] }, { decision: 'skip' }],
  });
});
