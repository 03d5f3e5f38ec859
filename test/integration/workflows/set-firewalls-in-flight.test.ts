/**
 * What a saga did to a server's firewalls and that takes effect late, and what another saga did meanwhile: neither is
 * lost by an undo.
 */
import { msToTs } from '@temporalio/common/lib/time';
import { firewallMoments, firewallsOf } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import { isOutcome } from '../../../src/domain/outcomes';
import { itInWays } from '../../support/left-out';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { resetTo, taskBefore } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

const inFlightMs = 5_000;

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ activities: { inFlightMs }, provider: { totalTimeoutMs: 1_500 }, compares: false });
});
afterAll(() => rig.close());
afterEach(() => {
  rig.sandbox.faults.clear();
});

/** A change of which the first call is held before its effect, and the others of its kind are refused. */
async function holding(firewalls: number[], changes: object, endpoint: 'assign-firewalls' | 'unassign-firewalls') {
  const request = firewallsRequest({ assign: undefined, ...changes });
  const match = { vmObjectId: request.vmObjectId };
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls });
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match, nth: 1 });
  rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', match, from: 2, times: 'all' });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  return { request, saga, gate, now: () => firewallsOf(rig.sandbox.ledger, request.vmObjectId) };
}

/** A person gives it up: the saga undoes, and has come to where it waits. */
const untilUndoing = async (saga: SagaHandle) => {
  await untilWaiting(saga, 'stuck');
  await saga.cancel();
  await until(async () => {
    const { state, steps } = await progressOf(saga);
    if (isOutcome(state)) throw new Error(`it is ${state} already`);
    return steps.some(({ detail }) => detail?.includes('in flight'));
  });
};

itInWays.each(['the answer', 'the worker'] as const)(
  'an assignment of which %s was lost, and that comes late, is taken back all the same',
  async (what) => {
    const { saga, gate, now } = await holding([1], { assign: [143] }, 'assign-firewalls');
    if (what === 'the worker') {
      await rig.temporal.workflowService.updateActivityOptions({
        namespace: rig.namespace,
        execution: { workflowId: saga.workflowId },
        type: 'assignFirewalls',
        activityOptions: { startToCloseTimeout: msToTs('500 milliseconds') },
        updateMask: { paths: ['start_to_close_timeout'] },
      });
    }
    await untilUndoing(saga);
    rig.sandbox.faults.release(gate);
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
    expect(now()).toEqual([1]);
  },
);

it('an assignment of which the answer was lost is taken back, also while the list does not show it', async () => {
  const request = firewallsRequest({ assign: [143] });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1] });
  const match = { vmObjectId };
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'reset-after', match, times: 'all' });
  rig.sandbox.configure({ firewallLag: 1_000 });
  try {
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    await saga.cancel();
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([1]);
  } finally {
    rig.sandbox.configure({ firewallLag: 0 });
  }
});

it('a removal of which the answer was lost, and that comes late, is undone all the same', async () => {
  const { saga, gate, now } = await holding([1, 150], { unassign: [150] }, 'unassign-firewalls');
  await untilUndoing(saga);
  rig.sandbox.faults.release(gate);
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  expect([...now()].sort()).toEqual([1, 150]);
});

/** The call that the gate holds takes effect, and is through. */
async function land(gate: string, vmObjectId: number): Promise<void> {
  const before = firewallMoments(rig.sandbox.ledger, vmObjectId).length;
  rig.sandbox.faults.release(gate);
  await until(() => Promise.resolve(firewallMoments(rig.sandbox.ledger, vmObjectId).length > before));
}

itInWays('a call of a saga that has ended, and that comes late, strips nothing that the next one has set', async () => {
  const { vmObjectId } = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId, firewalls: [1, 150] });
  const [endpoint, match] = ['unassign-firewalls', { vmObjectId }] as const;
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match, nth: 1 });
  const first = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: undefined, unassign: [150] }));
  await first.result();
  const second = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: undefined, exactly: [150] }));
  const { queued } = await until(async () => {
    const progress = await progressOf(second);
    return (progress.queued ?? progress.state === 'done') && progress;
  });
  await land(gate, vmObjectId);
  await expect(second.result()).resolves.toMatchObject({ verified: true });
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([150]);
  expect(queued).toMatchObject({ before: 1, holder: first.workflowId });
});

describe('an undo in flight of a run that was reset strips nothing that the next run relies on:', () => {
  /** A change whose first undo is held; and the run that goes on after a reset to before a call. */
  async function resetWhileUndoing(changes: object, [call, nth]: [string, number?], cancels = false) {
    const request = firewallsRequest({ assign: [143], ...changes });
    const { vmObjectId, reference } = request;
    const [endpoint, match] = ['unassign-firewalls', { vmObjectId }] as const;
    rig.sandbox.addServer({ vmObjectId, firewalls: [1] });
    if (cancels) rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', match, from: 2, times: 2 });
    else rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', match, nth: 1 });
    const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match, nth: cancels ? 1 : 2 });
    const saga = await rig.sagas.firewalls(request);
    if (cancels) {
      await untilWaiting(saga, 'stuck');
      await saga.cancel();
    }
    await rig.sandbox.whenStruck(gate);
    const { workflowId } = saga;
    await resetTo(rig.temporal, { workflowId }, await taskBefore(rig.temporal, { workflowId }, call, nth));
    const again = new SagaHandle(rig.temporal, 'setFirewalls', reference, '', true);
    await until(async () => {
      const { state, steps } = await progressOf(again);
      return state !== 'running' || steps.some(({ detail }) => detail?.includes('in flight'));
    });
    await land(gate, vmObjectId);
    return { again, vmObjectId, now: () => firewallsOf(rig.sandbox.ledger, vmObjectId) };
  }

  itInWays.each(['listFirewalls', 'unassignFirewalls'])('reset to before %s', async (call) => {
    const { again, now } = await resetWhileUndoing({ unassign: [1] }, [call]);
    await expect(again.result()).resolves.toMatchObject({ assigned: [143], unassigned: [1], verified: true });
    expect(now()).toEqual([143]);
  });

  itInWays('reset to before the last look, which does not call verified what the undo takes away', async () => {
    const { again, vmObjectId, now } = await resetWhileUndoing({}, ['listFirewalls', 2], true);
    await expect(untilWaiting(again, 'stuck')).resolves.toMatchObject({ step: 'verify-firewalls' });
    expect(now()).toEqual([1]);
    await answer(again, 'skip', { note: 'a test' });
    await expect(again.result()).resolves.toMatchObject({
      outcome: 'partly',
      verified: false,
      leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143] }],
    });
  });
});

describe('a server that was bought while another saga changes its firewalls', () => {
  /** An order that waits at the assignment of its firewalls, and the server that it has bought. */
  async function bought(firewalls: number[]) {
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(provisionRequest({ firewalls }));
    await untilWaiting(saga, 'stuck');
    rig.sandbox.faults.clear();
    const { steps } = await progressOf(saga);
    const [vmObjectId] = steps.flatMap(({ id }) => /^assign-firewalls-(\d+)$/.exec(id)?.[1] ?? []).map(Number);
    return { saga, vmObjectId: vmObjectId!, now: () => firewallsOf(rig.sandbox.ledger, vmObjectId!) };
  }

  itInWays('keeps the firewalls that it was bought with when that saga is cancelled, which tells them', async () => {
    const { saga, vmObjectId, now } = await bought([143]);
    rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', from: 2, times: 2 });
    const other = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [143, 150] }));
    await untilWaiting(other, 'stuck');
    rig.sandbox.faults.clear();
    await answer(saga, 'retry');
    expect(await saga.result()).toMatchObject({
      outcome: 'done',
      servers: [{ vmObjectId, firewalls: expect.arrayContaining([143]), verified: true }],
    });
    await other.cancel();
    const { cancelled } = await outcomeOf(other);
    expect(now()).toEqual([143]);
    expect(cancelled).toMatchObject({
      outcome: 'reversed-with-leftovers',
      leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143], why: expect.stringMatching(/another saga/) }],
    });
  });

  itInWays('is not called verified as an exact set while the list shows a firewall more', async () => {
    const { saga, vmObjectId, now } = await bought([143]);
    const gate = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'gate', hold: 'before', nth: 1 });
    const other = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: undefined, exactly: [150] }));
    await rig.sandbox.whenStruck(gate);
    await answer(saga, 'retry');
    await saga.result();
    rig.sandbox.faults.release(gate);
    expect(await untilWaiting(other, 'stuck')).toMatchObject({
      step: 'verify-firewalls',
      lastFailure: { failure: 'NotVisibleYet', message: expect.stringMatching(/still shows 143$/) },
    });
    await answer(other, 'skip', { note: 'it may stay' });
    const result = await other.result();
    expect(result).toMatchObject({
      outcome: 'partly',
      verified: false,
      leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143], why: expect.stringMatching(/still shows/) }],
    });
    expect([...result.firewalls].sort()).toEqual([...now()].sort());
  });
});
