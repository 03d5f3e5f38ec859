/**
 * Cancel at every step: the n-th provider call of a story is held, before its effect and after it; the saga is cancelled
 * meanwhile; then the call goes on. The steps are found by running on until a story has no n-th call.
 */
import {
  firewallsOf,
  openCartItems,
  neverLessProtected,
  noOrderPlacedTwice,
  ordersWithLabel,
} from '../../sandbox/sentences';
import type { SagaHandle } from '../../src/client/handle';
import { Rig } from '../support/rig';
import { changeRequest, firewallsRequest, provisionRequest, switchRequest } from '../support/requests';
import { outcomeOf } from '../support/sagas';

type Story = (rig: Rig) => Promise<SagaHandle>;

const stories: Record<string, Story> = {
  provisionServers: (rig) => rig.sagas.provision(provisionRequest({ items: [{}, {}], firewalls: [143] })),
  changeOrder: (rig) => rig.sagas.change(changeRequest()),
  switchPlan: (rig) => rig.sagas.switch(switchRequest()),
  setFirewalls: (rig) => {
    const request = firewallsRequest({ assign: [143], unassign: [150] });
    rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [150] });
    return rig.sagas.firewalls(request);
  },
};

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it.each(
  Object.entries(stories).flatMap(([name, story]) =>
    (['before', 'after'] as const).map((hold) => [name, hold, story] as const),
  ),
)('%s is cancelled while any of its calls is held %s its effect', async (_name, hold, story) => {
  let struck = 0;
  for (let nth = 1; ; nth += 1) {
    const { sandbox } = rig;
    const first = sandbox.ledger.calls.length;
    const gate = sandbox.faults.add({ endpoint: '*', kind: 'gate', hold, nth });
    const saga = await story(rig);
    const held = await Promise.race([sandbox.whenStruck(gate).then(() => true), outcomeOf(saga).then(() => false)]);
    if (!held) {
      sandbox.faults.clear();
      break;
    }
    struck += 1;
    await saga.cancel();
    sandbox.faults.release(gate);
    const outcome = await outcomeOf(saga);
    const { ledger } = sandbox;

    expect(openCartItems(ledger)).toEqual([]);
    expect(noOrderPlacedTwice(ledger)).toBe(true);
    const placed = ledger.calls.slice(first).some((call) => call.row === 1 || call.row === 4 || call.row === 6);
    if (saga.workflow === 'provisionServers') {
      expect(ordersWithLabel(ledger, saga.reference)).toHaveLength(placed ? 1 : 0);
    }
    for (const { vmObjectId } of ledger.seededServers) {
      expect(neverLessProtected(ledger, vmObjectId, [143])).toBe(true);
      // Undone where it was cancelled in time; done where its last call was the one that was held.
      if (outcome.cancelled) expect([[150], [143]]).toContainEqual(firewallsOf(ledger, vmObjectId));
    }
    // A call that was the story's last one brings the saga to its end all the same.
    expect(outcome.failure).toBeUndefined();
    if (outcome.cancelled) expect(outcome.cancelled).toMatchObject({ state: 'cancelled', leftovers: [] });
    expect((await saga.describe()).status.name).toBe(outcome.cancelled ? 'CANCELLED' : 'COMPLETED');
  }
  expect(struck).toBeGreaterThan(1);
});
