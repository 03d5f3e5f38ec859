/** Resets of a change of firewalls: of what another run has done, this one's history knows nothing. Found by the model and by chaos. */
import { firewallsOf, neverLessProtected } from '../../sandbox/sentences';
import { SagaHandle } from '../../src/client/handle';
import { firewallsRequest } from '../support/requests';
import { resetTo, taskBefore } from '../support/reset';
import { Rig } from '../support/rig';
import { outcomeOf, untilWaiting } from '../support/sagas';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

/** Of whichever run is the latest. */
const workflowOf = ({ workflowId }: SagaHandle) => ({ workflowId });

it('assigns again before it unassigns anything', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  const { vmObjectId, reference } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1, 2] });
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before' });
  const saga = await rig.sagas.firewalls(request);
  expect((await outcomeOf(saga)).failure?.type).toBe('FirewallsRejected');
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId).sort()).toEqual([1, 2]);

  // Its history says that 143 is assigned. It was; the first run has taken it back.
  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, workflowOf(saga), 'unassignFirewalls'));
  const again = new SagaHandle(rig.temporal, 'setFirewalls', reference, '', true);
  expect(await again.result()).toMatchObject({ assigned: [143], unassigned: [1], verified: true });
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId, [2, 143])).toBe(true);
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId).sort()).toEqual([143, 2]);
});

it('that is cancelled before it came to unassign: what the run before unassigned is assigned first', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  const { vmObjectId, reference } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1, 2] });
  // Its last look keeps it open, and so its turn: the run after it goes on, and does not begin again.
  const unseen = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', nth: 2 });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  rig.sandbox.faults.lift(unseen);
  const gate = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'gate' });
  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, workflowOf(saga), 'assignFirewalls'));
  const again = new SagaHandle(rig.temporal, 'setFirewalls', reference, '', true);
  await rig.sandbox.whenStruck(gate);
  await again.cancel();
  rig.sandbox.faults.lift(gate);
  const { cancelled } = await outcomeOf(again);
  expect(cancelled?.leftovers).toEqual([]);
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId, [2, 143])).toBe(true);
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId).sort()).toEqual([1, 2]);
});
