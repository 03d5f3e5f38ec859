/**
 * A list of firewalls that is not what is there: it lags, as one that is read from a replica does; a call that was given
 * up takes effect late; an assignment has failed. What waits for what, and whose a firewall is:
 * test/integration/journal/contract/firewalls.ts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultSpec } from '../../../sandbox/faults';
import { callsTo, firewallsOf } from '../../../sandbox/sentences';
import { isOutcome } from '../../../src/domain/outcomes';
import { requestAtServer } from '../../support/orders';
import { rigSettings } from '../../support/activity-settings';
import { panelOf } from '../../support/panel';
import { firewallsRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

/** Looks again for longer than a list lags here. */
const read = { attemptsMax: 10, backoffMs: 200, backoffMaxMs: 400, totalMs: 60_000 };
const rig = rigForFile({ clears: true, activities: { retries: { ...rigSettings.retries, read } } });

it.each(['error', 'failed', 'detaching'])('a firewall that is listed as “%s” is assigned', async (status) => {
  // Until then the list has the assignment that failed, or a firewall that is being taken off.
  const shown = (ids: number[]) => [{ id: 1 }, { id: 9, status: ids.includes(9) ? 'active' : status }];
  rig.sandbox.configure({ firewallListResponse: shown });
  const request = requestAtServer(rig, [1], { assign: [9] });
  const { vmObjectId } = request;
  await (await rig.sagas.firewalls(request)).result();
  const assigned = callsTo(rig.sandbox.ledger, 'assign-firewalls').filter(({ names }) =>
    names.vmObjectId?.includes(vmObjectId),
  );
  expect({ calls: assigned.length, now: firewallsOf(rig.sandbox.ledger, vmObjectId) }).toEqual({
    calls: 1,
    now: [1, 9],
  });
});

describe('a list that lags: what a row of a moment ago says counts more', () => {
  const shortLagMs = 800;
  let lagMs = shortLagMs;
  let server = 0;
  let shown: { at: number; list: number[] }[] = [];
  let watch: NodeJS.Timeout;

  const now = () => firewallsOf(rig.sandbox.ledger, server);
  const replica = () => (shown.findLast(({ at }) => at <= Date.now() - lagMs) ?? shown[0])?.list ?? [];

  beforeAll(() => {
    watch = setInterval(() => {
      const list = server === 0 ? [] : now();
      if (JSON.stringify(shown.at(-1)?.list) !== JSON.stringify(list)) shown.push({ at: Date.now(), list });
    }, 5);
  });
  afterEach(() => {
    lagMs = shortLagMs;
  });
  afterAll(() => {
    clearInterval(watch);
  });

  const spoil = (endpoint: FaultSpec['endpoint'], changes: Omit<FaultSpec, 'endpoint' | 'match'>) =>
    rig.sandbox.faults.add({ endpoint, match: { vmObjectId: server }, ...changes });

  async function onServerWith(firewalls: number[], changes: object) {
    const request = requestAtServer(rig, firewalls, changes);
    rig.sandbox.configure({ firewallListResponse: replica });
    shown = [];
    server = request.vmObjectId;
    // The replica has seen the server.
    await until(async () => shown[0]?.list.length === firewalls.length);
    return request;
  }

  /** A saga wanted exactly [2], and was cancelled while it unassigned [1]. The next one wants exactly [2], too. */
  async function nextAfterAnUndo(slowMs: number) {
    const first = await onServerWith([1], { exactly: [2] });
    const gate = spoil('unassign-firewalls', { kind: 'gate', hold: 'after', nth: 1 });
    const slow = spoil('unassign-firewalls', { kind: 'gate', hold: 'before', nth: 2 });
    const saga = await rig.sagas.firewalls(first);
    await rig.sandbox.whenStruck(gate);
    await pause(lagMs + 300);
    await saga.cancel();
    rig.sandbox.faults.release(gate);
    await rig.sandbox.whenStruck(slow);
    await pause(slowMs);
    rig.sandbox.faults.release(slow);
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
    expect(now()).toEqual([1]);
    return rig.sagas.firewalls({ ...firewallsRequest({ assign: undefined, exactly: [2] }), vmObjectId: server });
  }

  it.each([0, lagMs + 300])(
    'the first list of a saga, after an undo of which the last call took %i ms',
    async (slowMs) => {
      const { result } = await outcomeOf(await nextAfterAnUndo(slowMs));
      expect(result).toMatchObject({ outcome: 'done', verified: true, firewalls: [2] });
      expect(now()).toEqual([2]);
    },
  );

  it('the list before an undo: what was assigned is unassigned again', async () => {
    const request = await onServerWith([9], { assign: [1], unassign: [9] });
    spoil('unassign-firewalls', { kind: 'refuse-before', nth: 1 });
    const { failure } = await outcomeOf(await rig.sagas.firewalls(request));
    expect(failure?.report).toMatchObject({ outcome: 'reversed', leftovers: [] });
    expect(now()).toEqual([9]);
  });

  it.each(['error-before', 'reset-before'] as const)(
    'an undo, of which the first call came to “%s”: its second one does not take the list’s word for it',
    async (kind) => {
      // It shows [9] all the time, as it was before the saga unassigned it.
      lagMs = 8_000;
      const request = await onServerWith([1, 9], { unassign: [9] });
      const gate = spoil('unassign-firewalls', { kind: 'gate', hold: 'after', nth: 1 });
      spoil('assign-firewalls', { kind, nth: 1 });
      const saga = await rig.sagas.firewalls(request);
      await rig.sandbox.whenStruck(gate);
      await saga.cancel();
      rig.sandbox.faults.release(gate);
      // It is there again; else the report would have to say that it is not.
      expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
      expect([...now()].sort()).toEqual([1, 9]);
    },
  );
});

describe('what takes effect late is not lost by an undo', () => {
  const rig = rigForFile({
    ...{ activities: { inFlightMs: 5_000 }, provider: { totalTimeoutMs: 1_500 } },
    ...{ compares: false, clears: true },
  });

  it('an assignment of which the answer was lost is taken back, also while the list does not show it', async () => {
    const request = requestAtServer(rig, [1], { assign: [143] });
    const { vmObjectId } = request;
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
    const request = requestAtServer(rig, [1, 150], { unassign: [150] });
    const match = { vmObjectId: request.vmObjectId };
    const endpoint = 'unassign-firewalls';
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

  it('an exact set is not verified while the list shows a firewall of somebody else', async () => {
    const request = requestAtServer(rig, [], { exactly: [150] });
    const { vmObjectId } = request;
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
});
