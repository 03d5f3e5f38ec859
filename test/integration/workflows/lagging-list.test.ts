/**
 * A list of firewalls that lags, as one that is read from a replica does: what a row of a moment ago says counts more.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultSpec } from '../../../sandbox/faults';
import { firewallsOf } from '../../../sandbox/sentences';
import { firewallsRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { outcomeOf } from '../../support/sagas';

const shortLagMs = 800;
let lagMs = shortLagMs;
const rig = rigForFile({ sandbox: { firewallListResponse: () => replica() }, clears: true });
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
  const request = firewallsRequest({ assign: undefined, ...changes });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls });
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
