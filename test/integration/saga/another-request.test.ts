/**
 * A run with another request under a reference, which ends before it has been told that the reference is taken: it is
 * no run of that saga, touches nothing of it, and does not end it.
 */
import { isDeepStrictEqual } from 'node:util';
import { firewallsOf, openCartItems, ordersWithLabel } from '../../../sandbox/sentences';
import { SagaHandle } from '../../../src/client/handle';
import type { WorkflowName } from '../../../src/domain/identity';
import { JournalUnavailable } from '../../../src/journal/errors';
import { Journal } from '../../../src/journal/journal';
import { recordOf } from '../../../src/journal/record';
import { LostSagas, noneLost } from '../../../src/operations/lost-sagas';
import { firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rig.close();
});

const oneIsLost = { ...noneLost(), terminated: 1 };
/** The end of a run takes a moment to be seen in the list. */
const untilOneIsLost = () =>
  until(async () => {
    const seen = await rig.withJournal((journal) => new LostSagas(rig.temporal, journal).look());
    return isDeepStrictEqual(seen, oneIsLost);
  });
const run = ({ workflowId }: { workflowId: string }) => rig.temporal.workflow.getHandle(workflowId);
const recordIn = (workflow: WorkflowName, { reference }: { reference: string }) =>
  rig.withJournal((journal) => recordOf(journal, { workflow, reference }));

/** Past the client, as from the Web UI. */
async function startAnother({ workflow, workflowId, reference }: SagaHandle, input: unknown): Promise<SagaHandle> {
  await rig.temporal.workflow.start(workflow, { workflowId, taskQueue: 'order-saga', args: [input] });
  return new SagaHandle(rig.temporal, workflow, reference, '', true);
}

async function startAndCancelAtOnce(saga: SagaHandle, input: unknown): Promise<SagaHandle> {
  await rig.withoutWorkers(async () => {
    await startAnother(saga, input);
    await run(saga).cancel();
  });
  return new SagaHandle(rig.temporal, saga.workflow, saga.reference, '', true);
}

/** Terminated while it waits for a person. */
async function lost(request: ReturnType<typeof provisionRequest>): Promise<SagaHandle> {
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  await run(saga).terminate('a test');
  await untilOneIsLost();
  return saga;
}

it('does not end a saga whose servers are open', async () => {
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await lost(request);
  const { cancelled } = await outcomeOf(
    await startAndCancelAtOnce(saga, { ...request, firewalls: undefined, label: 'something else' }),
  );
  expect(cancelled).toMatchObject({ outcome: 'untouched', leftovers: [], known: {} });
  const [order] = ordersWithLabel(rig.sandbox.ledger, request.reference);
  expect(order?.vmObjectIds.map((id) => firewallsOf(rig.sandbox.ledger, id))).toEqual([[]]);
  expect(await recordIn('provisionServers', request)).toMatchObject({
    state: 'open',
    endings: [],
    leftovers: [{ kind: 'server-unprotected', firewalls: [143] }],
  });
  await untilOneIsLost();
});

it('deletes none of its cart items', async () => {
  const request = provisionRequest();
  const match = { planId: planIdOf(request.reference) };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match });
  const saga = await lost(request);
  const { cancelled } = await outcomeOf(await startAndCancelAtOnce(saga, { ...request, label: 'something else' }));
  expect(cancelled).toMatchObject({ outcome: 'untouched', leftovers: [] });
  expect(openCartItems(rig.sandbox.ledger)).toHaveLength(1);
  await untilOneIsLost();
});

it('does not end it where the journal could not be asked, and a person went on', async () => {
  const request = provisionRequest({ firewalls: [143] });
  rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await lost(request);
  const away = jest.spyOn(Journal.prototype, 'inTransaction').mockRejectedValue(new JournalUnavailable('a test'));
  const another = await startAndCancelAtOnce(saga, { ...request, label: 'something else' });
  await untilWaiting(another, 'stuck');
  await answer(another, 'skip', { note: 'the journal is away' });
  const { cancelled } = await outcomeOf(another);
  away.mockRestore();
  expect(cancelled).toMatchObject({ outcome: 'untouched', leftovers: [{ kind: 'placement-unknown' }] });
  await untilOneIsLost();
});

it('does not end a change of firewalls, where its own taking of the reference was lost with a worker', async () => {
  const request = firewallsRequest({ assign: [143], unassign: [1] });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [1] });
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  await run(saga).terminate('a test');
  await untilOneIsLost();
  const take = jest.spyOn(Journal.prototype, 'take').mockRejectedValue(new TypeError('the code broke'));
  const another = await startAnother(saga, { ...request, assign: [146] });
  await until(() => Promise.resolve(take.mock.calls.length > 0));
  await another.cancel();
  const { cancelled } = await outcomeOf(another);
  expect(cancelled).toMatchObject({ outcome: 'untouched', leftovers: [] });
  await untilOneIsLost();
});
