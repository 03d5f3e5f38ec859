/**
 * The stories that are spoiled call by call: every workflow, and for each the requests that take another way through
 * it.
 *
 * A story is not a list of steps. Whatever calls it makes are found by making them, so a step that is added to a
 * workflow is spoiled without a word here.
 */
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import type { Asked } from '../../support/promises';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
import { until, type Rig } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

export interface Story {
  name: string;
  /** Brings about what was there before the saga. None of its calls is spoiled. */
  prepare: (rig: Rig) => Promise<Scene> | Scene;
  /** Its calls are made only when an earlier one can no longer be in flight, which lasts as long as a call may. */
  waits?: true;
}

export interface Scene {
  asked: Asked;
  /** What the provider does besides: part of the story, in every run of it. */
  besides?: Omit<FaultSpec, 'match'>[];
  /** What somebody does meanwhile: part of the story as well. */
  meanwhile?: (rig: Rig, saga: SagaHandle) => Promise<void>;
}

type Changes = Parameters<typeof provisionRequest>[0];

function provision(name: string, changes: Changes, rest: Omit<Scene, 'asked'> = {}): Story {
  const prepare = () =>
    ({ asked: { workflow: 'provisionServers', request: provisionRequest(changes) }, ...rest }) as const;
  return { name: `provision ${name}`, prepare };
}

function change(name: string, changes: Record<string, unknown>): Story {
  return {
    name: `change ${name}`,
    prepare: () => ({ asked: { workflow: 'changeOrder', request: changeRequest(changes) } }),
  };
}

function switchPlan(name: string, changes: Record<string, unknown>): Story {
  return {
    name: `switch ${name}`,
    prepare: () => ({ asked: { workflow: 'switchPlan', request: switchRequest(changes) } }),
  };
}

/** A server that has firewalls 1 and 2. */
function firewalls(name: string, changes: Record<string, unknown>, rest: Omit<Scene, 'asked'> = {}): Story {
  return {
    name: `firewalls ${name}`,
    prepare: ({ sandbox }) => {
      const request = firewallsRequest(changes);
      sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [1, 2] });
      return { asked: { workflow: 'setFirewalls', request }, ...rest };
    },
  };
}

/** Its subscription has a switch that waits for approval, and is rejected once the change has queued behind it. */
const changeInTheQueue: Story = {
  name: 'change in the queue',
  prepare: async (rig) => {
    const before = switchRequest({ approval: 'always' });
    const saga = await rig.sagas.switch(before);
    await untilWaiting(saga, 'approval');
    const request = changeRequest({ subscription_id: before.subscription_id });
    const meanwhile = async (_rig: Rig, behind: SagaHandle) => {
      await until(async () => (await behind.progress()).queued !== undefined);
      await answer(saga, 'reject', { by: 'op' });
    };
    return { asked: { workflow: 'changeOrder', request }, meanwhile };
  },
};

/** A provisioning whose order met the fault, and which was terminated while it waited. */
function clean(name: string, fault: Pick<FaultSpec, 'kind'>): Story {
  return {
    name: `clean ${name}`,
    prepare: async (rig) => {
      const request = provisionRequest({ items: [{}, {}] });
      const match = { planId: planIdOf(request.reference) };
      const spoiled = rig.sandbox.faults.add({ endpoint: 'place-order', ...fault, match, times: 'all' });
      const saga = await rig.sagas.provision(request);
      await untilWaiting(saga);
      await rig.runOf(saga).terminate('the story');
      rig.sandbox.faults.lift(spoiled);
      return { asked: { workflow: 'cleanCart', request: { reference: request.reference } } };
    },
  };
}

/** The first call of it. */
const refuses = (endpoint: FaultSpec['endpoint']): Omit<FaultSpec, 'match'> => ({ endpoint, kind: 'refuse-before' });

/** Somebody cancels while the order is under way, and the provider refuses it then. */
async function cancelAtTheOrder({ sandbox }: Rig, saga: SagaHandle): Promise<void> {
  const match = { planId: planIdOf(saga.reference) };
  await sandbox.whenCalled({ endpoint: 'place-order', match });
  await saga.cancel();
}

export const stories: readonly Story[] = [
  provision('one item', {}),
  provision('three items with a firewall', {
    items: [{}, { os_template_id: 4 }, { os_template_id: 5 }],
    firewalls: [143],
  }),
  provision('two of an item with two firewalls', { items: [{ quantity: 2 }], firewalls: [143, 144] }),
  provision('that is refused', { items: [{}, {}] }, { besides: [refuses('place-order')] }),
  provision('that asks when it is refused', { onRefusal: 'ask' }, { besides: [refuses('place-order')] }),
  provision(
    'that is cancelled',
    { items: [{}, {}] },
    { besides: [{ endpoint: 'place-order', kind: 'slow', delayMs: 300 }], meanwhile: cancelAtTheOrder },
  ),
  provision(
    'whose servers a person names',
    { firewalls: [143] },
    { besides: [{ endpoint: 'place-order', kind: 'other-body', times: 'all' }] },
  ),
  change('', {}),
  change('that is approved', { approval: 'always' }),
  change('that is only quoted', { quoteOnly: true }),
  change('that breaks its guard', { guard: { maxTotal: 1 } }),
  changeInTheQueue,
  switchPlan('', {}),
  switchPlan('that is approved', { approval: { above: 1 } }),
  switchPlan('that is only quoted', { quoteOnly: true }),
  firewalls('assigned', { assign: [143, 144] }),
  firewalls('exchanged', { assign: [143], unassign: [1] }),
  firewalls('to an exact set', { assign: undefined, exactly: [2, 143] }),
  firewalls(
    'exchanged, which is refused',
    { assign: [143], unassign: [1] },
    { besides: [refuses('unassign-firewalls')] },
  ),
  clean('of an order that never went out', { kind: 'unauthorized' }),
  { ...clean('of an order whose fate is unknown', { kind: 'error-before' }), waits: true },
];
