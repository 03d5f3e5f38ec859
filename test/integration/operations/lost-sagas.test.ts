/**
 * Sagas that will not end by themselves, in whichever way they were lost: counted, listed, and told what they have
 * left.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SagaHandle } from '../../../src/client/handle';
import { LostSagas, noneLost, type LostCounts } from '../../../src/operations/lost-sagas';
import { runHere } from '../../support/command-line';
import { stuckOrder } from '../../support/orders';
import { rigForFile, until } from '../../support/rig';
import { answer } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const none = noneLost();

/** As a worker looks that has not looked before. */
const look = () => rig.withJournal((journal) => new LostSagas(rig.temporal, journal).look());
/** Visibility may show as running what was ended a moment ago. */
const untilLost = (lost: Partial<LostCounts>) =>
  until(async () => isDeepStrictEqual(await look(), { ...none, ...lost }));
const run = ({ workflowId }: SagaHandle) => rig.runOf({ workflowId });
const cli = (...args: string[]) =>
  runHere(args, '', { TEMPORAL_ADDRESS: rig.address, TEMPORAL_NAMESPACE: rig.namespace, JOURNAL_URL: rig.journalUrl });

it('those of another namespace are neither counted nor worked on: a journal is of one', async () => {
  const moved = `the journal is that of namespace elsewhere, not of ${rig.namespace}: set TEMPORAL_NAMESPACE to it`;
  const move = (namespace: string) =>
    rig.withJournal((journal) => journal.db.updateTable('journal').set({ namespace }).execute());
  await move('elsewhere');
  await expect(rig.startWorker()).rejects.toThrow(moved);
  expect(await cli('journal', 'lost')).toMatchObject({ status: 2, err: expect.stringContaining(moved) as string });
  await move(rig.namespace);
});

it('one that was terminated is, until it is cleaned up', async () => {
  // It waits with an item in the cart.
  const { saga } = await stuckOrder(rig);
  await run(saga).terminate('a test');
  await untilLost({ terminated: 1 });

  const told = await cli('journal', 'lost');
  expect(told.status).toBe(4);
  expect(told.out).toContain(`${saga.workflowId}  terminated, begun on `);
  expect(told.out).toContain(`order-saga clean ${saga.reference}`);
  expect((await cli('status', saga.workflowId)).out).toContain('was lost (terminated): a test. It left no report');
  const record = JSON.parse((await cli('record', saga.workflowId, '--json')).out) as { leftovers: unknown[] };
  expect(record.leftovers).toEqual([{ kind: 'cart-item', cartItemId: expect.any(Number), why: expect.any(String) }]);
  await until(async () => (await cli('list', '--state', 'lost')).out.includes(saga.workflowId));
  expect((await cli('list', '--state', 'lost')).err).toContain('order-saga journal lost');

  await (await rig.sagas.clean(saga.reference)).result();
  expect(await look()).toEqual(none);
  const lost = await cli('journal', 'lost');
  expect(lost).toMatchObject({ status: 0, out: expect.stringMatching(/^no saga of/) as string });
});

it.each([
  ['ReferenceTaken', { label: 'something else' }],
  ['InvalidRequest', { account: 'nonsense' }],
])('one is hidden by no other run under its id that was refused as %s', async (type, changed) => {
  const { request, saga } = await stuckOrder(rig);
  await run(saga).terminate('a test');
  const options = { workflowId: saga.workflowId, taskQueue: 'order-saga', args: [{ ...request, ...changed }] };
  const refused = await rig.temporal.workflow.start('provisionServers', options);
  const cause = { type, details: [{ outcome: 'untouched' }] };
  await expect(refused.result()).rejects.toMatchObject({ cause });
  await until(async () => (await cli('list', '--state', 'untouched')).out.includes(saga.workflowId));
  await untilLost({ terminated: 1 });
  expect((await cli('list', '--state', 'lost')).out).toContain(saga.workflowId);
  expect((await cli('list', '--state', 'reversed')).out).not.toContain(saga.workflowId);
  const told = await cli('status', saga.workflowId);
  expect(told.status).toBe(1);
  expect(told.out).toContain(
    'untouched: this run did nothing. order-saga record shows what other runs of the reference did',
  );

  // The same request goes on where the lost one was.
  const again = await rig.sagas.provision(request);
  await answer(again, 'retry').catch(() => undefined);
  expect((await again.result()).outcome).toBe('done');
  expect(await look()).toEqual(none);
});
