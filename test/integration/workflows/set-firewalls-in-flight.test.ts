/**
 * What a saga did to a server's firewalls and that takes effect late is not lost by its undo. What waits for what, and
 * whose a firewall is: test/integration/journal/contract/firewalls.ts.
 */
import { firewallsOf } from '../../../sandbox/sentences';
import { isOutcome } from '../../../src/domain/outcomes';
import { panelOf } from '../../support/panel';
import { firewallsRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

const inFlightMs = 5_000;

const rig = rigForFile({
  activities: { inFlightMs },
  provider: { totalTimeoutMs: 1_500 },
  compares: false,
  clears: true,
});

it('an assignment of which the answer was lost is taken back, also while the list does not show it', async () => {
  const request = firewallsRequest({ assign: [143] });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [1] });
  const match = { vmObjectId };
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'reset-after', match, times: 'all' });
  rig.sandbox.configure({ firewallLag: 1_000 });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  await saga.cancel();
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([1]);
});

it('a removal of which the answer was lost, and that comes late, is undone all the same', async () => {
  const request = firewallsRequest({ assign: undefined, unassign: [150] });
  const match = { vmObjectId: request.vmObjectId };
  const endpoint = 'unassign-firewalls';
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [1, 150] });
  const gate = rig.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match, nth: 1 });
  rig.sandbox.faults.add({ endpoint, kind: 'refuse-before', match, from: 2, times: 'all' });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  await untilWaiting(saga, 'stuck');
  await saga.cancel();
  // It undoes, and has come to where it waits.
  await until(async () => {
    const { state, steps } = await progressOf(saga);
    if (isOutcome(state)) throw new Error(`it is ${state} already`);
    return steps.some(({ detail }) => detail?.includes('in flight'));
  });
  rig.sandbox.faults.release(gate);
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  expect(firewallsOf(rig.sandbox.ledger, request.vmObjectId).sort()).toEqual([1, 150]);
});

it('an exact set is not called verified while the list shows a firewall that somebody has assigned meanwhile', async () => {
  const request = firewallsRequest({ assign: undefined, exactly: [150] });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [] });
  const match = { vmObjectId };
  const gate = rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'gate', hold: 'before', match });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  panelOf(rig.sandbox).assign(vmObjectId, [143]);
  rig.sandbox.faults.release(gate);
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({
    step: 'verify-firewalls',
    lastFailure: { failure: 'NotVisibleYet', message: expect.stringMatching(/still shows 143$/) as string },
  });
  await answer(saga, 'skip', { note: 'it may stay' });
  const why = expect.stringMatching(/still shows/) as string;
  const result = await saga.result();
  expect(result).toMatchObject({
    ...{ outcome: 'partly', verified: false },
    leftovers: [{ kind: 'firewalls', vmObjectId, firewalls: [143], why }],
  });
  expect([...result.firewalls].sort()).toEqual([143, 150]);
});
