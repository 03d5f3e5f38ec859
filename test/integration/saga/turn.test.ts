/**
 * One saga at a time for a server and for a subscription. The next one is told, and does not look by itself within a
 * test's time.
 */
import Database from 'libsql';
import { changeOrdersOf, firewallMoments, firewallsOf, switchesOf } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { ProgressView } from '../../../src/domain/progress';
import { activitiesOf, resultsOf, statesOf } from '../../support/events';
import { changeRequest, firewallsRequest, switchRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, stepOf, untilWaiting } from '../../support/sagas';
import { deleteRun, terminate } from '../../support/web-ui';
import { idsListed, listOf } from '../../support/listed';

const rig = rigForFile({ clears: true });

const untilQueued = (saga: SagaHandle, before?: number): Promise<ProgressView['queued'] & object> =>
  until(async () => {
    const { queued, state } = await progressOf(saga);
    return queued !== undefined && state === 'queued' && (before === undefined || queued.before === before)
      ? queued
      : undefined;
  });
const runOf = ({ workflowId }: SagaHandle) => rig.runOf({ workflowId });

const turnsOf = (reference: string) =>
  rig.withJournal(({ db }) => db.selectFrom('turn').selectAll().where('reference', '=', reference).execute());

/** A server with these firewalls, and requests about it. */
function serverWith(firewalls: number[]) {
  const { vmObjectId } = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId, firewalls });
  const start = (changes: object) =>
    rig.sagas.firewalls(firewallsRequest({ assign: undefined, ...changes, vmObjectId }));
  return { vmObjectId, start };
}
const momentsOf = (vmObjectId: number) =>
  firewallMoments(rig.sandbox.ledger, vmObjectId).map(({ firewalls }) => firewalls);
const gateAt = (endpoint: string, match: object) =>
  rig.sandbox.faults.add({ endpoint, match, kind: 'gate', hold: 'before' } as never);

/** A change order that waits for an approval, and what is queued behind it. */
async function heldSubscription() {
  const request = changeRequest({ approval: 'always' });
  const { subscription_id } = request;
  const first = await rig.sagas.change(request);
  await untilWaiting(first, 'approval');
  return { subscription_id, first };
}

it('two exact sets of firewalls side by side: the server never has fewer than one of them', async () => {
  const { vmObjectId, start } = serverWith([1, 2]);
  const gate = gateAt('unassign-firewalls', { vmObjectId });
  const first = await start({ exactly: [1] });
  await rig.sandbox.whenStruck(gate);
  const second = await start({ exactly: [2] });
  const queued = await until(async () => {
    const { queued, state } = await progressOf(second);
    // Without a queue it would end beside the first one.
    return queued ?? (state === 'done' && { resource: 'none' });
  });
  expect(queued).toMatchObject({ resource: `server ${vmObjectId}`, before: 1, holder: first.workflowId });
  rig.sandbox.faults.release(gate);
  await expect(first.result()).resolves.toMatchObject({ firewalls: [1], verified: true });
  await expect(second.result()).resolves.toMatchObject({ assigned: [2], firewalls: [2], verified: true });
  expect(momentsOf(vmObjectId)).toEqual([[1, 2], [1], [1, 2], [2]]);
});

it('a subscription has one change or switch at a time, and the next is quoted in its own turn', async () => {
  const { subscription_id, first } = await heldSubscription();
  const second = await rig.sagas.change(changeRequest({ subscription_id }));
  expect(await untilQueued(second, 1)).toMatchObject({ holder: first.workflowId, holderWaits: 'approval' });
  const third = await rig.sagas.switch(switchRequest({ subscription_id }));
  await untilQueued(third, 2);
  for (const saga of [second, third]) expect(await activitiesOf(runOf(saga))).toHaveLength(1);

  await answer(first, 'approve');
  await Promise.all([first, second, third].map((saga) => saga.result()));
  const { ledger } = rig.sandbox;
  expect(changeOrdersOf(ledger, subscription_id)).toHaveLength(2);
  expect(switchesOf(ledger, subscription_id)).toHaveLength(1);
  expect(await statesOf(runOf(second))).toEqual(['queued', 'running', 'done']);
  const { status, detail } = (await stepOf(second, 'take-turn'))!;
  expect({ status, detail }).toEqual({
    status: 'done',
    detail: expect.stringMatching(/^was queued from [-\d]+ [:\d]+ UTC to [-\d]+ [:\d]+ UTC$/),
  });
  for (const { reference } of [first, second, third]) expect(await turnsOf(reference)).toEqual([]);
});

it('is found in the list as queued, and as no wait for a person', async () => {
  const { subscription_id, first } = await heldSubscription();
  const second = await rig.sagas.change(changeRequest({ subscription_id }));
  const { holder } = await untilQueued(second);
  expect(holder).toBe(first.workflowId);
  const queued = await until(async () =>
    (await listOf(rig.sagas.list({ state: 'queued' }))).find(({ workflowId }) => workflowId === second.workflowId),
  );
  expect(queued.waitingSince).toBeUndefined();
  const waiting = await idsListed(rig.sagas, { state: 'waiting' });
  expect([first, second].map(({ workflowId }) => waiting.includes(workflowId))).toEqual([true, false]);
  expect(await idsListed(rig.sagas, { state: 'running' })).not.toContain(second.workflowId);
  expect((await progressOf(second)).waiting).toBeUndefined();
  await expect(answer(second, 'retry')).rejects.toThrow(/nothing waits for a decision now; the saga is queued/);
  await second.cancel();
  await first.cancel();
  await Promise.all([outcomeOf(first), outcomeOf(second)]);
});

/** As Temporal says of an activity that a worker has. */
const started = 2;

it('a saga that is cancelled while its place is being written down gives it back', async () => {
  const request = changeRequest();
  const { file } = rig.journalAddress as { file: string };
  const database = new Database(file, { timeout: 10_000 });
  database.exec('begin immediate');
  let saga: SagaHandle;
  try {
    saga = await rig.sagas.change(request);
    const run = runOf(saga);
    await until(async () =>
      (await run.describe()).raw.pendingActivities?.some(({ state }) => Number(state) === started),
    );
    await saga.cancel();
    await until(async () => {
      const { events } = await run.fetchHistory();
      return events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes);
    });
  } finally {
    database.exec('rollback');
    database.close();
  }
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  expect(await turnsOf(request.reference)).toEqual([]);
});

describe('behind a saga that ended without a word, and gives nothing back: the next one looks by itself', () => {
  // A call is in flight for longer than the test waits for more than one look.
  beforeAll(() => rig.restartWith({ turnLookMs: 100, inFlightMs: 30_000 }));

  /** A server whose first saga stands at a call, and the next one behind it. */
  async function queueAt(endpoint: string) {
    const { vmObjectId, start } = serverWith([1, 2]);
    const gate = gateAt(endpoint, { vmObjectId });
    const first = await start({ exactly: [1] });
    await rig.sandbox.whenStruck(gate);
    const second = await start({ exactly: [2] });
    await untilQueued(second, 1);
    return { vmObjectId, gate, first, second };
  }

  it.each([
    ['terminated', terminate],
    ['deleted', deleteRun],
  ])('goes on behind a saga that was %s', async (_, end) => {
    const { vmObjectId, gate, first, second } = await queueAt('list-firewalls');
    await end(rig.temporal, first);
    rig.sandbox.faults.release(gate);
    await expect(second.result()).resolves.toMatchObject({ firewalls: [2] });
    expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([2]);
  });

  it('not before it is known what became of its last call', async () => {
    const { vmObjectId, gate, first, second } = await queueAt('unassign-firewalls');
    await terminate(rig.temporal, first);
    const asked = async () =>
      (await resultsOf(runOf(second), 'takeTurn')).filter((answer) => (answer as { how: string }).how === 'queued')
        .length;
    const before = await asked();
    await until(async () => (await asked()) > before + 1);
    // It takes effect although nobody waits for it: firewall 2 goes.
    rig.sandbox.faults.release(gate);
    await expect(second.result()).resolves.toMatchObject({ assigned: [2], unassigned: [1], firewalls: [2] });
    expect(momentsOf(vmObjectId)).toEqual([[1, 2], [1], [1, 2], [2]]);
  });
});
