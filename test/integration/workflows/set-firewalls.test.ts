import { firewallsOf, neverLessProtected } from '../../../sandbox/sentences';
import { sandboxProfile } from '../../support/activity-settings';
import { requestAtServer } from '../../support/orders';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { resetTo, startRaw, taskBefore } from '../../support/web-ui';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true, onPostgres: true });

const requestFor = (firewalls: number[], changes: object) => requestAtServer(rig, firewalls, changes);
const fault = (vmObjectId: number, endpoint: string, changes: object) =>
  rig.sandbox.faults.add({ endpoint, match: { vmObjectId }, ...changes } as never);
const changesTo = (id: number) =>
  rig.sandbox.ledger.calls
    .filter(({ names, endpoint }) => names.vmObjectId?.includes(id) && endpoint !== 'list-firewalls')
    .map(({ endpoint, body }) => [endpoint, body]);
const firewallsNow = (id: number) => firewallsOf(rig.sandbox.ledger, id);

it.each([
  [[1, 2, 3], { exactly: [2, 3, 4] }, [4], [1]],
  [[1, 2], { assign: [1, 4], unassign: [2, 99] }, [4], [2]],
  [[5], { exactly: [5] }, [], []],
])('of %j to %j: sends only what must change', async (before, changes, assigned, unassigned) => {
  const request = requestFor(before, changes);
  const result = await (await rig.sagas.firewalls(request)).result();
  expect(result).toMatchObject({ assigned, unassigned, verified: true });
  const sent = (endpoint: string, ids: number[]) =>
    ids.length === 0 ? [] : [[endpoint, { firewalls: ids.map((id) => ({ id })) }]];
  expect(changesTo(request.vmObjectId)).toEqual([
    ...sent('assign-firewalls', assigned),
    ...sent('unassign-firewalls', unassigned),
  ]);
});

describe('where the list cannot be read', () => {
  beforeEach(() => rig.sandbox.configure({ firewallListResponse: 'opaque' }));

  it('refuses an exact set, and changes nothing', async () => {
    const request = requestFor([5], { exactly: [6] });
    expect((await outcomeOf(await rig.sagas.firewalls(request))).failure).toMatchObject({
      type: 'FirewallListUnreadable',
      report: { why: expect.stringMatching(/cannot be read as a whole, .*; use assign and unassign, or declare/) },
    });
    expect(firewallsNow(request.vmObjectId)).toEqual([5]);
  });

  it('sends what was asked, and does not call it verified', async () => {
    const request = requestFor([5], { assign: [5, 6] });
    const saga = await rig.sagas.firewalls(request);
    expect(await saga.result()).toMatchObject({
      outcome: 'partly',
      assigned: [5, 6],
      verified: false,
      leftovers: [{ kind: 'server-unverified', vmObjectId: request.vmObjectId, firewalls: [5, 6] }],
    });
    expect((await saga.progress()).steps.at(-1)?.detail).toMatch(
      /^unverified: the provider’s list cannot be read as a whole/,
    );
    expect(firewallsNow(request.vmObjectId)).toEqual([5, 6]);
  });

  it('unassigns nothing until a person says that what replaces it is active', async () => {
    const request = requestFor([1], { assign: [2], unassign: [1] });
    const saga = await rig.sagas.firewalls(request);
    expect(await untilWaiting(saga, 'stuck')).toMatchObject({
      step: 'await-assigned',
      lastFailure: { failure: 'NotDeclared' },
    });
    expect(firewallsNow(request.vmObjectId)).toEqual([1, 2]);
    await answer(saga, 'markDone', { note: 'seen in the panel' });
    expect(await saga.result()).toMatchObject({ verified: false, assigned: [2], unassigned: [1] });
    expect(firewallsNow(request.vmObjectId)).toEqual([2]);
  });

  it('leaves what it assigned, and says so: nobody can know what was there before', async () => {
    const request = requestFor([1], { assign: [1, 2], unassign: [9] });
    fault(request.vmObjectId, 'unassign-firewalls', { kind: 'refuse-before' });
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    await answer(saga, 'markDone', { note: 'seen in the panel' });
    const { failure } = await outcomeOf(saga);
    expect(failure?.report.leftovers).toMatchObject([
      { kind: 'firewalls', firewalls: [1, 2], why: 'assigned: it cannot be undone safely' },
    ]);
    expect(firewallsNow(request.vmObjectId)).toEqual(expect.arrayContaining([1, 2]));
  });
});

it('unassigns again what it assigned when unassigning is refused, but nothing that was there before', async () => {
  const request = requestFor([1, 150], { assign: [1, 143], unassign: [150] });
  fault(request.vmObjectId, 'unassign-firewalls', { kind: 'refuse-before' });
  const { failure } = await outcomeOf(await rig.sagas.firewalls(request));
  expect(failure).toMatchObject({ type: 'FirewallsRejected', report: { leftovers: [] } });
  expect(firewallsNow(request.vmObjectId)).toEqual([1, 150]);
  expect(neverLessProtected(rig.sandbox.ledger, request.vmObjectId)).toBe(true);
});

it('tells what could not be assigned again, and leaves what has replaced it', async () => {
  const request = requestFor([150], { assign: [143], unassign: [150] });
  const gate = fault(request.vmObjectId, 'unassign-firewalls', { kind: 'gate', hold: 'after' });
  fault(request.vmObjectId, 'assign-firewalls', { kind: 'unauthorized', from: 2, times: 'all' });
  const saga = await rig.sagas.firewalls(request);
  await rig.sandbox.whenStruck(gate);
  await saga.cancel();
  rig.sandbox.faults.release(gate);
  expect((await untilWaiting(saga)).question).toMatch(
    /^Undoing: “Assign the unassigned firewalls again” did not succeed/,
  );
  await answer(saga, 'skip', { note: 'the server goes anyway' });
  const { cancelled } = await outcomeOf(saga);
  const { vmObjectId } = request;
  expect(cancelled?.leftovers).toEqual([
    { kind: 'firewalls', vmObjectId, firewalls: [150], why: 'unassigned: the server goes anyway' },
    { kind: 'firewalls', vmObjectId, firewalls: [143], why: 'assigned: it cannot be undone safely' },
  ]);
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId)).toBe(true);
  expect(firewallsNow(vmObjectId)).toEqual([143]);
});

describe('a call that may have taken effect', () => {
  it.each([
    ['assign-firewalls', { assign: [143] }, [150, 143]],
    ['unassign-firewalls', { unassign: [150] }, []],
  ])('%s: it is sent again, and a refusal of what the list shows is none', async (endpoint, change, after) => {
    const request = requestFor([150], change);
    const { vmObjectId } = request;
    fault(vmObjectId, endpoint, { kind: 'reset-after', nth: 1 });
    fault(vmObjectId, endpoint, { kind: 'refuse-before', status: 409, from: 2, times: 'all' });
    const saga = await rig.sagas.firewalls(request);
    expect(await saga.result()).toMatchObject({ outcome: 'done', firewalls: after, verified: true });
    expect(changesTo(vmObjectId)).toHaveLength(2);
    const record = await rig.recordOf(saga);
    expect(record?.effects.at(-1)?.outcome).toBe('done');
  });

  it('and “already assigned” in answer to the next one, which the list does not show yet, undo nothing', async () => {
    const request = requestFor([150], { assign: [143] });
    const { vmObjectId } = request;
    fault(vmObjectId, 'assign-firewalls', { kind: 'reset-after', nth: 1 });
    fault(vmObjectId, 'assign-firewalls', { kind: 'refuse-before', status: 422, from: 2, times: 'all' });
    rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.filter((id) => id !== 143) });
    const saga = await rig.sagas.firewalls(request);
    expect(await untilWaiting(saga, 'stuck')).toMatchObject({ step: 'assign-firewalls' });
    expect(firewallsNow(vmObjectId)).toEqual([150, 143]);
    rig.sandbox.configure({ firewallListResponse: 'objects' });
    await answer(saga, 'retry');
    expect(await saga.result()).toMatchObject({ outcome: 'done', firewalls: [150, 143] });
  });
});

const ordered = async () => {
  const { servers } = await (await rig.sagas.provision(provisionRequest())).result();
  return servers[0]?.vmObjectId ?? 0;
};

it.each([
  ['assign-firewalls', { assign: [143] }, { assign: [151] }],
  ['unassign-firewalls', { unassign: [150] }, { unassign: [160] }],
  ['list-firewalls', { assign: [143] }, { assign: [151] }],
])(
  'a server that is new is waited for, and then somebody is asked: %s; nothing is undone',
  async (endpoint, first, second) => {
    const vmObjectId = await ordered();
    await (await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [150, 160] }))).result();
    const notReady = { kind: 'refuse-before', status: 404 };
    fault(vmObjectId, endpoint, { ...notReady, times: 2 });
    const patient = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: undefined, ...first }));
    expect(await patient.result()).toMatchObject({ outcome: 'done', verified: true });

    const lasting = fault(vmObjectId, endpoint, { ...notReady, times: 'all' });
    const asking = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: undefined, ...second }));
    expect(await untilWaiting(asking, 'stuck')).toMatchObject({ lastFailure: { failure: 'NotYet' } });
    rig.sandbox.faults.lift(lasting);
    await answer(asking, 'retry');
    expect(await asking.result()).toMatchObject({ outcome: 'done', verified: true });
  },
);

it('takes a firewall that is pending for none', async () => {
  rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.map((id) => ({ id, status: 'pending' })) });
  const saga = await rig.sagas.firewalls(requestFor([], { assign: [143] }));
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({ lastFailure: { failure: 'NotVisibleYet' } });
  rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.map((id) => ({ id, status: 'active' })) });
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ outcome: 'done', verified: true });
});

it('unassigns nothing before the list shows what replaces it as active', async () => {
  const isActive = new Set([1]);
  const state = (id: number) => ({ id, status: isActive.has(id) ? 'active' : 'pending' });
  rig.sandbox.configure({ firewallListResponse: (ids: number[]) => ids.map(state) });
  const request = requestFor([1], { exactly: [2] });
  const saga = await rig.sagas.firewalls(request);
  expect(await untilWaiting(saga, 'stuck')).toMatchObject({ step: 'await-assigned' });
  expect(firewallsNow(request.vmObjectId)).toEqual([1, 2]);
  isActive.add(2);
  await answer(saga, 'retry');
  expect(await saga.result()).toMatchObject({ outcome: 'done', verified: true, firewalls: [2] });
});

it('a cancelled run first assigns again what another run has unassigned', async () => {
  const request = requestFor([1, 2], { assign: [143], unassign: [1] });
  const again = () => rig.latest('setFirewalls', request);
  const { vmObjectId } = request;
  // Its last look keeps it open, and so its turn: the run after it goes on, and does not begin again.
  const unseen = fault(vmObjectId, 'list-firewalls', { kind: 'unauthorized', from: 2, times: 'all' });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  rig.sandbox.faults.lift(unseen);
  const gate = fault(vmObjectId, 'assign-firewalls', { kind: 'gate' });
  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'assignFirewalls'));
  await rig.sandbox.whenStruck(gate);
  await again().cancel();
  rig.sandbox.faults.lift(gate);
  expect((await outcomeOf(again())).cancelled?.leftovers).toEqual([]);
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId, [2, 143])).toBe(true);
  expect(firewallsNow(vmObjectId).sort()).toEqual([1, 2]);
});

it('what another run has assigned is told by one that was started again, and is refused', async () => {
  const request = requestFor([1], { assign: [143], unassign: [1] });
  const { vmObjectId } = request;
  fault(vmObjectId, 'unassign-firewalls', { kind: 'unauthorized', nth: 1 });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  await rig.runOf(saga).terminate('a test');
  fault(vmObjectId, 'unassign-firewalls', { kind: 'refuse-before', times: 'all' });
  const { failure } = await outcomeOf(await startRaw(rig, 'setFirewalls', request));
  expect(failure).toMatchObject({ type: 'FirewallsRejected', report: { outcome: 'reversed-with-leftovers' } });
  const why = expect.stringMatching(/^assigned by this saga/) as string;
  expect(failure?.report.leftovers).toEqual([{ kind: 'firewalls', vmObjectId, firewalls: [143], why }]);
  expect(firewallsNow(vmObjectId)).toEqual([1, 143]);
});

it('what a run has changed stays, and is told, where another run has begun since and may rely on it', async () => {
  const request = requestFor([1], { assign: [143], unassign: [1] });
  const { vmObjectId, reference } = request;
  fault(vmObjectId, 'unassign-firewalls', { kind: 'unauthorized', nth: 1 });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  const key = { workflow: 'setFirewalls', reference } as const;
  await rig.withJournal((journal) => journal.begin(key, { run: 'another', isReset: true }));
  await saga.cancel();
  const { cancelled } = await outcomeOf(saga);
  expect(cancelled?.leftovers).toMatchObject([{ kind: 'firewalls', vmObjectId, firewalls: [143] }]);
  expect(firewallsNow(vmObjectId)).toEqual([1, 143]);
});

describe('where nobody has declared which of those that are listed are active', () => {
  beforeAll(() => rig.restartWith({ profile: { ...sandboxProfile, firewalls: undefined } }));

  it('an exchange asks once, naming the line of the profile, and both sets stay until then', async () => {
    const request = requestFor([1], { exactly: [2] });
    const saga = await rig.sagas.firewalls(request);
    const { question } = await untilWaiting(saga, 'stuck');
    expect(question).toContain('`firewalls.activeIf` of the provider’s profile');
    expect(firewallsNow(request.vmObjectId)).toEqual([1, 2]);
    await answer(saga, 'markDone', { note: 'the panel shows it as active' });
    expect(await saga.result()).toMatchObject({ outcome: 'done', firewalls: [2], verified: false });
  });

  it('an undo of an exchange asks, too, before it unassigns what has replaced another', async () => {
    const request = requestFor([1], { exactly: [2] });
    const { vmObjectId } = request;
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    const gate = fault(vmObjectId, 'unassign-firewalls', { kind: 'gate', hold: 'after' });
    await answer(saga, 'markDone', { note: 'the panel shows it as active' });
    await rig.sandbox.whenStruck(gate);
    await saga.cancel();
    rig.sandbox.faults.release(gate);
    expect((await untilWaiting(saga, 'stuck')).question).toMatch(/^Undoing: .*`firewalls.activeIf`/);
    expect(firewallsNow(vmObjectId)).toEqual([2, 1]);
    await answer(saga, 'markDone', { note: 'the panel shows 1 as active' });
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed' });
    expect(firewallsNow(vmObjectId)).toEqual([1]);
  });

  it('a firewall that is listed does not make a new server protected', async () => {
    const result = await (await rig.sagas.provision(provisionRequest({ firewalls: [143] }))).result();
    expect(result).toMatchObject({
      servers: [{ verified: false }],
      leftovers: [{ kind: 'server-unverified', firewalls: [143] }],
    });
  });
});
