/** What a person has done by hand: it counts as done, nothing is left over, and every later run knows who said so. */
import { firewallsOf, openCartItems, ordersWithLabel } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import { recordOf } from '../../../src/journal/record';
import { describeInWays, itInWays } from '../../support/left-out';
import { panelOf } from '../../support/panel';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
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
const callsTo = (endpoint: string, vmObjectId: number) =>
  rig.sandbox.ledger.calls.filter((call) => call.endpoint === endpoint && call.names.vmObjectId?.includes(vmObjectId));
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

  itInWays('is what the provider’s list shows, whatever was said', async () => {
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

  itInWays('is not sent again by a later run, which says from where it knows', async () => {
    const request = orderFor([81_021]);
    refuse('assign-firewalls', 81_021);
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    rig.sandbox.faults.clear();
    panel().assign(81_021, [143]);
    await answer(saga, 'markDone', seen);
    await saga.result();
    const before = callsTo('assign-firewalls', 81_021).length;
    const { workflowId } = saga;
    const [first] = await workflowTasksOf(rig.temporal, { workflowId });
    await resetTo(rig.temporal, { workflowId }, first ?? 0);
    expect(await saga.result()).toMatchObject({ outcome: 'done', servers: [{ firewalls: [143], verified: true }] });
    expect(callsTo('assign-firewalls', 81_021)).toHaveLength(before);
    expect((await stepOf(saga, 'assign-firewalls-81021'))?.detail).toMatch(/^from the journal: 20.* UTC, run /);
  });

  describeInWays('while its list cannot be read', () => {
    const assignedByHand = async (vmObjectId: number) => {
      refuse('assign-firewalls', vmObjectId);
      const saga = await rig.sagas.provision(orderFor([vmObjectId]));
      await untilWaiting(saga);
      rig.sandbox.faults.clear();
      panel().assign(vmObjectId, [143]);
      refuse('list-firewalls', vmObjectId);
      await answer(saga, 'markDone', seen);
      await untilWaiting(saga);
      return saga;
    };

    it('counts where nobody looks at the list', async () => {
      const saga = await assignedByHand(81_041);
      await answer(saga, 'skip', { note: 'looked in the panel' });
      expect(await saga.result()).toMatchObject({ leftovers: [], skipped: ['verify-firewalls-81041'] });
    });

    it('counts for a run that is cancelled: the journal knows it', async () => {
      const saga = await assignedByHand(81_031);
      await saga.cancel();
      expect((await outcomeOf(saga)).cancelled).toMatchObject({ leftovers: [] });
    });
  });
});

itInWays('a decision names which of the servers that wait were seen to; the others are asked about again', async () => {
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

itInWays('a look at the list that a person took is done, and is not called verified', async () => {
  const request = orderFor([83_001]);
  refuse('list-firewalls', 83_001);
  const saga = await rig.sagas.provision(request);
  expect(await untilWaiting(saga)).toMatchObject({ step: 'verify-firewalls-83001' });
  await answer(saga, 'markDone', seen);
  expect(await saga.result()).toMatchObject({
    outcome: 'done',
    leftovers: [],
    servers: [{ vmObjectId: 83_001, firewalls: [143], verified: false }],
  });
  expect(await stepOf(saga, 'verify-firewalls-83001')).toMatchObject({
    status: 'done',
    detail: 'done by hand, says ada: done in the panel',
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

  itInWays('is among those that a clean-up saw to', async () => {
    const request = provisionRequest();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    await rig.temporal.workflow.getHandle(saga.workflowId).terminate('for good');
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'refuse-before', match, times: 'all' });
    const cleaning = await rig.sagas.clean(request.reference);
    const [cartItemId] = [/(\d+)”/.exec((await untilWaiting(cleaning)).question)].map((found) => Number(found?.[1]));
    rig.sandbox.faults.clear();
    panel().deleteCartItem(cartItemId!);
    await answer(cleaning, 'markDone', seen);
    expect(await cleaning.result()).toMatchObject({ outcome: 'done', deleted: [cartItemId], leftovers: [] });
    const effects = await effectsOf(saga, request.reference);
    expect(effects.find(({ kind }) => kind === 'mutate')).toMatchObject({ outcome: 'undone' });
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

  itInWays('takes nothing off for what was said to be assigned by hand and is not in the list', async () => {
    const request = requestFor([1], { exactly: [143] });
    const { vmObjectId } = request;
    unauthorized('assign-firewalls', vmObjectId);
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga);
    rig.sandbox.faults.clear();
    await answer(saga, 'markDone', { note: 'in the panel (of another server)' });
    expect(await untilWaiting(saga)).toMatchObject({
      step: 'verify-assigned',
      choices: ['retry', 'markDone'],
      lastFailure: { failure: 'NotVisibleYet' },
    });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([1]);
    panel().assign(vmObjectId, [143]);
    await answer(saga, 'retry');
    expect(await saga.result()).toMatchObject({ outcome: 'done', firewalls: [143], verified: true });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([143]);
  });

  itInWays('tells what the list had denied where a person leaves the last look out', async () => {
    const request = requestFor([1], { exactly: [143] });
    const { vmObjectId } = request;
    unauthorized('assign-firewalls', vmObjectId);
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga);
    rig.sandbox.faults.clear();
    for (const step of ['assign-firewalls', 'verify-assigned']) {
      expect(await untilWaiting(saga)).toMatchObject({ step });
      await answer(saga, 'markDone', { note: 'in the panel (of another server)' });
    }
    expect(await untilWaiting(saga)).toMatchObject({ step: 'verify-firewalls' });
    await answer(saga, 'skip', { note: 'the list is slow' });
    const why = 'the provider’s list does not show them; a person left it out: the list is slow';
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      firewalls: [],
      verified: false,
      leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143], why }],
    });
  });

  itInWays('undoes what was assigned by hand as if it had done so itself', async () => {
    const request = requestFor([150], { assign: [143], unassign: [150] });
    const { vmObjectId } = request;
    unauthorized('assign-firewalls', vmObjectId);
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga);
    rig.sandbox.faults.clear();
    panel().assign(vmObjectId, [143]);
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', match: { vmObjectId } });
    await answer(saga, 'markDone', seen);
    const { failure } = await outcomeOf(saga);
    expect(failure).toMatchObject({ type: 'FirewallsRejected', report: { outcome: 'reversed', leftovers: [] } });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([150]);
  });

  itInWays('is put back by hand where it cannot be put back by itself', async () => {
    const request = requestFor([150], { assign: [143], unassign: [150] });
    const { vmObjectId } = request;
    const gate = rig.sandbox.faults.add({
      ...{ endpoint: 'unassign-firewalls', kind: 'gate', hold: 'after', match: { vmObjectId } },
    });
    unauthorized('assign-firewalls', vmObjectId, { from: 2 });
    const saga = await rig.sagas.firewalls(request);
    await rig.sandbox.whenStruck(gate);
    await saga.cancel();
    rig.sandbox.faults.release(gate);
    const waiting = await untilWaiting(saga);
    expect(waiting.question).toMatch(/^Undoing: “Assign the unassigned firewalls again”/);
    rig.sandbox.faults.clear();
    panel().assign(vmObjectId, [150]);
    await saga.decide('markDone', { question: waiting.id, ...seen });
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([150]);
  });

  itInWays('that a person looked at is done, and not verified', async () => {
    const request = requestFor([], { assign: [143] });
    const { vmObjectId } = request;
    rig.sandbox.faults.add({
      endpoint: 'list-firewalls',
      kind: 'refuse-before',
      match: { vmObjectId },
      from: 2,
      times: 'all',
    });
    const saga = await rig.sagas.firewalls(request);
    expect(await untilWaiting(saga)).toMatchObject({ step: 'verify-firewalls' });
    await answer(saga, 'markDone', seen);
    expect(await saga.result()).toMatchObject({ outcome: 'done', firewalls: [143], verified: false });
    expect((await stepOf(saga, 'verify-firewalls'))?.detail).toBe('done by hand, says ada: done in the panel');
  });
});

itInWays.each(['place-order', 'add-cart-item'] as const)('is never offered at %s', async (endpoint) => {
  const request = provisionRequest();
  const match = endpoint === 'place-order' ? { label: request.label } : { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint, kind: 'unauthorized', match });
  const saga = await rig.sagas.provision(request);
  const { id, choices } = await untilWaiting(saga);
  expect(choices).toEqual(['retry']);
  await expect(saga.decide('markDone', { question: id, ...seen })).rejects.toThrow(/markDone does not fit/);
  await answer(saga, 'retry');
  await saga.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});
