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
import { type Rig, rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, stepOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const untilQueued = (saga: SagaHandle, before?: number): Promise<ProgressView['queued'] & object> =>
  until(async () => {
    const { queued, state } = await progressOf(saga);
    return queued !== undefined && state === 'queued' && (before === undefined || queued.before === before)
      ? queued
      : undefined;
  });
const runOf = ({ workflowId }: SagaHandle) => rig.runOf({ workflowId });

/** A server with these firewalls, and requests about it. */
function serverWith(firewalls: number[]) {
  const { vmObjectId } = firewallsRequest();
  rig.sandbox.addServer({ vmObjectId, firewalls });
  const start = (changes: object) =>
    rig.sagas.firewalls(firewallsRequest({ assign: undefined, ...changes, vmObjectId }));
  return { vmObjectId, start };
}
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
  const moments = firewallMoments(rig.sandbox.ledger, vmObjectId).map(({ firewalls }) => firewalls);
  expect(moments).toEqual([[1, 2], [1], [1, 2], [2]]);
});

it('a subscription has one change or switch at a time; who waits sends nothing, and is quoted when its turn has come', async () => {
  const { subscription_id, first } = await heldSubscription();
  const second = await rig.sagas.change(changeRequest({ subscription_id }));
  await untilQueued(second, 1);
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
  await rig.withJournal(async ({ db }) => expect(await turnsOf(db, `subscription ${subscription_id}`)).toEqual([]));
});

it('is found in the list as queued, and as no wait for a person', async () => {
  const { subscription_id, first } = await heldSubscription();
  const second = await rig.sagas.change(changeRequest({ subscription_id }));
  const { holder } = await untilQueued(second);
  expect(holder).toBe(first.workflowId);
  const idsOf = async (state: 'queued' | 'waiting' | 'running') => {
    const ids = new Map<string, Date | undefined>();
    for await (const row of rig.sagas.list({ state })) ids.set(row.workflowId, row.waitingSince);
    return ids;
  };
  const queued = await until(async () => {
    const ids = await idsOf('queued');
    return ids.has(second.workflowId) && ids;
  });
  expect(queued.get(second.workflowId)).toBeUndefined();
  const waiting = await idsOf('waiting');
  expect([waiting.has(first.workflowId), waiting.has(second.workflowId)]).toEqual([true, false]);
  expect((await idsOf('running')).has(second.workflowId)).toBe(false);
  expect((await progressOf(second)).waiting).toBeUndefined();
  await expect(answer(second, 'retry')).rejects.toThrow(/nothing waits for a decision now; the saga is queued/);
  await second.cancel();
  await first.cancel();
  await Promise.all([outcomeOf(first), outcomeOf(second)]);
});

function turnsOf(db: Parameters<Parameters<Rig['withJournal']>[0]>[0]['db'], resource: string) {
  return db.selectFrom('turn').selectAll().where('resource', '=', resource).execute();
}

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
  const { reference } = request;
  const turns = await rig.withJournal(({ db }) =>
    db.selectFrom('turn').selectAll().where('reference', '=', reference).execute(),
  );
  expect(turns).toEqual([]);
});

describe('behind a saga that ended without a word, and gives nothing back: the next one looks by itself', () => {
  /** Longer than the test waits for more than one look. */
  const inFlightMs = 30_000;
  const hasty = rigForFile({ clears: true, activities: { turnLookMs: 100, inFlightMs } });

  const remove = async ({ workflowId }: SagaHandle) => {
    const { namespace } = hasty.temporal.options;
    await hasty.temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  };
  const terminate = async ({ workflowId }: SagaHandle) => {
    await hasty.temporal.workflow.getHandle(workflowId).terminate('a test');
  };

  /** A server whose first saga stands at a call. */
  async function begin(endpoint: string, exactly: number[]) {
    const { vmObjectId } = firewallsRequest();
    hasty.sandbox.addServer({ vmObjectId, firewalls: [1, 2] });
    const gate = hasty.sandbox.faults.add({ endpoint, kind: 'gate', hold: 'before', match: { vmObjectId } } as never);
    const start = (changes: object) =>
      hasty.sagas.firewalls(firewallsRequest({ assign: undefined, ...changes, vmObjectId }));
    const first = await start({ exactly });
    await hasty.sandbox.whenStruck(gate);
    return { vmObjectId, gate, start, first };
  }

  const ends: [string, (saga: SagaHandle) => Promise<void>][] = [
    ['terminated', terminate],
    ['deleted', remove],
  ];
  it.each(ends)('goes on behind a saga that was %s', async (_, end) => {
    const { vmObjectId, gate, start, first } = await begin('list-firewalls', [1]);
    const second = await start({ exactly: [2] });
    await untilQueued(second, 1);
    await end(first);
    hasty.sandbox.faults.release(gate);
    await expect(second.result()).resolves.toMatchObject({ firewalls: [2] });
    expect(firewallsOf(hasty.sandbox.ledger, vmObjectId)).toEqual([2]);
  });

  it('not before it is known what became of its last call', async () => {
    const { vmObjectId, gate, start, first } = await begin('unassign-firewalls', [1]);
    const second = await start({ exactly: [2] });
    await untilQueued(second, 1);
    await terminate(first);
    const asked = async () =>
      (await resultsOf(hasty.temporal.workflow.getHandle(second.workflowId), 'takeTurn')).filter(
        (answer) => (answer as { how: string }).how === 'queued',
      ).length;
    const before = await asked();
    await until(async () => (await asked()) > before + 1);
    // It takes effect although nobody waits for it: firewall 2 goes.
    hasty.sandbox.faults.release(gate);
    await expect(second.result()).resolves.toMatchObject({ assigned: [2], unassigned: [1], firewalls: [2] });
    const moments = firewallMoments(hasty.sandbox.ledger, vmObjectId).map(({ firewalls }) => firewalls);
    expect(moments).toEqual([[1, 2], [1], [1, 2], [2]]);
  });
});
