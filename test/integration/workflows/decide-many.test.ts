/**
 * Many decisions by one job: each saga is told once, at the pace, and may refuse; the job can be stopped, outlives its
 * worker, and tells of each.
 */
import { InvalidRequestError, JobEndedError, JobLostError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import type { JobHandle } from '../../../src/client/jobs';
import { countsOf, jobReportSchema, sumOf } from '../../../src/domain/decide-many';
import { sendDecision } from '../../../src/temporal/service';
import { doubtfulSagas, stuckSagas } from '../../support/bad-night';
import { programOf } from '../../support/programs';
import { startProcess } from '../../../scripts/processes';
import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const words = { note: 'the provider is back', by: 'ann', perSecond: 50 };
const retry = { ...words, decision: 'retry', where: 'all' };
const retryOf = (account: string) => ({ ...retry, where: `ProviderAccount="${account}"` });
const idsOf = (sagas: readonly SagaHandle[]) => sagas.map(({ workflowId }) => workflowId);
const decisionsOf = async (saga: SagaHandle) => (await progressOf(saga)).decisions;

/** By its heartbeat, so many were decided. */
const untilDecided = (job: JobHandle, count: number) =>
  until(async () => {
    const place = await job.progress();
    return place !== undefined && sumOf(countsOf(place)) >= count;
  });

/** Ids of the updates that it took. */
async function updatesOf({ workflowId }: SagaHandle): Promise<string[]> {
  const { events } = await rig.runOf({ workflowId }).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const id = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.meta?.updateId;
    return id ? [id] : [];
  });
}

it('retries all that are stuck, the longest waiting first, each once, and tells of each', async () => {
  const sagas = await stuckSagas(rig, 7);
  rig.sandbox.faults.clear();
  const job = await rig.sagas.decideMany(retry, { name: 'night' });
  const report = await job.report();
  expect(report).toMatchObject({
    job: 'decide-many/night',
    asked: 'retry all that wait',
    note: 'the provider is back',
    by: 'ann',
    outcome: 'done',
    counts: { taken: 7, refused: 0, movedOn: 0, gone: 0, unanswered: 0 },
    notReached: 0,
    refused: [],
  });
  expect(jobReportSchema().parse(report)).toEqual(report);
  expect(report.taken).toEqual(idsOf(sagas));
  const { runId } = await rig.temporal.workflow.getHandle('decide-many/night').describe();
  for (const [index, saga] of sagas.entries()) {
    expect(await outcomeOf(saga)).toMatchObject({ result: { order: expect.anything() as unknown } });
    const note = 'the provider is back (decide-many/night)';
    expect(await decisionsOf(saga)).toMatchObject([{ decision: 'retry', by: 'ann', note }]);
    // Whichever worker sends it, and however often: it is this one update.
    expect(await updatesOf(saga)).toEqual([`${runId}/${index}`]);
  }
  await expect(job.stop()).rejects.toBeInstanceOf(JobEndedError);
  await expect(rig.sagas.decideMany(retry, { name: 'night' })).rejects.toThrow(/there is a job decide-many\/night/);
});

it('reaches whom the filter names, up to its limit, and no others', async () => {
  const [mine, others] = [await stuckSagas(rig, 3, 'AB-7'), await stuckSagas(rig, 2, 'AB-8')];
  rig.sandbox.faults.clear();
  const where = 'ProviderAccount="AB-7" and SagaFailure="Unauthorized"';
  const job = await rig.sagas.decideMany({ ...retry, where, limit: 2 });
  expect(await job.report()).toMatchObject({ taken: idsOf(mine.slice(0, 2)), notReached: 1 });
  for (const saga of [mine[2]!, ...others]) expect((await progressOf(saga)).state).toBe('stuck');
  // Brackets of its own do not reach beyond what the decision is for.
  const [doubtful] = await doubtfulSagas(rig, 1, 0);
  const wide = await rig.sagas.decideMany({ ...retry, where: 'SagaStep="no-such") OR (SagaState="outcome-unknown"' });
  expect(await wide.report()).toMatchObject({ outcome: 'done', counts: { taken: 0, refused: 0 }, notReached: 0 });
  expect(await decisionsOf(doubtful!)).toEqual([]);
});

// One that is stopped by its own command: test/integration/cli/fleet.test.ts.
it('is cancelled from the Web UI: what it did not come to still waits, and its report says so; terminated, it is lost', async () => {
  const sagas = await stuckSagas(rig, 3, 'CD-2');
  rig.sandbox.faults.clear();
  const paced = { ...retryOf('CD-2'), perSecond: 0.01 };
  const job = await rig.sagas.decideMany(paced);
  await untilDecided(job, 1);
  await rig.runOf(job).cancel();
  const report = await job.report();
  expect(report).toMatchObject({ outcome: 'stopped', taken: [sagas[0]!.workflowId], notReached: 2 });
  expect((await rig.runOf(job).describe()).status.name).toBe('COMPLETED');
  for (const saga of sagas.slice(1)) expect(await decisionsOf(saga)).toEqual([]);
  const lost = await rig.sagas.decideMany(paced);
  await untilDecided(lost, 1);
  await rig.runOf(lost).terminate();
  await expect(lost.report()).rejects.toBeInstanceOf(JobLostError);
});

it('goes on in another worker, and decides about no saga twice', async () => {
  const sagas = await stuckSagas(rig, 4, 'EF-1');
  // Only the process takes the job; whatever sends it, each is one update.
  const environment = { ...rig.environment, TASK_QUEUE: 'jobs' };
  const worker = await startProcess(programOf('worker'), environment);
  const workflowId = 'decide-many/taken-over';
  const args = [{ ...retryOf('EF-1'), perSecond: 0.5 }];
  await rig.temporal.workflow.start('decideMany', { workflowId, taskQueue: 'jobs', args });
  const job = await rig.sagas.job(workflowId);
  await untilDecided(job, 1);
  await worker.kill('SIGKILL');
  await rig.startWorker({ taskQueue: 'jobs' });
  expect(await job.report()).toMatchObject({ outcome: 'done', taken: idsOf(sagas), notReached: 0 });
  for (const saga of sagas) expect(await decisionsOf(saga)).toHaveLength(1);
});

describe('a cancellation goes by the question that somebody read, like every decision: not cancelled is', () => {
  async function approvable(account: string) {
    const saga = await rig.sagas.provision(provisionRequest({ account, firewalls: [143], approval: 'always' }));
    return { saga, question: (await untilWaiting(saga, 'approval')).id };
  }

  it('a saga that asks another question by now, by lines', async () => {
    const { saga, question } = await approvable('GH-1');
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    await answer(saga, 'approve', { by: 'bob' });
    await untilWaiting(saga, 'stuck');
    const decisions = [{ saga: saga.workflowId, question, decision: 'cancel' }];
    const report = await (await rig.sagas.decideMany({ ...words, decisions })).report();
    expect(report.counts).toMatchObject({ movedOn: 1, taken: 0 });
  });

  it('a saga whose question somebody answers in the moment in which it is sent', async () => {
    const { saga, question } = await approvable('GH-3');
    const handle = rig.temporal.workflow.getHandle(saga.workflowId);
    const look = jest.spyOn(handle, 'query');
    jest.spyOn(rig.temporal.workflow, 'getHandle').mockReturnValueOnce(handle);
    let approved: unknown;
    look.mockImplementationOnce(async () => {
      const seen = await progressOf(saga);
      approved = await saga.decide('approve', { question, by: 'bob' }).catch((error: unknown) => error);
      return seen;
    });
    const body = { question, by: 'ann', note: 'looked' };
    const decision = { saga: saga.workflowId, decision: 'cancel', body } as const;
    expect(await sendDecision(rig.temporal, decision, 'job/0')).toEqual({ outcome: 'taken' });
    expect(approved).toMatchObject({ message: expect.stringContaining('ann is about to cancel it') as string });
    expect((await outcomeOf(saga)).cancelled).toMatchObject({ why: 'cancelled, says ann: looked' });
  });

  it('a saga that hears an approval in the same task: the approval counts, at a replay too', async () => {
    const { saga, question } = await approvable('GH-5');
    const handle = rig.temporal.workflow.getHandle(saga.workflowId);
    let approving: Promise<unknown> | undefined;
    await rig.withoutWorkers(async () => {
      approving = handle.executeUpdate('approve', { args: [{ question, by: 'bob' }] });
      await handle.signal('cancelledBy', { question, by: 'ann', note: 'looked' });
    });
    expect(await approving).toMatchObject({ taken: 'approve' });
    expect((await saga.result()).outcome).toBe('done');
  });
});

it('refuses what is wrong, also from the Web UI, and sends nothing', async () => {
  await expect(rig.sagas.decideMany({ ...retry, where: '' })).rejects.toBeInstanceOf(InvalidRequestError);
  await expect(rig.sagas.decideMany(retry, { name: 'a b' })).rejects.toBeInstanceOf(InvalidRequestError);
  const startRaw = async (workflowId: string, request: unknown) => {
    await rig.temporal.workflow.start('decideMany', { workflowId, taskQueue: 'order-saga', args: [request] });
    return rig.runOf({ workflowId });
  };
  await startRaw('decide-many/wrong', { ...retry, perSecond: 0 });
  const wrong = await rig.sagas.job('wrong');
  await expect(wrong.report()).rejects.toThrow('perSecond: must be from 0.01 to 50');
  await startRaw('decide-many/filter', { ...retry, where: 'SagaState==' });
  await expect((await rig.sagas.job('filter')).report()).rejects.toThrow(/where: Temporal does not understand it: /);
  const misnamed = await startRaw('a-job', retry);
  await expect(misnamed.result()).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/must be decide-many/) as string },
  });
  await expect(rig.sagas.job('nobody')).rejects.toThrow(/nobody/);
});
