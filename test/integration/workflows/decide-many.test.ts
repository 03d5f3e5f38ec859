/**
 * One decision over many sagas: each is told once, at the pace, and may refuse; the job can be paused and stopped, and
 * tells of each.
 */
import { changeOrdersOf } from '../../../sandbox/sentences';
import { InvalidRequestError, JobEndedError, JobLostError } from '../../../src/client/errors';
import type { SagaHandle } from '../../../src/client/handle';
import type { JobHandle } from '../../../src/client/jobs';
import { jobProgressSchema, jobReportSchema, sumOf } from '../../../src/domain/job-report';
import { sendDecision } from '../../../src/temporal/send-decision';
import { doubtfulSagas, stuckSagas, untilListed } from '../../support/bad-night';
import { describeInWays, itInWays } from '../../support/left-out';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { outcomeOf, progressOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.close());

const retry = { decision: 'retry', all: true, note: 'the provider is back', by: 'ann', perSecond: 50 };
const idsOf = (sagas: readonly SagaHandle[]) => sagas.map(({ workflowId }) => workflowId);
const decisionsOf = async (saga: SagaHandle) => (await progressOf(saga)).decisions;

/** So many were decided, and nothing is on its way. */
const untilDecided = (job: JobHandle, count: number) =>
  until(async () => {
    const { counts } = await job.progress();
    return sumOf(counts) >= count;
  });

it('retries all that are stuck, page by page, each once, and tells of each', async () => {
  const sagas = await stuckSagas(rig, 7);
  rig.sandbox.faults.clear();
  const first = await rig.sagas.decideMany({ ...retry, pageSize: 3 }, { name: 'night' });
  const { runId } = await rig.temporal.workflow.getHandle('decide-many/night').describe();
  const report = await first.report();
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
  // Those that waited longest first: three, three and one.
  const waves = [report.taken.slice(0, 3), report.taken.slice(3, 6), report.taken.slice(6)].map((wave) => wave.sort());
  const ids = idsOf(sagas);
  expect(waves).toEqual([ids.slice(0, 3).sort(), ids.slice(3, 6).sort(), ids.slice(6)]);
  const last = await rig.temporal.workflow.getHandle('decide-many/night').describe();
  expect(last.runId).not.toBe(runId);
  for (const saga of sagas) {
    expect(await outcomeOf(saga)).toMatchObject({ result: { order: expect.anything() as unknown } });
    const [decision, ...others] = await decisionsOf(saga);
    expect(others).toEqual([]);
    const note = 'the provider is back (decide-many/night)';
    expect(decision).toMatchObject({ decision: 'retry', by: 'ann', note });
    // Whichever run of the job sends it, and however often: it is this one update.
    expect(await updatesOf(saga)).toEqual([`${runId}/${saga.workflowId}/${decision?.question}`]);
  }
  expect(await first.progress()).toMatchObject({ state: 'done', total: 7, counts: { taken: 7 } });
  await expect(first.stop()).rejects.toBeInstanceOf(JobEndedError);
  await expect(rig.sagas.decideMany(retry, { name: 'night' })).rejects.toThrow(/there is a job decide-many\/night/);
});

it('reaches whom the filter names, and no others', async () => {
  const [mine, others] = [await stuckSagas(rig, 2, 'AB-7'), await stuckSagas(rig, 2, 'AB-8')];
  rig.sandbox.faults.clear();
  const { all: _all, ...one } = retry;
  const job = await rig.sagas.decideMany({ ...one, where: 'ProviderAccount="AB-7" and SagaFailure="Unauthorized"' });
  expect((await job.report()).taken.sort()).toEqual(idsOf(mine).sort());
  for (const saga of others) expect((await progressOf(saga)).state).toBe('stuck');
  // Brackets of its own do not reach beyond what the decision is for.
  const doubtful = await doubtfulSagas(rig, 1, 0);
  const wide = await rig.sagas.decideMany({ ...one, where: 'SagaStep="no-such") OR (SagaState="outcome-unknown"' });
  expect(await wide.report()).toMatchObject({ outcome: 'done', counts: { taken: 0, refused: 0 }, notReached: 0 });
  expect((await progressOf(doubtful[0]!)).decisions).toEqual([]);
});

itInWays('keeps its pace: the ledger has no second with more calls', async () => {
  const sagas = await stuckSagas(rig, 7);
  const before = rig.sandbox.ledger.calls.length;
  // They ask again at once: one call for each decision.
  const job = await rig.sagas.decideMany({ ...retry, perSecond: 3 });
  await job.report();
  await until(async () => (await Promise.all(sagas.map(decisionsOf))).every((found) => found.length === 1));
  await untilListed(rig, sagas, 'stuck');
  const times = rig.sandbox.ledger.calls
    .slice(before)
    .filter(({ endpoint }) => endpoint === 'place-change-order')
    .map(({ receivedMs }) => receivedMs)
    .sort((a, b) => a - b);
  expect(times).toHaveLength(7);
  const { events } = await rig.temporal.workflow.getHandle(job.workflowId).fetchHistory();
  const pace = (events ?? []).flatMap((event) => {
    if (event.activityTaskScheduledEventAttributes?.activityType?.name === 'sendDecision') return ['sent'];
    return Number(event.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? 0) === 1 ? ['a second'] : [];
  });
  const wave = ['sent', 'sent', 'sent', 'a second'];
  expect(pace).toEqual([...wave, ...wave, 'sent']);
  // Less than a second only by what the calls of one wave took longer to arrive than those of the next.
  for (const [index, time] of times.entries()) {
    const fourth = times[index + 3];
    if (fourth !== undefined) expect(fourth - time).toBeGreaterThan(500);
  }
});

itInWays('is paused, goes on, and is stopped: what it did not come to still waits', async () => {
  const sagas = await stuckSagas(rig, 4);
  rig.sandbox.faults.clear();
  const job = await rig.sagas.decideMany({ ...retry, perSecond: 0.5, pageSize: 1 });
  const runOf = async () => (await rig.temporal.workflow.getHandle(job.workflowId).describe()).runId;
  await untilDecided(job, 1);
  const before = await runOf();
  expect(await job.pause({ by: 'bob', note: 'the provider is slow' })).toBe('paused');
  const paused = await job.progress();
  expect(jobProgressSchema().parse(paused)).toEqual(paused);
  expect(paused).toMatchObject({ state: 'paused', total: 4, paused: { by: 'bob', why: 'the provider is slow' } });
  // It continues as new, and is paused all the same. Another job begins and ends meanwhile.
  await until(async () => (await runOf()) !== before);
  expect((await job.progress()).state).toBe('paused');
  const left = 4 - sumOf(paused.counts);
  const other = await rig.sagas.decideMany({ ...retry, decision: 'skip', where: 'SagaStep="none"', all: undefined });
  expect((await other.report()).counts.taken).toBe(0);
  expect(sumOf((await job.progress()).counts)).toBe(4 - left);
  expect(await job.resume()).toBe('running');
  await untilDecided(job, 2);
  expect(await job.stop({ by: 'bob', note: 'enough' })).toBe('stopping');
  const report = await job.report();
  expect(report).toMatchObject({ outcome: 'stopped', stopped: { by: 'bob', why: 'enough' } });
  expect(report.taken.length).toBeLessThan(4);
  expect(report.taken.length + report.notReached).toBe(4);
  for (const saga of sagas) {
    const isTaken = report.taken.includes(saga.workflowId);
    expect(await decisionsOf(saga)).toHaveLength(isTaken ? 1 : 0);
  }
});

itInWays('ends as completed, with its report, when it is cancelled', async () => {
  await stuckSagas(rig, 3);
  const job = await rig.sagas.decideMany({ ...retry, perSecond: 0.02 });
  await untilDecided(job, 1);
  await rig.temporal.workflow.getHandle(job.workflowId).cancel();
  expect(await job.report()).toMatchObject({
    outcome: 'stopped',
    stopped: { why: 'it was cancelled' },
    counts: { taken: 1 },
    notReached: 2,
  });
  expect((await rig.temporal.workflow.getHandle(job.workflowId).describe()).status.name).toBe('COMPLETED');
});

itInWays('skips what moved on or has ended since it was listed', async () => {
  const sagas = await stuckSagas(rig, 4);
  const [first, moved, ended, last] = sagas;
  const job = await rig.sagas.decideMany({ ...retry, perSecond: 0.5 });
  await untilDecided(job, 1);
  await job.pause();
  const decided = sumOf((await job.progress()).counts);
  expect(decided).toBe(1);
  // A person was faster: it asks again, another question.
  const { id } = await untilWaiting(moved!);
  await moved!.decide('retry', { question: id });
  await until(async () => (await untilWaiting(moved!)).id !== id);
  await ended!.cancel();
  await outcomeOf(ended!);
  await job.resume();
  expect(await job.report()).toMatchObject({
    outcome: 'done',
    taken: [first!.workflowId, last!.workflowId],
    movedOn: [moved!.workflowId],
    gone: [ended!.workflowId],
    counts: { taken: 2, movedOn: 1, gone: 1 },
  });
  expect(await decisionsOf(moved!)).toHaveLength(1);
});

itInWays('tells why a saga refused', async () => {
  rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(provisionRequest());
  await untilListed(rig, [saga], 'stuck');
  const job = await rig.sagas.decideMany({ ...retry, decision: 'skip' });
  const report = await job.report();
  expect(report.counts).toMatchObject({ taken: 0, refused: 1 });
  expect(report.refused).toEqual([
    { why: expect.stringMatching(/^skip does not fit: .* waits as stuck/) as string, sagas: [saga.workflowId] },
  ]);
  expect((await job.progress()).refusals).toEqual([{ why: report.refused[0]?.why, count: 1 }]);
});

itInWays('decides no saga twice, although each asks again at once', async () => {
  const sagas = await stuckSagas(rig, 5);
  const job = await rig.sagas.decideMany({ ...retry, pageSize: 2, perSecond: 2 });
  expect(await job.report()).toMatchObject({ counts: { taken: 5, refused: 0, movedOn: 0 }, notReached: 0 });
  for (const saga of sagas) expect(await decisionsOf(saga)).toHaveLength(1);
});

itInWays('is one decision, however often it is sent', async () => {
  const [saga] = await stuckSagas(rig, 1);
  const { id: question } = await untilWaiting(saga!);
  const { workflowId } = saga!;
  const decision = {
    workflowId,
    decision: 'retry',
    body: { question },
    updateId: `job/${workflowId}/${question}`,
  } as const;
  expect(await sendDecision(rig.temporal, decision)).toEqual({ outcome: 'taken' });
  await until(async () => (await untilWaiting(saga!)).id !== question);
  expect(await sendDecision(rig.temporal, decision)).toEqual({ outcome: 'taken' });
  expect(await sendDecision(rig.temporal, { ...decision, updateId: 'another' })).toEqual({ outcome: 'movedOn' });
  expect(await decisionsOf(saga!)).toHaveLength(1);
  await saga!.cancel();
  await outcomeOf(saga!);
  expect(await sendDecision(rig.temporal, decision)).toEqual({ outcome: 'taken' });
  expect(await sendDecision(rig.temporal, { ...decision, updateId: 'yet another' })).toEqual({ outcome: 'gone' });
});

itInWays('does not wait for ever for a saga whose worker is away', async () => {
  const elsewhere = await rig.startWorker({ taskQueue: 'elsewhere' });
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const request = firewallsRequest({ exactly: [143], assign: undefined });
  const options = { workflowId: `firewalls/${request.reference}`, taskQueue: 'elsewhere', args: [request] };
  await rig.temporal.workflow.start('setFirewalls', options);
  const lonely = await rig.sagas.get(request.reference);
  await untilListed(rig, [lonely], 'stuck');
  await elsewhere.stop();
  const [other] = await stuckSagas(rig, 1);
  rig.sandbox.faults.clear();
  const job = await rig.sagas.decideMany(retry);
  expect(await job.report()).toMatchObject({ taken: [other!.workflowId], unanswered: [lonely.workflowId] });
  await rig.startWorker({ taskQueue: 'elsewhere' });
  await outcomeOf(lonely);
});

itInWays('does nothing where nobody waits', async () => {
  const job = await rig.sagas.decideMany(retry);
  expect(await job.report()).toMatchObject({ outcome: 'done', counts: { taken: 0 }, notReached: 0 });
});

itInWays('takes no more than its limit, the longest waiting first, and tells how many are left', async () => {
  const sagas = await stuckSagas(rig, 5);
  const job = await rig.sagas.decideMany({ ...retry, limit: 3, pageSize: 2, perSecond: 50 });
  const report = await job.report();
  expect(report).toMatchObject({ outcome: 'done', notReached: 2 });
  expect(report.taken.sort()).toEqual(idsOf(sagas).slice(0, 3).sort());
});

describe('a probe', () => {
  const probing = { ...retry, probe: { first: 2 } };
  const subscriptionOf = async (saga: SagaHandle) => (await requestOf(saga)).subscription_id;

  it('goes first: the others follow when its steps have succeeded', async () => {
    const sagas = await stuckSagas(rig, 5);
    rig.sandbox.faults.clear();
    const match = { subscriptionId: await subscriptionOf(sagas[1]!) };
    const gate = rig.sandbox.faults.add({ endpoint: 'place-change-order', match, kind: 'gate' });
    const job = await rig.sagas.decideMany(probing);
    await rig.sandbox.whenStruck(gate);
    await until(async () => (await job.progress()).probe?.underWay === 1);
    expect(await job.progress()).toMatchObject({ state: 'running', total: 5, counts: { taken: 2 } });
    rig.sandbox.faults.release(gate);
    expect(await job.report()).toMatchObject({ outcome: 'done', counts: { taken: 5 } });
    for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');
  });

  itInWays('that asks again pauses the job, which says why; a person lets it go on', async () => {
    const sagas = await stuckSagas(rig, 4);
    const job = await rig.sagas.decideMany(probing);
    await until(async () => (await job.progress()).state === 'paused');
    const { paused, counts } = await job.progress();
    expect(paused?.why).toMatch(
      /^the probe failed: change\/T-\d+ waits as stuck at place-change-order again: .* answered 401$/,
    );
    expect(counts.taken).toBe(2);
    for (const saga of sagas.slice(2)) expect(await decisionsOf(saga)).toEqual([]);
    rig.sandbox.faults.clear();
    await job.resume({ by: 'ann' });
    expect(await job.report()).toMatchObject({ outcome: 'done', counts: { taken: 4 } });
  });

  itInWays('releases sagas that are held, the first ones first', async () => {
    await rig.sagas.hold({ note: 'a test' });
    const sagas = [await rig.sagas.provision(provisionRequest()), await rig.sagas.provision(provisionRequest())];
    await untilListed(rig, sagas, 'held');
    const release = { ...probing, decision: 'release', probe: { first: 1 } };
    const why = /decision: new sagas are held, so each would be held again: end the hold first/;
    await expect(rig.sagas.previewMany(release)).rejects.toThrow(why);
    await expect((await rig.sagas.decideMany(release)).report()).rejects.toThrow(why);
    expect((await Promise.all(sagas.map(decisionsOf))).flat()).toEqual([]);
    await rig.temporal.workflow.getHandle('hold').terminate();
    await untilListed(rig, sagas, 'held');
    expect(await (await rig.sagas.decideMany(release)).report()).toMatchObject({ counts: { taken: 2 } });
    for (const saga of sagas) expect(await outcomeOf(saga)).toHaveProperty('result');
  });
});

describe('what it refuses', () => {
  const startRaw = (request: unknown, workflowId = 'decide-many/raw') =>
    rig.temporal.workflow.start('decideMany', { workflowId, taskQueue: 'order-saga', args: [request] });
  const whyFailed = (request: unknown, workflowId?: string) =>
    startRaw(request, workflowId)
      .then((run) => run.result())
      .then(
        () => 'it did not fail',
        (error: unknown) => ((error as Error).cause as Error).message,
      );

  it('says what is wrong with a request from the Web UI, and sends nothing', async () => {
    const [saga] = await stuckSagas(rig, 1);
    expect(await whyFailed({ ...retry, perSecond: 0 })).toBe('nothing was sent: perSecond: must be from 0.01 to 50');
    expect(await whyFailed({ ...retry, note: ' ' })).toMatch(/nothing was sent: note: is required/);
    expect(await whyFailed({ decision: 'retry', note: 'x' })).toMatch(/where: is required.*say all: true/);
    expect(await whyFailed({ decision: 'retry', note: 'x', where: '' })).toMatch(/where: is required/);
    expect(await whyFailed({ ...retry, decision: 'confirmPlaced' })).toMatch(
      /decision: must be one of retry, skip, release/,
    );
    expect(await whyFailed(undefined)).toMatch(/nothing was sent/);
    expect(await whyFailed(retry, 'provision/raw')).toMatch(/the workflow id must be decide-many\/ and a name/);
    const { all: _all, ...one } = retry;
    expect(await whyFailed({ ...one, where: 'SagaState=' })).toMatch(/where: Temporal does not understand it: /);
    expect(await whyFailed({ ...one, where: 'NoSuchName="x"' })).toMatch(
      /where: Temporal does not understand it: .*NoSuchName/,
    );
    expect(await decisionsOf(saga!)).toEqual([]);
  });

  itInWays('refuses a control that it cannot read, and tells who asks for a report of a terminated job', async () => {
    await stuckSagas(rig, 2);
    const job = await rig.sagas.decideMany({ ...retry, perSecond: 0.01 });
    await untilDecided(job, 1);
    const handle = rig.temporal.workflow.getHandle(job.workflowId);
    await expect(handle.executeUpdate('stop', { args: [{ who: 'ann' }] })).rejects.toMatchObject({
      cause: { message: 'stop: who: is not a field of this request. Like {"by":"you","note":"why"}' },
    });
    await expect(job.stop({ note: 'x'.repeat(5_000) })).rejects.toBeInstanceOf(InvalidRequestError);
    await handle.terminate('by hand');
    await expect(job.report()).rejects.toBeInstanceOf(JobLostError);
  });
});

describeInWays('evidence', () => {
  const lineOf = async (saga: SagaHandle, placed: boolean) => ({
    reference: saga.reference,
    question: (await untilWaiting(saga, 'outcome-unknown')).id,
    placed,
  });

  it('settles what was placed and what was not: no order twice, and none is missing', async () => {
    const sagas = await doubtfulSagas(rig, 5, 2);
    await Promise.all(sagas.map((saga) => untilWaiting(saga)));
    const lines = await Promise.all(sagas.map((saga, index) => lineOf(saga, index < 2)));
    const evidence = lines.map((line, index) =>
      index === 0 ? { ...line, orderId: 77, note: 'seen in the panel' } : line,
    );
    const request = { evidence, note: 'the export of 03:10', by: 'ann', perSecond: 50, pageSize: 2 };
    expect(await rig.sagas.previewMany(request)).toEqual({
      asked: '5 lines of evidence',
      by: 'evidence',
      lines: 5,
      placed: 2,
      notPlaced: 3,
    });
    const job = await rig.sagas.decideMany(request, { name: 'evidence' });
    const report = await job.report();
    expect(report).toMatchObject({
      asked: '5 lines of evidence',
      outcome: 'done',
      counts: { taken: 5 },
      notReached: 0,
    });
    expect(report.taken.sort()).toEqual(idsOf(sagas).sort());
    for (const [index, saga] of sagas.entries()) {
      await outcomeOf(saga);
      const [decision] = await decisionsOf(saga);
      expect(decision).toMatchObject(
        index === 0
          ? { decision: 'confirmPlaced', orderId: '77', note: 'seen in the panel (decide-many/evidence)' }
          : {
              decision: index < 2 ? 'confirmPlaced' : 'confirmNotPlaced',
              note: 'the export of 03:10 (decide-many/evidence)',
            },
      );
      const { subscription_id } = await requestOf(saga);
      expect(changeOrdersOf(rig.sandbox.ledger, subscription_id)).toHaveLength(1);
    }
  });

  it('is refused as a whole for one wrong line among three thousand, which is named', async () => {
    const [saga] = await doubtfulSagas(rig, 1, 1);
    const line = await lineOf(saga!, true);
    const evidence: unknown[] = Array.from({ length: 3_000 }, (_, index) => ({ ...line, reference: `R-${index}` }));
    evidence[0] = line;
    evidence[2_499] = { ...line, reference: 'R-2499', placed: 'yes' };
    const run = await rig.temporal.workflow.start('decideMany', {
      workflowId: 'decide-many/wrong',
      taskQueue: 'order-saga',
      args: [{ evidence, note: 'a test' }],
    });
    await expect(run.result()).rejects.toMatchObject({
      cause: { message: 'nothing was sent: line 2500: placed: must be true or false: whether it was placed' },
    });
    // Right by itself, and about sagas that nobody knows.
    evidence[2_499] = { ...line, reference: 'R-2499' };
    const unknown = await rig.sagas.decideMany({ evidence, note: 'a test' });
    const why = (await unknown.report().catch((error: unknown) => error)) as InvalidRequestError;
    expect(why).toBeInstanceOf(InvalidRequestError);
    expect(why.problems).toHaveLength(101);
    expect(why.problems.slice(0, 2)).toEqual([
      { field: 'line 2', message: 'no saga has the reference R-1' },
      { field: 'line 3', message: 'no saga has the reference R-2' },
    ]);
    expect(why.problems.at(-1)).toEqual({ field: '', message: 'and 2899 more' });
    expect(await decisionsOf(saga!)).toEqual([]);
  });

  it('is not sent to a saga that asks another question by now', async () => {
    const [saga] = await doubtfulSagas(rig, 1, 1);
    const line = await lineOf(saga!, false);
    const job = await rig.sagas.decideMany({ evidence: [{ ...line, question: '00000000' }], note: 'a test' });
    expect(await job.report()).toMatchObject({ movedOn: [saga!.workflowId], counts: { taken: 0 } });
    expect(await decisionsOf(saga!)).toEqual([]);
  });
});

/** What the saga was started with. */
async function requestOf(saga: SagaHandle): Promise<{ subscription_id: number }> {
  const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return JSON.parse(Buffer.from(input?.data ?? '').toString()) as { subscription_id: number };
}

/** The ids of the updates that it took. */
async function updatesOf({ workflowId }: SagaHandle): Promise<string[]> {
  const { events } = await rig.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) => accepted?.protocolInstanceId ?? [],
  );
}
