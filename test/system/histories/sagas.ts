/**
 * One run for each way in which a saga of a released version may have ended, or may still be waiting; and some of what
 * is no saga: holds, sweeps. Recorded by `record.ts`.
 */
import type { FaultKind } from '../../../sandbox/fault-kinds';
import type { SagaHandle } from '../../../src/client/handle';
import type { DecisionName } from '../../../src/domain/decisions';
import type { WaitKind } from '../../../src/domain/progress';
import { panelOf } from '../../support/panel';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { resetToBeginning, startRaw } from '../../support/web-ui';
import type { Rig } from '../../support/rig';
import { answer, outcomeOf, untilState, untilWaiting } from '../../support/sagas';

/** @returns the run whose history is kept, ended or waiting; without a run id, the newest one of this workflow id */
export type Story = (rig: Rig) => Promise<{ workflowId: string; runId?: string }>;

const op = { by: 'op' };
const seen = { by: 'op', note: 'as the control panel shows' };

async function ended(saga: SagaHandle): Promise<SagaHandle> {
  await outcomeOf(saga);
  return saga;
}

/** Answers by turns what it asks, until it ends. */
async function decided(saga: SagaHandle, ...decisions: [DecisionName, object][]): Promise<SagaHandle> {
  for (const [index, [decision, body]] of decisions.entries()) {
    if (index > 0) {
      const taken = index;
      while ((await saga.progress()).decisions.length < taken) await untilWaiting(saga);
    }
    await untilWaiting(saga);
    await answer(saga, decision, body);
  }
  return ended(saga);
}

/** A saga that a hold held, until a person released it. */
async function heldAndReleased(rig: Rig): Promise<SagaHandle> {
  await rig.sagas.hold(seen);
  const saga = await rig.sagas.provision(provisionRequest(two));
  await untilState(saga, 'held');
  await rig.sagas.release(op);
  return ended(saga);
}

/** A server whose firewall somebody has taken away behind our back, and a cart item of a saga that was terminated. */
async function leftBehind(rig: Rig): Promise<void> {
  const saga = await waiting(rig, 'unauthorized', 'stuck');
  await rig.runOf(saga).terminate();
  const bought = await (await rig.sagas.provision(provisionRequest(two))).result();
  panelOf(rig.sandbox).unassign(bought.servers[0]?.vmObjectId ?? 0, [143]);
}

/** An order of two servers, whose call to place it meets the fault. */
function struck(rig: Rig, kind: FaultKind) {
  const request = provisionRequest(two);
  rig.sandbox.faults.add({ endpoint: 'place-order', kind, match: { label: request.label } });
  return request;
}

/** The same, begun and waiting. */
async function waiting(rig: Rig, fault: FaultKind, kind?: WaitKind): Promise<SagaHandle> {
  const saga = await rig.sagas.provision(struck(rig, fault));
  await untilWaiting(saga, kind);
  return saga;
}

const quote = { total: 5, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };
const two = { items: [{}, {}], firewalls: [143] };

export const stories: Record<string, Story> = {
  'provision, done': async (rig) => ended(await rig.sagas.provision(provisionRequest(two))),
  'provision, refused and undone': async (rig) => {
    return ended(await rig.sagas.provision(struck(rig, 'refuse-before')));
  },
  'provision, an item not deleted and left behind': async (rig) => {
    const request = provisionRequest(two);
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match });
    return decided(await rig.sagas.provision(request), ['skip', seen]);
  },
  'provision, slowed down and tried again': async (rig) => {
    const request = provisionRequest(two);
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-before', match });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'rate-limit', match: { label: request.label } });
    return ended(await rig.sagas.provision(request));
  },
  'provision, placed and not answered': async (rig) => {
    return decided(await rig.sagas.provision(struck(rig, 'reset-after')), [
      'confirmPlaced',
      { ...seen, vmObjectIds: [9911, 9912] },
    ]);
  },
  'provision, not placed and not answered': async (rig) => {
    return decided(await rig.sagas.provision(struck(rig, 'error-before')), ['confirmNotPlaced', seen]);
  },
  'provision, still waiting to hear whether it was placed': (rig) => waiting(rig, 'reset-after', 'outcome-unknown'),
  'provision, cancelled while it asked': async (rig) => {
    const saga = await waiting(rig, 'reset-after');
    await saga.cancel();
    return ended(saga);
  },
  'provision, cancelled while it was stuck, and undone': async (rig) => {
    const saga = await waiting(rig, 'unauthorized', 'stuck');
    await saga.cancel();
    return ended(saga);
  },
  'provision, corrected': async (rig) => {
    const request = struck(rig, 'unauthorized');
    const correction = { label: `${request.label}-corrected` };
    return decided(await rig.sagas.provision(request), ['retry', { ...op, correction }]);
  },
  'provision, servers named by a person': async (rig) => {
    return decided(await rig.sagas.provision(struck(rig, 'other-body')), [
      'provideServers',
      { ...op, vmObjectIds: [9901, 9902] },
    ]);
  },
  'provision, a wrong request': async (rig) => {
    const request = provisionRequest();
    return ended(await startRaw(rig, 'provisionServers', { ...request, quantity: 2 }));
  },
  'provision, reset behind its order': async (rig) => {
    const saga = await rig.sagas.provision(provisionRequest(two));
    await saga.result();
    await resetToBeginning(rig.temporal, saga);
    return ended(await rig.sagas.get(saga.reference));
  },
  'provision, terminated and started again': async (rig) => {
    const request = struck(rig, 'unauthorized');
    await untilWaiting(await rig.sagas.provision(request), 'stuck');
    await rig.temporal.workflow.getHandle(`provision/${request.reference}`).terminate();
    return ended(await startRaw(rig, 'provisionServers', request));
  },
  'provision, a reference that is taken': async (rig) => {
    const request = provisionRequest();
    await (await rig.sagas.provision(request)).result();
    return ended(await startRaw(rig, 'provisionServers', { ...request, label: 'another' }));
  },
  'change, done': async (rig) => ended(await rig.sagas.change(changeRequest())),
  'change, approved': async (rig) =>
    decided(await rig.sagas.change(changeRequest({ approval: 'always' })), ['approve', op]),
  'change, rejected': async (rig) =>
    decided(await rig.sagas.change(changeRequest({ approval: 'always' })), ['reject', { ...op, reason: 'too dear' }]),
  'change, beyond its guard': async (rig) => ended(await rig.sagas.change(changeRequest({ guard: { maxTotal: 0 } }))),
  'switch, done': async (rig) => ended(await rig.sagas.switch(switchRequest())),
  'switch, quoted only': async (rig) => ended(await rig.sagas.switch(switchRequest({ quoteOnly: true }))),
  'switch, still waiting for approval': async (rig) => {
    const saga = await rig.sagas.switch(switchRequest({ approval: 'always' }));
    await untilWaiting(saga, 'approval');
    return saga;
  },
  'switch, answered as not available': async (rig) => {
    const request = switchRequest();
    const match = { subscriptionId: request.subscription_id };
    const body = { ...quote, available: false };
    rig.sandbox.faults.add({ endpoint: 'switch-plan', kind: 'other-body', body, match });
    return decided(await rig.sagas.switch(request), ['confirmPlaced', { ...seen, orderId: 'S-1' }]);
  },
  'firewalls, swapped': async (rig) => {
    const request = firewallsRequest({ unassign: [150] });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
    return ended(await rig.sagas.firewalls(request));
  },
  'firewalls, exactly these': async (rig) => {
    const request = firewallsRequest({ assign: undefined, exactly: [143, 144] });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
    return ended(await rig.sagas.firewalls(request));
  },
  'firewalls, refused and undone': async (rig) => {
    const request = firewallsRequest({ unassign: [150] });
    const match = { vmObjectId: request.vmObjectId };
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', match });
    return ended(await rig.sagas.firewalls(request));
  },
  'cart, cleaned after a termination': async (rig) => {
    const saga = await waiting(rig, 'unauthorized', 'stuck');
    await rig.runOf(saga).terminate();
    return ended(await rig.sagas.clean(saga.reference));
  },
  'provision, held and released': heldAndReleased,
  // These are no sagas.
  'hold, cancelled': async (rig) => {
    await rig.sagas.hold(seen);
    const hold = rig.temporal.workflow.getHandle('hold');
    await hold.cancel();
    await hold.result().catch(() => undefined);
    return { workflowId: 'hold', runId: (await hold.describe()).runId };
  },
  'sweep, found and repaired': async (rig) => {
    await leftBehind(rig);
    const { runId } = await rig.sagas.sweeps.start({ perSecond: 20, repair: true });
    await rig.sagas.sweeps.ended(runId);
    return { workflowId: 'reconcile', runId };
  },
};
