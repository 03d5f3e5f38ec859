/** A reset of a change of firewalls that was undone: what should protect the server instead is gone again. Found by the model. */
import { firewallsOf, neverLessProtected } from '../../sandbox/sentences';
import { SagaHandle } from '../../src/client/handle';
import { firewallsRequest } from '../support/requests';
import { resetTo } from '../support/reset';
import { Rig } from '../support/rig';
import { outcomeOf } from '../support/sagas';

it('assigns again before it unassigns anything', async () => {
  const rig = await Rig.start();
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  const { vmObjectId, reference } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1, 2] });
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before' });
  const saga = await rig.sagas.firewalls(request);
  expect((await outcomeOf(saga)).failure?.type).toBe('FirewallsRejected');
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId).sort()).toEqual([1, 2]);

  const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  const scheduled = events?.find(
    ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'unassignFirewalls',
  );
  const { workflowTaskCompletedEventId: task } = scheduled?.activityTaskScheduledEventAttributes ?? {};
  // Its history says that 143 is assigned. It was; the first run has taken it back.
  await resetTo(rig.temporal, saga, Number(task));
  const again = new SagaHandle(rig.temporal, 'setFirewalls', reference, '', true);
  expect(await again.result()).toMatchObject({ assigned: [143], unassigned: [1], verified: true });
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId, [2, 143])).toBe(true);
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId).sort()).toEqual([143, 2]);
  await rig.close();
});
