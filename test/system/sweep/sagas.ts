/**
 * The stories that are spoiled call by call: every request of `support/asks`, and what else may befall it.
 *
 * A story is not a list of steps. Whatever calls it makes are found by making them, so a step that is added to a
 * workflow is spoiled without a word here.
 */
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import { asks, firewallsBefore, provision } from '../../support/asks';
import type { Asked } from '../../support/promises';
import { changeRequest, planIdOf, provisionRequest, switchRequest } from '../../support/requests';
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
  /** The provider's faults: part of the story, in every run of it. */
  besides?: Omit<FaultSpec, 'match'>[];
  /** Somebody's deed meanwhile: part of the story as well. */
  meanwhile?: (rig: Rig, saga: SagaHandle) => Promise<void>;
}

function story(name: string, ask: () => Asked, rest: Omit<Scene, 'asked'> = {}): Story {
  const prepare = ({ sandbox }: Rig) => {
    const asked = ask();
    if (asked.workflow === 'setFirewalls')
      sandbox.addServer({ vmObjectId: asked.request.vmObjectId, firewalls: firewallsBefore });
    return { asked, ...rest };
  };
  return { name, prepare };
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
  ...Object.values(asks).flatMap((ways) => Object.entries(ways).map(([name, ask]) => story(name, ask))),
  story('provision that is refused', provision({ items: [{}, {}] }), { besides: [refuses('place-order')] }),
  story('provision that asks when it is refused', provision({ onRefusal: 'ask' }), {
    besides: [refuses('place-order')],
  }),
  // Whichever is added first.
  story(
    'provision of what is sold out',
    provision({ items: [1, 2].map(() => ({ alternatives: [{ billing_cycle: 3 }] })) }),
    {
      besides: [{ endpoint: 'add-cart-item', kind: 'refuse-before', status: 409, body: { code: 'sold_out' } }],
    },
  ),
  story('provision that is cancelled', provision({ items: [{}, {}] }), {
    besides: [{ endpoint: 'place-order', kind: 'slow', delayMs: 300 }],
    meanwhile: cancelAtTheOrder,
  }),
  story('provision whose servers a person names', provision({ firewalls: [143] }), {
    besides: [{ endpoint: 'place-order', kind: 'other-body', times: 'all' }],
  }),
  changeInTheQueue,
  story('firewalls exchanged, which is refused', asks.setFirewalls['firewalls exchanged'], {
    besides: [refuses('unassign-firewalls')],
  }),
  clean('of an order that never went out', { kind: 'unauthorized' }),
  { ...clean('of an order whose fate is unknown', { kind: 'error-before' }), waits: true },
];
