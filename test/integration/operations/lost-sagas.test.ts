/**
 * Sagas that will not end by themselves, in whichever way they were lost: counted, listed, and told what they have
 * left.
 */
import { isDeepStrictEqual } from 'node:util';
import { SagaHandle } from '../../../src/client/handle';
import { LostSagas, noneLost, type LostCounts } from '../../../src/operations/lost-sagas';
import { JournalUnavailable } from '../../../src/journal/errors';
import { Journal } from '../../../src/journal/journal';
import { rigSettings } from '../../support/activity-settings';
import { runHere } from '../../support/command-line';
import { deleteRun } from '../../support/delete-run';
import { describeInWays, itInWays } from '../../support/left-out';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { resetTo, taskBefore, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const none = noneLost();

/** As a worker looks that has not looked before. */
const look = () => rig.withJournal((journal) => new LostSagas(rig.temporal, journal).look());
/** Visibility may show as running what was ended a moment ago. */
const untilLost = (lost: Partial<LostCounts>) =>
  until(async () => isDeepStrictEqual(await look(), { ...none, ...lost }));
const run = ({ workflowId }: SagaHandle) => rig.temporal.workflow.getHandle(workflowId);
const cli = (...args: string[]) =>
  runHere(args, '', { TEMPORAL_ADDRESS: rig.address, TEMPORAL_NAMESPACE: rig.namespace, JOURNAL_URL: rig.journalUrl });

/** It waits with an item in the cart. */
async function waiting(request = provisionRequest()): Promise<SagaHandle> {
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  return saga;
}

it('one that waits is not lost, nor is one that has ended', async () => {
  const saga = await waiting();
  await (await rig.sagas.change(changeRequest())).result();
  expect(await look()).toEqual(none);
  await saga.cancel();
  await outcomeOf(saga);
  expect(await look()).toEqual(none);
  expect(await cli('journal', 'lost')).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^no saga of/) as string,
  });
});

it('one that was terminated is, until it is cleaned up', async () => {
  const saga = await waiting();
  await run(saga).terminate('a test');
  await untilLost({ terminated: 1 });

  const told = await cli('journal', 'lost');
  expect(told.status).toBe(4);
  expect(told.out).toContain(`${saga.workflowId}  terminated, begun on `);
  expect(told.out).toContain(`order-saga clean ${saga.reference}`);
  const record = JSON.parse((await cli('record', saga.workflowId, '--json')).out) as { leftovers: unknown[] };
  expect(record.leftovers).toEqual([{ kind: 'cart-item', cartItemId: expect.any(Number), why: expect.any(String) }]);
  await until(async () => (await cli('list', '--state', 'lost')).out.includes(saga.workflowId));
  expect((await cli('list', '--state', 'lost')).err).toContain('order-saga journal lost');

  await (await rig.sagas.clean(saga.reference)).result();
  expect(await look()).toEqual(none);
});

itInWays('one that was terminated while a clean-up was refused is', async () => {
  const saga = await waiting();
  const { failure } = await outcomeOf(await rig.sagas.clean(saga.reference));
  expect(failure).toMatchObject({ type: 'InvalidRequest', report: { outcome: 'untouched' } });
  await run(saga).terminate('a test');
  await untilLost({ terminated: 1 });
});

itInWays('one whose clean-up was cancelled still is', async () => {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'outcome-unknown');
  await run(saga).terminate('a test');
  expect((await cli('journal', 'lost')).out).not.toContain('order-saga clean');
  const clean = await rig.sagas.clean(request.reference);
  await untilWaiting(clean, 'outcome-unknown');
  await clean.cancel();
  await outcomeOf(clean);
  await untilLost({ terminated: 1 });
});

itInWays('one whose servers are open still is after a clean-up, until it was reset', async () => {
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  await run(saga).terminate('a test');
  expect((await cli('journal', 'lost')).out).not.toContain('order-saga clean');
  expect((await cli('clean', request.reference)).status).toBe(5);
  await untilLost({ terminated: 1 });

  const tasks = await workflowTasksOf(rig.temporal, saga);
  await resetTo(rig.temporal, saga, tasks.at(-1)!);
  await untilWaiting(saga);
  await answer(saga, 'retry');
  expect((await saga.result()).outcome).toBe('done');
  expect(await look()).toEqual(none);
});

describeInWays('one is hidden by no other run under its id', () => {
  const startAgain = async ({ workflowId }: SagaHandle, input: unknown, type = 'provisionServers') => {
    const options = { workflowId, taskQueue: 'order-saga', args: [input] };
    const other = await rig.temporal.workflow.start(type, options);
    return () => other.result().catch((error: unknown) => (error as { cause?: unknown }).cause);
  };

  it.each([
    ['ReferenceTaken', { label: 'something else' }],
    ['InvalidRequest', { account: 'nonsense' }],
  ])('that was refused as %s', async (type, changed) => {
    const request = provisionRequest();
    const saga = await waiting(request);
    await run(saga).terminate('a test');
    const refused = await startAgain(saga, { ...request, ...changed });
    expect(await refused()).toMatchObject({ type, details: [{ outcome: 'untouched' }] });
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

  it('that was cancelled before it had the reference', async () => {
    const request = firewallsRequest();
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    await run(saga).terminate('a test');
    const take = jest.spyOn(Journal.prototype, 'take').mockRejectedValue(new JournalUnavailable('a test'));
    const ended = await startAgain(saga, request, 'setFirewalls');
    await until(() => Promise.resolve(take.mock.calls.length > 0));
    await run(saga).cancel();
    await ended();
    take.mockRestore();
    expect((await run(saga).describe()).memo).toMatchObject({ report: { outcome: 'untouched' } });
    await until(async () => (await cli('list', '--state', 'untouched')).out.includes(saga.workflowId));
    await untilLost({ terminated: 1 });
  });

  it('that is of another type', async () => {
    const saga = await waiting();
    await run(saga).terminate('a test');
    await until(async () => (await cli('list', '--state', 'lost')).out.includes(saga.workflowId));
    await startAgain(saga, { by: 'ada', note: 'a wrong id' }, 'hold');
    await untilLost({ terminated: 1 });
    expect((await cli('list', '--state', 'lost')).out).toContain(saga.workflowId);
  });
});

/** The last run of it, whichever that is. */
const lastRunOf = ({ workflow, reference }: SagaHandle) => new SagaHandle(rig.temporal, workflow, reference, '', true);

async function startAnew({ workflowId }: SagaHandle, request: object): Promise<void> {
  const options = { workflowId, taskQueue: 'order-saga', args: [request] };
  await rig.temporal.workflow.start('provisionServers', options);
}

itInWays.each(['started anew', 'reset to its first task'])(
  'one whose servers are open, and that was %s and cancelled at once, tells of them',
  async (how) => {
    const request = provisionRequest({ firewalls: [143] });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'stuck');
    await run(saga).terminate('a test');
    await untilLost({ terminated: 1 });

    const take = jest.spyOn(Journal.prototype, 'take').mockRejectedValue(new JournalUnavailable('a test'));
    if (how === 'started anew') await startAnew(saga, request);
    else await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[0]!);
    await until(() => Promise.resolve(take.mock.calls.length > 0));
    await run(saga).cancel();
    const { cancelled } = await outcomeOf(lastRunOf(saga));
    take.mockRestore();
    const why = 'the saga ended: they were not assigned';
    expect(cancelled).toMatchObject({
      outcome: 'partly',
      leftovers: [{ kind: 'server-unprotected', vmObjectId: expect.any(Number), firewalls: [143], why }],
    });
    expect(await look()).toEqual(none);
  },
);

itInWays('one that had ended, and was reset, is where it was terminated then', async () => {
  const request = provisionRequest({ firewalls: [143] });
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  expect((await outcomeOf(saga)).failure?.type).toBe('OrderRejected');
  expect(await look()).toEqual(none);
  await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, saga, 'placeOrder'));
  expect((await untilWaiting(lastRunOf(saga), 'stuck')).step).toMatch(/^assign-/);
  await run(saga).terminate('a test');
  await untilLost({ terminated: 1 });
});

itInWays(
  'one that was reset is where it was terminated then, although the ending of the run before was written late',
  async () => {
    const request = provisionRequest({ firewalls: [143] });
    const match = { planId: planIdOf(request.reference) };
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const works = Journal.prototype.ended;
    let late: Promise<unknown> | undefined;
    const ended = jest.spyOn(Journal.prototype, 'ended').mockImplementationOnce(function (this: Journal, ...args) {
      const writing = held.then(() => works.apply(this, args));
      late = writing;
      return writing;
    });
    const saga = await rig.sagas.provision(request);
    await until(() => Promise.resolve(late !== undefined));
    await resetTo(rig.temporal, saga, await taskBefore(rig.temporal, { workflowId: saga.workflowId }, 'placeOrder'));
    expect((await untilWaiting(lastRunOf(saga), 'stuck')).step).toMatch(/^assign-/);
    goOn();
    await late;
    ended.mockRestore();
    await run(saga).terminate('a test');
    await untilLost({ terminated: 1 });
    const record = JSON.parse((await cli('record', saga.workflowId, '--json')).out) as { leftovers: unknown[] };
    expect(record).toMatchObject({ state: 'open', placement: 'placed' });
    expect(record.leftovers).toContainEqual(expect.objectContaining({ kind: 'server-unprotected', firewalls: [143] }));
  },
);

describeInWays('one that was started anew while a clean-up of it waited is, once it was terminated again', () => {
  /** @returns a clean-up that waits with an item to delete, until the saga is `away` again */
  async function cleaning(request: ReturnType<typeof provisionRequest>) {
    const saga = await waiting(request);
    await run(saga).terminate('a test');
    const match = { planId: planIdOf(request.reference) };
    const refusal = rig.sandbox.faults.add({ endpoint: 'delete-cart-item', kind: 'unauthorized', match, times: 'all' });
    const clean = await rig.sagas.clean(request.reference);
    await untilWaiting(clean, 'stuck');
    const goOn = async () => {
      rig.sandbox.faults.lift(refusal);
      await answer(clean, 'retry');
      return clean.result();
    };
    return { saga, goOn };
  }

  it.each(['after', 'before'])('%s the clean-up', async (when) => {
    const request = provisionRequest({ firewalls: [143] });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const { saga, goOn } = await cleaning(request);
    await startAnew(saga, request);
    expect((await untilWaiting(lastRunOf(saga), 'stuck')).step).toMatch(/^assign-/);
    if (when === 'before') await run(saga).terminate('a test');
    const open = { kind: 'server-unprotected', vmObjectId: expect.any(Number) as number, firewalls: [143] };
    const item = { kind: 'cart-item', cartItemId: expect.any(Number) as number };
    expect(await goOn()).toMatchObject({ deleted: [], leftovers: when === 'before' ? [item, open] : [item] });
    if (when === 'after') await run(saga).terminate('a test');
    await untilLost({ terminated: 1 });
  });

  it('between its last look and its ending', async () => {
    const request = provisionRequest();
    const { saga, goOn } = await cleaning(request);
    const ended = jest.spyOn(Journal.prototype, 'ended').mockRejectedValue(new JournalUnavailable('a test'));
    const cleaned = goOn();
    await until(() => Promise.resolve(ended.mock.calls.length > 0));
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
    await startAnew(saga, request);
    await untilWaiting(lastRunOf(saga), 'stuck');
    ended.mockRestore();
    await cleaned;
    await run(saga).terminate('a test');
    await untilLost({ terminated: 1 });
  });
});

itInWays('one that was cancelled while it took its reference is not lost, and keeps no place in a queue', async () => {
  const request = firewallsRequest();
  let goOn = () => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const works = Journal.prototype.take;
  const take = jest.spyOn(Journal.prototype, 'take').mockImplementationOnce(async function (this: Journal, ...args) {
    const taken = await works.apply(this, args);
    await held;
    return taken;
  });
  const saga = await rig.sagas.firewalls(request);
  await until(() => Promise.resolve(take.mock.calls.length > 0));
  await run(saga).cancel();
  await until(async () => {
    const { events } = await run(saga).fetchHistory();
    return events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes);
  });
  goOn();
  expect((await outcomeOf(saga)).cancelled).toMatchObject({ outcome: 'reversed', leftovers: [] });
  take.mockRestore();
  expect(await look()).toEqual(none);
  expect(await rig.withJournal(({ db }) => db.selectFrom('turn').selectAll().execute())).toEqual([]);
});

itInWays('one that was terminated and reset goes on', async () => {
  const saga = await waiting();
  await run(saga).terminate('a test');
  const tasks = await workflowTasksOf(rig.temporal, saga);
  await resetTo(rig.temporal, saga, tasks.at(-1)!);
  await untilWaiting(saga);
  expect(await look()).toEqual(none);
  await answer(saga, 'retry');
  await saga.result();
  expect(await look()).toEqual(none);
});

it('one whose run was deleted is gone, until it is started again', async () => {
  const request = provisionRequest();
  const saga = await waiting(request);
  const first = await run(saga).describe();
  await deleteRun(rig.temporal, { workflowId: saga.workflowId, runId: first.runId });
  await untilLost({ gone: 1 });
  expect((await cli('journal', 'lost')).out).toContain('send the same request again');
  await (await rig.sagas.provision(request)).result();
  expect(await look()).toEqual(none);
});

describeInWays('one whose run was deleted, and whose next one was cancelled before it had the reference', () => {
  /** @returns the cancelled run */
  async function goneAndCancelled(request: ReturnType<typeof firewallsRequest>): Promise<SagaHandle<'setFirewalls'>> {
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized' });
    const saga = await rig.sagas.firewalls(request);
    await untilWaiting(saga, 'stuck');
    const { runId } = await run(saga).describe();
    await deleteRun(rig.temporal, { workflowId: saga.workflowId, runId });
    const take = jest.spyOn(Journal.prototype, 'take').mockRejectedValue(new JournalUnavailable('a test'));
    const next = await rig.sagas.firewalls(request);
    await until(() => Promise.resolve(take.mock.calls.length > 0));
    await next.cancel();
    expect((await outcomeOf(next)).cancelled?.outcome).toBe('untouched');
    take.mockRestore();
    await untilLost({ gone: 1 });
    return next;
  }

  it('goes on where that one is reset, as is told: a second start finds what was cancelled', async () => {
    const request = firewallsRequest();
    const cancelled = await goneAndCancelled(request);
    expect(await rig.sagas.firewalls(request)).toMatchObject({ existing: true, runId: cancelled.runId });
    expect((await cli('journal', 'lost')).out).toContain(
      'Reset its cancelled run in the Web UI, to its first workflow task',
    );
    await resetTo(rig.temporal, cancelled, (await workflowTasksOf(rig.temporal, cancelled))[0]!);
    expect((await lastRunOf(cancelled).result()).outcome).toBe('done');
    expect(await look()).toEqual(none);
  });

  it('leaves it to the journal whether another request may begin', async () => {
    const request = firewallsRequest();
    const saga = await goneAndCancelled(request);
    const another = await rig.sagas.firewalls({ ...request, assign: [146] });
    expect(another.existing).toBe(false);
    expect((await outcomeOf(another)).failure?.type).toBe('ReferenceTaken');
    expect((await rig.sagas.firewalls(request)).existing).toBe(false);
    expect((await lastRunOf(saga).result()).outcome).toBe('done');
    expect(await look()).toEqual(none);
  });
});

describeInWays('one whose run was deleted, and whose next one was refused', () => {
  /** Its plan type is taken while the setting has it. */
  const counting = (planTypesMore: string[]) => rig.replaceWorkers({ activities: { ...rigSettings, planTypesMore } });

  /** @returns the refused run */
  async function goneAndRefused(request: ReturnType<typeof provisionRequest>): Promise<SagaHandle> {
    await counting(['vps:other']);
    const saga = await waiting(request);
    const { runId } = await run(saga).describe();
    await deleteRun(rig.temporal, { workflowId: saga.workflowId, runId });
    await counting([]);
    await rig.temporal.workflow.start('provisionServers', {
      ...{ workflowId: saga.workflowId, taskQueue: 'order-saga', args: [request] },
    });
    const refused = lastRunOf(saga);
    expect((await outcomeOf(refused)).failure).toMatchObject({ type: 'InvalidRequest' });
    await counting(['vps:other']);
    return refused;
  }

  beforeEach(async () => {
    await rig.close();
    rig = await Rig.start({
      planTypesMore: ['vps:other'],
      sandbox: { supportedPlanTypes: ['cloud_servers_standard', 'vps'] },
    });
  });

  it('goes on where that one is reset, as is told', async () => {
    const request = provisionRequest({ items: [{ plan_type: 'vps' }] });
    const refused = await goneAndRefused(request);
    expect((await rig.sagas.provision(request)).existing).toBe(true);
    const told = await cli('journal', 'lost');
    expect(told.out).toMatch(/was refused, and then reset that run in the Web UI, to its first workflow task/);
    await resetTo(rig.temporal, refused, (await workflowTasksOf(rig.temporal, refused))[0]!);
    expect((await lastRunOf(refused).result()).outcome).toBe('done');
    expect(await look()).toEqual(none);
  });

  it('goes on where the same request is sent again, if another one was refused', async () => {
    const request = provisionRequest();
    const saga = await waiting(request);
    const { runId } = await run(saga).describe();
    await deleteRun(rig.temporal, { workflowId: saga.workflowId, runId });
    await startAnew(saga, { ...request, label: 'something else' });
    expect((await outcomeOf(lastRunOf(saga))).failure).toMatchObject({ type: 'ReferenceTaken' });
    expect((await cli('journal', 'lost')).out).toContain('send the same request again');
    expect((await (await rig.sagas.provision(request)).result()).outcome).toBe('done');
    expect(await look()).toEqual(none);
  });
});

itInWays('one that nobody has written down, but that has ended in order, is closed on the way', async () => {
  const saga = await waiting();
  await saga.cancel();
  await outcomeOf(saga);
  // As after a person has skipped the writing.
  await rig.withJournal(({ db }) => db.updateTable('reference').set({ open_in: rig.namespace }).execute());
  expect(await look()).toEqual(none);
  const open = await rig.withJournal(({ db }) =>
    db.selectFrom('reference').select('reference').where('open_in', 'is not', null).execute(),
  );
  expect(open).toEqual([]);
});

const neverStarted = (reference: string) => ({
  workflow: 'provisionServers' as const,
  reference,
  account: null,
  request: null,
  first_seen_ms: 0,
  first_run: 'run',
  epoch: 0,
  touched_ms: 0,
  open_in: rig.namespace,
});

itInWays('one is counted once where the look at its slice failed, and is made again', async () => {
  const saga = await waiting();
  await saga.cancel();
  await outcomeOf(saga);
  await rig.withJournal(async (journal) => {
    await journal.db.updateTable('reference').set({ open_in: rig.namespace }).execute();
    await journal.db.insertInto('reference').values(neverStarted('A')).execute();
    const lost = new LostSagas(rig.temporal, journal);
    const works = journal.inTransaction.bind(journal);
    const fails = jest.spyOn(journal, 'inTransaction');
    fails.mockImplementationOnce(works).mockRejectedValueOnce(new Error('the journal is away'));
    await expect(lost.look()).rejects.toThrow('the journal is away');
    fails.mockRestore();
    expect(await lost.look()).toEqual({ ...none, gone: 1 });
  });
});

itInWays('more than one slice of them are all counted', async () => {
  const rows = Array.from({ length: 250 }, (_, index) => neverStarted(`never-started-${index}`));
  await rig.withJournal(({ db }) => db.insertInto('reference').values(rows).execute());
  await untilLost({ gone: 250 });
});
