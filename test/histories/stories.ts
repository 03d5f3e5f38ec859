/** One saga for each way in which a released version may have ended, or may still be waiting. Recorded by `record.ts`. */
import type { SagaHandle } from '../../src/client/handle';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../support/requests';
import { resetTo, workflowTasksOf } from '../support/reset';
import type { Rig } from '../support/rig';
import { outcomeOf, untilWaiting } from '../support/sagas';

/** @returns the saga whose history is kept, ended or waiting */
export type Story = (rig: Rig) => Promise<SagaHandle>;

const op = { by: 'op' };
const seen = { by: 'op', note: 'as the control panel shows' };

async function ended(saga: SagaHandle): Promise<SagaHandle> {
  await outcomeOf(saga);
  return saga;
}

/** Decides by turns what it waits for, until it ends. */
async function decided(saga: SagaHandle, ...decisions: Parameters<SagaHandle['decide']>[]): Promise<SagaHandle> {
  for (const [index, [decision, body]] of decisions.entries()) {
    if (index > 0) {
      const taken = index;
      while ((await saga.progress()).decisions.length < taken) await untilWaiting(saga);
    }
    await untilWaiting(saga);
    await saga.decide(decision, body);
  }
  return ended(saga);
}

const provision = (changes: Parameters<typeof provisionRequest>[0] = {}) => provisionRequest(changes);
const two = { items: [{}, {}], firewalls: [143] };

export const stories: Record<string, Story> = {
  'provision, done': async (rig) => ended(await rig.sagas.provision(provision(two))),
  'provision, refused and undone': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    return ended(await rig.sagas.provision(request));
  },
  'provision, an item not deleted and left behind': async (rig) => {
    const request = provision(two);
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
    rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match });
    return decided(await rig.sagas.provision(request), ['skip', seen]);
  },
  'provision, slowed down and tried again': async (rig) => {
    const request = provision(two);
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'error-before', match });
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'rate-limit', match: { label: request.label } });
    return ended(await rig.sagas.provision(request));
  },
  'provision, placed and not answered': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
    return decided(await rig.sagas.provision(request), ['confirmPlaced', { ...seen, vmObjectIds: [9001, 9002] }]);
  },
  'provision, not placed and not answered': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'error-before', match: { label: request.label } });
    return decided(await rig.sagas.provision(request), ['confirmNotPlaced', seen]);
  },
  'provision, still waiting to hear whether it was placed': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'outcome-unknown');
    return saga;
  },
  'provision, cancelled while it asked': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga);
    await saga.cancel();
    return ended(saga);
  },
  'provision, cancelled while it was stuck, and undone': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    await saga.cancel();
    return ended(saga);
  },
  'provision, corrected': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const correction = { label: `${request.label}-corrected` };
    return decided(await rig.sagas.provision(request), ['retry', { ...op, correction }]);
  },
  'provision, servers named by a person': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'other-body', match: { label: request.label } });
    return decided(await rig.sagas.provision(request), ['provideServers', { ...op, vmObjectIds: [9901, 9902] }]);
  },
  'provision, a wrong request': async (rig) => {
    const request = provision();
    const { workflow } = rig.temporal;
    await workflow.start('provisionServers', {
      workflowId: `provision/${request.reference}`,
      taskQueue: 'order-saga',
      args: [{ ...request, quantity: 2 }],
    });
    return ended(await rig.sagas.get(request.reference));
  },
  'provision, reset behind its order': async (rig) => {
    const saga = await rig.sagas.provision(provision(two));
    await saga.result();
    const [first = 0] = await workflowTasksOf(rig.temporal, saga);
    await resetTo(rig.temporal, saga, first);
    return decided(await rig.sagas.get(saga.reference), ['confirmPlaced', { ...seen, vmObjectIds: [9001, 9002] }]);
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
  'firewalls, refused and put back': async (rig) => {
    const request = firewallsRequest({ unassign: [150] });
    const match = { vmObjectId: request.vmObjectId };
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', match });
    return ended(await rig.sagas.firewalls(request));
  },
  'cart, cleaned after a termination': async (rig) => {
    const request = provision(two);
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    await rig.temporal.workflow.getHandle(saga.workflowId).terminate();
    return ended(await rig.sagas.clean(request.reference));
  },
};
