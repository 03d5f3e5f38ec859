/**
 * Sweeps: what sagas have left is told, and cleaned up; what goes on is left alone; what cannot be looked at fails
 * loudly.
 */
import { callsTo } from '../../../sandbox/sentences';
import type { SagaHandle } from '../../../src/client/handle';
import type { Finding, ReconcileOptions, SweepReport } from '../../../src/domain/reconcile';
import { orderThat } from '../../support/orders';
import { changeRequest, planIdOf } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { emptyJournal, sweepIn } from '../../support/sweeps';
import { deleteRun, terminate } from '../../support/web-ui';

// A journal that is emptied after each test has no row of what took effect.
const rig = rigForFile({ clears: true, compares: false, onPostgres: true });
afterEach(() => emptyJournal(rig));

async function sweep(options: ReconcileOptions = {}): Promise<SweepReport> {
  const report = await sweepIn(rig, options);
  // Items are added side by side.
  for (const finding of report.findings) if (finding.kind === 'cart-items') finding.cartItemIds.sort();
  return report;
}

const openItemsOf = (reference: string) =>
  rig
    .openItems({ reference })
    .map(({ cartItemId }) => cartItemId)
    .sort();
const cleanUpOf = (reference: string) => rig.latest('cleanCart', { reference });
const of = (report: SweepReport, { workflowId }: Pick<SagaHandle, 'workflowId'>) =>
  report.findings.filter((finding) => 'saga' in finding && finding.saga === workflowId);

/** It waits at its order, with two items in the cart. */
async function waiting(kind: 'unauthorized' | 'reset-before' = 'unauthorized') {
  const { saga } = await orderThat(rig, { endpoint: 'place-order', kind }, { items: [{}, {}] });
  await untilWaiting(saga);
  return saga;
}

it('empties the cart of one that is terminated, and no other', async () => {
  const [lost, running] = [await waiting(), await waiting()];
  const [left, kept] = [openItemsOf(lost.reference), openItemsOf(running.reference)];
  await terminate(rig.temporal, lost);

  const report = await sweep();
  expect(of(report, lost)).toEqual([
    { kind: 'lost', saga: lost.workflowId, how: 'terminated' },
    { kind: 'cart-items', saga: lost.workflowId, cartItemIds: left, cleanUp: 'started' },
  ] satisfies Finding[]);
  expect(report).toMatchObject({ outcome: 'found', counts: { lost: 1, 'cart-items': 1 } });
  expect(of(report, running)).toEqual([]);
  expect((await cleanUpOf(lost.reference).result()).deleted.sort()).toEqual(left);
  expect(openItemsOf(lost.reference)).toEqual([]);
  expect(openItemsOf(running.reference)).toEqual(kept);

  rig.sandbox.faults.clear();
  await answer(running, 'retry');
  expect((await running.result()).outcome).toBe('done');
  expect((await sweep()).outcome).toBe('clean');
});

it('cleans up once after a saga that has ended and left items, and then leaves it to whoever left them', async () => {
  const saga = await waiting();
  const { reference } = saga;
  const match = { planId: planIdOf(reference) };
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', times: 'all', match });
  await saga.cancel();
  const leave = async (one: SagaHandle) => {
    for (;;) {
      const ended = await Promise.race([outcomeOf(one), untilWaiting(one, 'stuck').catch(() => undefined)]);
      if (ended === undefined || !('choices' in ended)) return;
      await one.decide('skip', { question: ended.id, by: 'op', note: 'it may stay' }).catch(() => undefined);
    }
  };
  await leave(saga);
  const left = openItemsOf(reference);
  expect(left).toHaveLength(2);

  const finding = { kind: 'cart-items', saga: saga.workflowId, cartItemIds: left };
  expect((await sweep()).findings).toEqual([{ ...finding, cleanUp: 'started' }]);
  await untilWaiting(cleanUpOf(reference));
  expect((await sweep()).findings).toEqual([{ ...finding, cleanUp: 'running' }]);
  await leave(cleanUpOf(reference));
  const before = (await rig.runOf(cleanUpOf(reference)).describe()).runId;
  expect((await sweep()).findings).toEqual([{ ...finding, cleanUp: 'ended-before' }]);
  expect((await rig.runOf(cleanUpOf(reference)).describe()).runId).toBe(before);
});

it('asks about a lost order of unknown outcome, and places nothing', async () => {
  const saga = await waiting('reset-before');
  await terminate(rig.temporal, saga);
  const sent = callsTo(rig.sandbox.ledger, 'place-order').length;
  rig.sandbox.faults.clear();
  const unknown = { kind: 'placement-unknown', saga: saga.workflowId };
  expect(of(await sweep(), saga)).toEqual([
    { kind: 'lost', saga: saga.workflowId, how: 'terminated' },
    { ...unknown, cleanUp: 'started' },
  ]);
  const asking = cleanUpOf(saga.reference);
  await untilWaiting(asking, 'outcome-unknown');
  expect(of(await sweep(), saga)).toContainEqual({ ...unknown, cleanUp: 'running' });
  // A person who ends a clean-up before it has settled anything is asked again.
  await asking.cancel();
  await outcomeOf(asking);
  expect(of(await sweep(), saga)).toContainEqual({ ...unknown, cleanUp: 'started' });
  await untilWaiting(asking, 'outcome-unknown');
  await answer(asking, 'confirmNotPlaced', { note: 'looked' });
  await asking.result();
  expect(openItemsOf(saga.reference)).toEqual([]);
  expect(callsTo(rig.sandbox.ledger, 'place-order')).toHaveLength(sent);
  expect((await sweep()).findings).toEqual([]);
});

it('starts no change again whose outcome is unknown, and tells of it', async () => {
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-after' });
  const saga = await rig.sagas.change(changeRequest());
  await untilWaiting(saga, 'outcome-unknown');
  await terminate(rig.temporal, saga);
  await deleteRun(rig.temporal, saga);
  const sent = rig.sandbox.ledger.calls.length;
  expect((await sweep()).findings).toEqual([
    { kind: 'lost', saga: saga.workflowId, how: 'gone' },
    { kind: 'placement-unknown', saga: saga.workflowId, cleanUp: 'not-asked' },
  ] satisfies Finding[]);
  expect(rig.sandbox.ledger.calls).toHaveLength(sent);
});

it('fails where the journal is an older copy, whatever it has found', async () => {
  const saga = await waiting();
  await terminate(rig.temporal, saga);
  const restored = (ms: number | null) =>
    rig.withJournal(({ db }) => db.updateTable('journal').set({ restored_ms: ms }).execute());
  await restored(Date.now());
  expect(await sweep()).toMatchObject({
    outcome: 'could-not-look',
    unseen: [{ what: 'the sagas without an ending', failure: 'JournalRestored' }],
    looked: { servers: 0 },
  });
  expect(openItemsOf(saga.reference)).toHaveLength(2);
  const failed = await rig
    .runOf({ workflowId: 'reconcile' })
    .result()
    .catch((error: unknown) => error);
  expect(failed).toMatchObject({
    cause: { type: 'CouldNotLook', message: expect.stringMatching(/^could not look at the sagas without/) as string },
  });
  expect((await rig.runOf({ workflowId: 'reconcile' }).describe()).status.name).toBe('FAILED');
  await restored(null);
});
