/**
 * Resets of a change of firewalls: of what another run has done, this one's history knows nothing. Found by the model
 * and by chaos.
 */
import { firewallsOf, neverLessProtected } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import { describeInWays, itInWays } from '../../support/left-out';
import { firewallsRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/reset';
import { Rig } from '../../support/rig';
import { outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

/** Of whichever run is the latest. */
const workflowOf = ({ workflowId }: SagaHandle) => ({ workflowId });

itInWays('assigns again before it unassigns anything', async () => {
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
  const unseen = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', from: 2, times: 'all' });
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

describeInWays('what an earlier run has changed is told by one that does not get to its end', () => {
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  const { vmObjectId, reference } = request;
  const again = () => new SagaHandle(rig.temporal, 'setFirewalls', reference, '', true);
  const left = {
    kind: 'firewalls',
    vmObjectId,
    firewalls: [143],
    why: expect.stringMatching(/^assigned by another run/),
  };

  /** It has assigned, and waits at what it is to unassign. */
  async function stuck(): Promise<SagaHandle> {
    rig.sandbox.addServer({ vmObjectId, firewalls: [1] });
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', nth: 1 });
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    return saga;
  }

  it('started again after a termination, and refused', async () => {
    const { workflowId } = await stuck();
    await rig.temporal.workflow.getHandle(workflowId).terminate('a test');
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', times: 'all' });
    await rig.temporal.workflow.start('setFirewalls', { workflowId, taskQueue: 'order-saga', args: [request] });
    const { failure } = await outcomeOf(again());
    expect(failure).toMatchObject({ type: 'FirewallsRejected', report: { outcome: 'reversed-with-leftovers' } });
    expect(failure?.report.leftovers).toEqual([left]);
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([1, 143]);
  });

  it('reset to before its list, and cancelled before it has seen one', async () => {
    const saga = await stuck();
    const fault = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
    await resetTo(rig.temporal, workflowOf(saga), await taskBefore(rig.temporal, workflowOf(saga), 'listFirewalls'));
    await untilWaiting(again(), 'stuck');
    rig.sandbox.faults.lift(fault);
    await again().cancel();
    const { cancelled } = await outcomeOf(again());
    expect(cancelled).toMatchObject({ outcome: 'reversed-with-leftovers', leftovers: [left] });
  });

  it('perhaps, where the list cannot be read', async () => {
    const saga = await stuck();
    rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
    await resetTo(rig.temporal, workflowOf(saga), await taskBefore(rig.temporal, workflowOf(saga), 'listFirewalls'));
    await untilWaiting(again(), 'stuck');
    await again().cancel();
    const { cancelled } = await outcomeOf(again());
    expect(cancelled?.leftovers).toEqual([{ ...left, why: expect.stringMatching(/^perhaps assigned by another run/) }]);
  });

  it('where it has unassigned, and undone, only some of what that run has unassigned', async () => {
    const two = firewallsRequest({ assign: [143], unassign: [1, 2] });
    const server = two.vmObjectId;
    const later = () => new SagaHandle(rig.temporal, 'setFirewalls', two.reference, '', true);
    const twice = { from: 2, times: 2, match: { vmObjectId: server } };
    const unseen = { endpoint: 'list-firewalls', kind: 'unauthorized', ...twice } as const;
    rig.sandbox.addServer({ vmObjectId: server, firewalls: [1, 2] });
    rig.sandbox.faults.add(unseen);
    const saga = await rig.sagas.firewalls(two);
    await untilWaiting(saga, 'stuck');
    const { workflowId } = saga;
    await rig.temporal.workflow.getHandle(workflowId).terminate('a test');
    await (await rig.sagas.firewalls({ reference: 'another', vmObjectId: server, assign: [2] })).result();
    rig.sandbox.faults.add(unseen);
    await rig.temporal.workflow.start('setFirewalls', { workflowId, taskQueue: 'order-saga', args: [two] });
    await untilWaiting(later(), 'stuck');
    await later().cancel();
    const { cancelled } = await outcomeOf(later());
    expect(cancelled).toMatchObject({
      outcome: 'reversed-with-leftovers',
      leftovers: [
        { firewalls: [143], why: expect.stringMatching(/^assigned by another run/) },
        { firewalls: [1], why: expect.stringMatching(/^unassigned by another run/) },
      ],
    });
    expect(firewallsOf(rig.sandbox.ledger, server).sort()).toEqual([143, 2]);
  });

  it('where it has assigned, and undone, only some of what that run has assigned', async () => {
    const two = firewallsRequest({ assign: [143, 146], unassign: [1] });
    const server = two.vmObjectId;
    rig.sandbox.addServer({ vmObjectId: server, firewalls: [1] });
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', nth: 1 });
    const saga = await rig.sagas.firewalls(two);
    await untilWaiting(saga, 'stuck');
    const { workflowId } = saga;
    await rig.temporal.workflow.getHandle(workflowId).terminate('a test');
    await (await rig.sagas.firewalls({ reference: 'another', vmObjectId: server, unassign: [146] })).result();
    rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'refuse-before', nth: 1 });
    await rig.temporal.workflow.start('setFirewalls', { workflowId, taskQueue: 'order-saga', args: [two] });
    const { failure } = await outcomeOf(new SagaHandle(rig.temporal, 'setFirewalls', two.reference, '', true));
    expect(failure?.report.leftovers).toEqual([{ ...left, vmObjectId: server }]);
  });
});
