/**
 * Sweeps compare the firewalls of servers with what sagas have said of them last: drift is told, and repaired only
 * where asked.
 */
import { WorkflowClient } from '@temporalio/client';
import { callsTo, firewallsOf } from '../../../sandbox/sentences';
import type { ReconcileOptions, SweepReport } from '../../../src/domain/reconcile';
import { closeServers } from '../../../src/journal/servers';
import { ProviderClient } from '../../../src/provider/client';
import { rigSettings } from '../../support/activity-settings';
import { firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { providerAt } from '../../support/stand-in';
import { emptyJournal, sweepIn } from '../../support/sweeps';
import { idsListed } from '../../support/listed';

// Somebody changes firewalls in the control panel, which no journal knows.
const rig = rigForFile({ compares: false, clears: true, activities: { listLagMs: 0 } });
let panel: ProviderClient;
beforeAll(() => {
  panel = new ProviderClient(providerAt(rig.sandbox.url));
});
afterAll(() => panel.close());
// Each test begins with nothing in it.
afterEach(() => emptyJournal(rig));

const sweep = (options?: ReconcileOptions) => sweepIn(rig, options);
/** Visibility lags behind: the next sweep goes on where this one has stopped. */
async function sweepUntilSeen(options?: ReconcileOptions): Promise<SweepReport> {
  const report = await sweep(options);
  await until(async () => (await rig.sagas.sweeps.latest())?.report?.startedAt === report.startedAt);
  return report;
}
/** Whatever a test before has seen of its servers. */
const beginWithTheFirst = () => sweepUntilSeen();

/** The least pause in which no two are asked at once. */
const oneAtATime = { perSecond: 1.99 };

/** Servers that a saga has bought, each with these firewalls. */
async function bought(quantity: number, firewalls: number[]): Promise<number[]> {
  const saga = await rig.sagas.provision(provisionRequest({ items: [{ quantity }], firewalls }));
  return (await saga.result()).servers.map(({ vmObjectId }) => vmObjectId);
}

/** A server whose saga was told to leave out its firewalls. @returns what a sweep is to tell of it */
async function bare() {
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'refuse-before', status: 402 });
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  await untilWaiting(saga, 'stuck');
  await answer(saga, 'skip', { note: 'later' });
  const [{ vmObjectId } = { vmObjectId: 0 }] = (await saga.result()).servers;
  return { kind: 'server-unprotected', saga: saga.workflowId, vmObjectId, firewalls: [143] };
}

/** Servers from 1 on, the newest last; the sandbox knows none of their firewalls. */
async function changedLongAgo(count: number): Promise<void> {
  const now = Date.now();
  const firstSeen = (index: number) => now - (count - index) * 1_000;
  await rig.withJournal(({ db }) =>
    db.transaction().execute(async (tx) => {
      for (let index = 0; index < count; index += 1) {
        const key = { workflow: 'setFirewalls', reference: `old-${index}` } as const;
        const times = { first_seen_ms: firstSeen(index), touched_ms: now, epoch: 1 };
        const opened = { first_run: 'r', runs: ' r ', account: null, request: null };
        await tx
          .insertInto('reference')
          .values({ ...key, ...times, ...opened })
          .execute();
        const about = { vmObjectId: 1 + index, firewalls: [143] };
        const call = { step: 'assign-firewalls', kind: 'mutate', activity: 'assignFirewalls', run: 'r' } as const;
        const intended = { id: `e-${index}`, epoch: 1, intended_ms: 1, in_flight_ms: 0, outcome: 'done' } as const;
        const row = { ...key, ...call, ...intended, about: JSON.stringify(about), vm_object_id: about.vmObjectId };
        await tx.insertInto('effect').values(row).execute();
      }
    }),
  );
}

const noList = { endpoint: 'list-firewalls', kind: 'refuse-before', status: 404 } as const;
const noAnswer = { endpoint: 'list-firewalls', kind: 'reset-before', times: 'all' } as const;
const unseen = (vmObjectId: number) => ({
  ...{ kind: 'server-unseen', vmObjectId, why: expect.stringContaining('404') as string },
});
const said = { by: 'ops', note: 'deleted' };
const close = (vmObjectId: number) => rig.withJournal((journal) => closeServers(journal, { vmObjectId }, said));
const listed = () => callsTo(rig.sandbox.ledger, 'list-firewalls').flatMap(({ names }) => names.vmObjectId ?? []);

const changes = (type: 'firewallsAssigned' | 'firewallsUnassigned') =>
  rig.sandbox.ledger.entries.filter((entry) => entry.type === type).length;

it('tells of a firewall that was taken away, and assigns it again only where asked', async () => {
  const [one = 0, two = 0] = await bought(2, [143, 150]);
  await panel.unassignFirewalls(one, [143]);
  const [assigned, unassigned] = [changes('firewallsAssigned'), changes('firewallsUnassigned')];
  const drift = { kind: 'firewalls-drift', vmObjectId: one, missing: [143], surplus: [] };
  expect(await sweep()).toMatchObject({ outcome: 'found', findings: [drift], looked: { servers: 2 } });
  expect(changes('firewallsAssigned')).toBe(assigned);

  const [repaired] = (await sweep({ repair: true })).findings;
  const repair = repaired?.kind === 'firewalls-drift' ? (repaired.repair ?? '') : '';
  expect(repaired).toEqual({ ...drift, repair: expect.stringMatching(/^firewalls\/reconcile-\d{14}-\d+$/) as string });
  const result = (await rig.temporal.workflow.getHandle(repair).result()) as object;
  expect(result).toMatchObject({ outcome: 'done', assigned: [143], unassigned: [] });
  expect(firewallsOf(rig.sandbox.ledger, one).sort()).toEqual([143, 150]);
  expect(firewallsOf(rig.sandbox.ledger, two).sort()).toEqual([143, 150]);
  expect(changes('firewallsAssigned')).toBe(assigned + 1);
  expect(changes('firewallsUnassigned')).toBe(unassigned);
  expect((await sweep({ repair: true })).outcome).toBe('clean');
  // The saga of the repair is found by its server, like the one that bought it.
  await until(async () => {
    const rows = await idsListed(rig.sagas, { server: one });
    return rows.length === 2 && rows.includes(repair);
  });
});

// A saga has found the server as it should be: no repair takes that back.
it.each([{ exactly: [150] }, { unassign: [143] }])('what sent nothing is a word, too: %j', async (said) => {
  const [server = 0] = await bought(1, [143, 150]);
  await panel.unassignFirewalls(server, [143]);
  const request = firewallsRequest({ vmObjectId: server, assign: undefined, ...said });
  await (await rig.sagas.firewalls(request)).result();
  expect(await sweep({ repair: true })).toMatchObject({ outcome: 'clean', looked: { servers: 1 } });
  expect(firewallsOf(rig.sandbox.ledger, server)).toEqual([150]);
  await panel.assignFirewalls(server, [143]);
  const drift = { kind: 'firewalls-drift', vmObjectId: server, missing: [], surplus: [143] };
  expect((await sweep()).findings).toEqual([drift]);
});

it('tells of servers that a saga has left without firewalls, until they have them', async () => {
  const finding = await bare();
  expect((await sweep()).findings).toEqual([finding]);
  expect((await sweep({ servers: 0 })).findings).toEqual([finding]);
  const [repaired] = (await sweep({ repair: true })).findings;
  const repair = repaired?.kind === 'server-unprotected' ? (repaired.repair ?? '') : '';
  await rig.temporal.workflow.getHandle(repair).result();
  expect(await sweep()).toMatchObject({ outcome: 'clean', looked: { servers: 1 } });
});

it('tells of it also where another saga works there, and where the provider refuses to list it', async () => {
  const finding = await bare();
  const { vmObjectId } = finding;
  rig.sandbox.faults.add({ ...noList, match: { vmObjectId } });
  expect((await sweep()).findings).toEqual([finding, unseen(vmObjectId)]);
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [150], unassign: undefined }));
  await untilWaiting(saga, 'stuck');
  expect(await sweep()).toMatchObject({ outcome: 'found', findings: [finding], looked: { busy: 1 } });
});

it('leaves a server alone of which a person has said that it needs nothing, also where it repairs', async () => {
  const { vmObjectId } = await bare();
  await close(vmObjectId);
  expect(await sweep({ repair: true })).toMatchObject({ outcome: 'clean', findings: [] });
});

it('tells of a server that the provider refuses to list, and compares the others', async () => {
  const [one = 0, two = 0] = await bought(2, [143]);
  await panel.unassignFirewalls(two, [143]);
  rig.sandbox.faults.add({ ...noList, match: { vmObjectId: one } });
  const { findings, looked } = await sweep();
  expect(findings).toContainEqual(unseen(one));
  expect(findings).toContainEqual({ kind: 'firewalls-drift', vmObjectId: two, missing: [143], surplus: [] });
  expect(looked).toMatchObject({ servers: 2, missed: 0 });
});

it('tells of a server no more once a person has said that it is gone, unless it is there again', async () => {
  const [mine = 0] = await bought(1, [143]);
  const vmObjectId = 4711;
  await (await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [150], unassign: undefined }))).result();
  const fault = rig.sandbox.faults.add({ ...noList, times: 'all' });
  expect((await sweep()).counts).toEqual({ 'server-unseen': 2 });
  for (const id of [mine, vmObjectId]) expect([await close(id), await close(id)]).toEqual([1, 0]);
  expect(await sweep()).toMatchObject({ outcome: 'clean', looked: { servers: 2, missed: 0 } });
  rig.sandbox.faults.lift(fault);
  await panel.unassignFirewalls(mine, [143]);
  expect((await sweep()).counts).toEqual({ 'firewalls-drift': 1 });
  expect(await close(12_345)).toBe(0);
});

it('expects nothing of the servers of an order that the provider has cancelled, whoever has changed them', async () => {
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  const [{ vmObjectId } = { vmObjectId: 0 }] = (await saga.result()).servers;
  await (await rig.sagas.firewalls(firewallsRequest({ vmObjectId, assign: [150], unassign: undefined }))).result();
  const key = { workflow: 'provisionServers', reference: saga.reference } as const;
  await rig.withJournal((journal) => journal.cancelled(key, said, { isOver: true }));
  rig.sandbox.faults.add(noList);
  expect(await sweep()).toMatchObject({ outcome: 'clean', looked: { ended: 2, servers: 1, missed: 0 } });
});

it('tells of a server that two orders have, because a restored journal has lost the rows of one', async () => {
  const [shared = 0] = await bought(1, [143]);
  // While the second order is told its ids, the journal knows nothing of the first one's server.
  const lost = await rig.withJournal(async ({ db }) => {
    await db.deleteFrom('server').execute();
    return db.deleteFrom('effect').where('vm_object_id', '=', shared).returningAll().execute();
  });
  rig.sandbox.configure({ orderResponse: 'opaque' });
  const saga = await rig.sagas.provision(provisionRequest({ firewalls: [143] }));
  await untilWaiting(saga, 'servers');
  await answer(saga, 'provideServers', { vmObjectIds: [shared] });
  await saga.result();
  await rig.withJournal(({ db }) => db.insertInto('effect').values(lost).execute());
  const sagas = [expect.stringMatching(/^provision/), expect.stringMatching(/^provision/)] as unknown;
  expect((await sweep()).findings).toContainEqual({ kind: 'server-shared', vmObjectId: shared, sagas });
});

it('tells of servers that do not answer while others do, however many in a row, and compares the others', async () => {
  const [, ...rest] = await bought(7, [143]);
  const drifted = rest.at(-1)!;
  await panel.unassignFirewalls(drifted, [143]);
  for (const vmObjectId of rest.slice(0, -1)) rig.sandbox.faults.add({ ...noAnswer, match: { vmObjectId } });
  const report = await sweep(oneAtATime);
  expect(report).toMatchObject({
    outcome: 'found',
    counts: { 'server-unseen': 5, 'firewalls-drift': 1 },
    unseen: [],
  });
  expect(report.looked.servers).toBe(2);
  expect(report.findings).toContainEqual(expect.objectContaining({ kind: 'firewalls-drift', vmObjectId: drifted }));
});

it('goes on in another run before its history is long, and looks at each server once', async () => {
  const [count, most] = [200, 180];
  await beginWithTheFirst();
  const before = listed().length;
  await changedLongAgo(count);
  const { runId } = await rig.sagas.sweeps.start({ perSecond: 20, servers: most });
  const { report, runId: last } = await rig.sagas.sweeps.ended(runId);
  expect(last).not.toBe(runId);
  expect(report).toMatchObject({
    outcome: 'found',
    looked: { ended: count, servers: most, missed: count - most },
    counts: { 'firewalls-drift': most },
  });
  const compared = report!.findings.flatMap((one) => (one.kind === 'firewalls-drift' ? [one.vmObjectId] : []));
  expect(compared.sort((a, b) => a - b)).toEqual(Array.from({ length: most }, (_, index) => 1 + index));
  expect(report?.next).toBe(most);
  expect(listed()).toHaveLength(before + most);
  expect((await outcomeOf(await rig.sagas.firewalls(firewallsRequest()))).result).toMatchObject({ outcome: 'done' });
});

it('sees every server in turn, goes on where it stopped, and says so where it has not seen all', async () => {
  await beginWithTheFirst();
  // Only the last sweep has ended a round. What tests before have started may come into the list only now.
  const since = new Date().toISOString();
  const query = `WorkflowType = 'reconcile' AND ExecutionStatus = 'Completed' AND SagaState IS NULL AND StartTime > '${since}'`;
  const rounds = async () => (await rig.temporal.workflow.count(query)).count;
  await bought(6, [143]);
  await bought(1, [143]);
  expect(await sweepUntilSeen({ servers: 0 })).toMatchObject({ outcome: 'partly', looked: { servers: 0, missed: 7 } });
  const before = listed().length;
  const reports: SweepReport[] = [];
  for (let nth = 0; nth < 4; nth += 1) reports.push(await sweepUntilSeen({ servers: 4 }));
  expect(reports.map(({ outcome, looked }) => [outcome, looked.servers, looked.missed])).toEqual(
    Array.from({ length: 4 }, () => ['partly', 4, 3]),
  );
  // Sixteen looks at seven servers: twice around.
  await until(async () => (await rounds()) === 2);
  const looks = listed().slice(before);
  const servers = [...new Set(looks)];
  expect(servers).toHaveLength(7);
  for (const server of servers) expect(looks.filter((looked) => looked === server).length).toBeGreaterThanOrEqual(2);
});

it('goes on where a sweep stopped that has failed', async () => {
  await beginWithTheFirst();
  await changedLongAgo(4);
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const reports: SweepReport[] = [];
  for (let nth = 0; nth < 3; nth += 1) reports.push(await sweepUntilSeen({ servers: 1, clean: false }));
  expect(reports.map(({ outcome, next }) => [outcome, next])).toEqual(
    [1, 2, 3].map((next) => ['could-not-look', next]),
  );
});

it('comes back to the servers that it has not asked because the provider was away', async () => {
  await beginWithTheFirst();
  await changedLongAgo(12);
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const { next, unseen } = await sweep({ servers: 8, ...oneAtATime });
  const asked = unseen.map(({ what }) => Number(/^server (\d+)$/.exec(what)?.[1]));
  const unasked = [1, 2, 3, 4, 5, 6, 7, 8].find((server) => !asked.includes(server)) ?? 0;
  expect(next).toBe(unasked - 1);
});

it('begins with the first server where nobody can read how far the last sweep came', async () => {
  await bought(1, [143]);
  await sweepUntilSeen();
  const before = (await rig.sagas.sweeps.latest())?.runId;
  const read = WorkflowClient.prototype.result;
  const reading = jest.spyOn(WorkflowClient.prototype, 'result');
  // It was encrypted with a key that is gone.
  reading.mockImplementation(function (this: WorkflowClient, ...args: Parameters<typeof read>) {
    return args[1] === before ? Promise.reject(new Error('no key')) : read.apply(this, args);
  });
  expect(await sweep()).toMatchObject({ outcome: 'clean', looked: { servers: 1 } });
  reading.mockRestore();
});

it('takes no change that a saga makes meanwhile for drift', async () => {
  const [server = 0] = await bought(1, [143]);
  // Of the sweep: it has asked the journal, and not yet the provider.
  const gate = rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'gate' });
  const { runId } = await rig.sagas.sweeps.start({ perSecond: 20 });
  await rig.sandbox.whenStruck(gate);
  const saga = await rig.sagas.firewalls(firewallsRequest({ vmObjectId: server, assign: undefined, unassign: [143] }));
  await saga.result();
  rig.sandbox.faults.release(gate);
  expect((await rig.sagas.sweeps.ended(runId)).report).toMatchObject({
    outcome: 'clean',
    looked: { busy: 1, servers: 0 },
  });
  expect(await sweep()).toMatchObject({ outcome: 'clean', looked: { busy: 0, servers: 1 } });
});

it('fails where the provider does not answer, asks no more than a few times, and claims nothing', async () => {
  await bought(8, [143]);
  const before = listed().length;
  rig.sandbox.faults.add({ endpoint: 'list-firewalls', kind: 'unauthorized', times: 'all' });
  const report = await sweep(oneAtATime);
  expect(report).toMatchObject({ outcome: 'could-not-look', counts: {}, looked: { ended: 1, servers: 0 } });
  expect(report.unseen.map(({ what }) => what.replace(/\d{2,}/, 'N'))).toEqual([
    ...Array.from({ length: 6 }, () => 'server N'),
    '2 more servers',
  ]);
  expect(listed()).toHaveLength(before + 6);
  expect((await rig.temporal.workflow.getHandle('reconcile').describe()).status.name).toBe('FAILED');
});

it('does not take for an outage that the first and the last servers do not answer', async () => {
  await changedLongAgo(100);
  const before = listed().length;
  for (const vmObjectId of [1, 2, 3, 98, 99, 100]) rig.sandbox.faults.add({ ...noAnswer, match: { vmObjectId } });
  const { runId } = await rig.sagas.sweeps.start(oneAtATime);
  const isOther = (id: number) => id > 3 && id < 98;
  await until(() =>
    Promise.resolve(
      listed()
        .slice(before)
        .some((id) => isOther(Number(id))),
    ),
  );
  await rig.temporal.workflow.getHandle('reconcile', runId).terminate();
});

// Last: from here on the worker is another one.
it('does not believe a list that contradicts a change of a moment ago', async () => {
  await rig.replaceWorkers({ activities: { ...rigSettings, listLagMs: 3_600_000 } });
  const [one = 0] = await bought(1, [143]);
  await panel.unassignFirewalls(one, [143]);
  expect(await sweep()).toMatchObject({ findings: [], looked: { busy: 1 } });
});
