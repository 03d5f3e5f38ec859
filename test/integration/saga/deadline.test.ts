/** `notAfter`: nothing is sent after it but to undo, and no wait outlasts it. */
import Database from 'libsql';
import {
  callsTo,
  changeOrdersOf,
  firewallMoments,
  firewallsOf,
  neverLessProtected,
  ordersWithLabel,
  silentLeftovers,
} from '../../../sandbox/sentences';
import type { FaultSpec } from '../../../sandbox/faults';
import { SagaHandle } from '../../../src/client/handle';
import { failedCallsOf, resultsOf } from '../../support/events';
import { itInWays } from '../../support/left-out';
import { changeRequest, firewallsRequest, planIdOf, provisionRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/reset';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

const ordersOf = ({ reference }: { reference: string }) => ordersWithLabel(rig.sandbox.ledger, reference);
const callsOf = ({ reference }: { reference: string }) =>
  rig.sandbox.ledger.calls.filter(({ names }) => names.planId?.includes(planIdOf(reference)));
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
/** Long enough for what has to happen before it, on a busy machine. */
const afterAWhile = () => inMs(8_000);
const untilPast = (time: string) => until(async () => Date.now() > Date.parse(time));

function spoil(request: { reference: string }, fault: Omit<FaultSpec, 'match'>) {
  return rig.sandbox.faults.add({ ...fault, match: { planId: planIdOf(request.reference) } });
}

/** The saga has looked whether something was placed, when its time had passed. */
const untilLookedAt = (saga: SagaHandle) =>
  until(async () => (await resultsOf(rig.temporal.workflow.getHandle(saga.workflowId), 'readStanding')).length > 0);

async function expectPassed(saga: SagaHandle) {
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'DeadlinePassed', report: { outcome: 'reversed', leftovers: [] } });
  return failure!.report;
}

it('ends a wait for an approval, and nothing was sent', async () => {
  const request = provisionRequest({ approval: 'always', notAfter: inMs(1_500) });
  const report = await expectPassed(await rig.sagas.provision(request));
  expect(report.why).toMatch(/^not all was sent by .* UTC, and the request allows nothing after it$/);
  expect(callsOf(request)).toEqual([]);
});

itInWays('ends a saga that is held', async () => {
  await rig.sagas.hold({ note: 'the provider is down' });
  try {
    const request = provisionRequest({ notAfter: inMs(1_500) });
    await expectPassed(await rig.sagas.provision(request));
    expect(callsOf(request)).toEqual([]);
  } finally {
    await rig.sagas.release();
  }
});

itInWays('ends a wait at the order that was not placed, and takes the items out of the cart', async () => {
  const request = provisionRequest({ items: [{}, {}], notAfter: afterAWhile() });
  spoil(request, { endpoint: 'place-order', kind: 'unauthorized', times: 'all' });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'stuck');
  const { steps } = await expectPassed(saga);
  expect(steps.map(({ id, status }) => [id, status])).toEqual([
    ['add-cart-item-1', 'undone'],
    ['add-cart-item-2', 'undone'],
    ['place-order', 'stuck'],
  ]);
  expect(ordersOf(request)).toEqual([]);
  expect(silentLeftovers(rig.sandbox.ledger, [])).toEqual([]);
});

it('ends a backoff', async () => {
  const request = changeRequest({ notAfter: inMs(1_500) });
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'rate-limit', retryAfter: 50, match });
  await expectPassed(await rig.sagas.change(request));
  expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
});

itInWays('that passes while the order is in flight leaves the order, and its servers get their firewalls', async () => {
  const notAfter = afterAWhile();
  const request = provisionRequest({ firewalls: [143], notAfter });
  const gate = spoil(request, { endpoint: 'place-order', kind: 'gate', hold: 'after' });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await untilPast(notAfter);
  rig.sandbox.faults.release(gate);
  expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
  expect(ordersOf(request)).toHaveLength(1);
});

describe('of an order of which nobody knows', () => {
  async function untilPastAndAsked(kind: FaultSpec['kind']) {
    const request = { ...provisionRequest({ firewalls: [143] }), notAfter: afterAWhile() };
    spoil(request, { endpoint: 'place-order', kind });
    const saga = await rig.sagas.provision(request);
    const waiting = await untilWaiting(saga, 'outcome-unknown');
    await untilPast(request.notAfter);
    await untilLookedAt(saga);
    expect((await saga.progress()).waiting?.id).toBe(waiting.id);
    return { request, saga };
  }

  itInWays('goes on waiting; where it was placed, it goes forward', async () => {
    const { request, saga } = await untilPastAndAsked('reset-after');
    const [order] = ordersOf(request);
    await answer(saga, 'confirmPlaced', { note: 'seen', vmObjectIds: order?.vmObjectIds });
    expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
  });

  itInWays('goes on waiting; where it was not placed, it is not sent again', async () => {
    const { request, saga } = await untilPastAndAsked('error-before');
    await answer(saga, 'confirmNotPlaced', { note: 'not there' });
    await expectPassed(saga);
    expect(callsTo(rig.sandbox.ledger, 'place-order').filter((call) => callsOf(request).includes(call))).toHaveLength(
      1,
    );
    expect(ordersOf(request)).toEqual([]);
    expect(silentLeftovers(rig.sandbox.ledger, [])).toEqual([]);
  });

  itInWays('goes forward where “not placed” is said of what is known to be placed by now', async () => {
    const { request, saga } = await untilPastAndAsked('reset-after');
    const { reference } = request;
    const [order] = ordersOf(request);
    // As `cleanCart` does, or the late answer of a worker that stood still.
    await rig.withJournal(async (journal) => {
      const pivots = journal.db.selectFrom('effect').select('id').where('kind', '=', 'pivot');
      const { id } = await pivots.where('reference', '=', reference).executeTakeFirstOrThrow();
      const placed = { how: 'confirmed', vmObjectIds: order?.vmObjectIds };
      await journal.confirm({ workflow: 'provisionServers', reference }, id, placed, { note: 'seen' });
    });
    await answer(saga, 'confirmNotPlaced', { note: 'looked too early' });
    expect(await saga.result()).toMatchObject({ outcome: 'done', servers: [{ firewalls: [143], verified: true }] });
  });
});

describe('that passes while the journal cannot be asked', () => {
  const journalLocked = () => {
    const { file } = rig.journalAddress as { file: string };
    const database = new Database(file, { timeout: 10_000 });
    database.exec('begin immediate');
    return () => {
      database.exec('rollback');
      database.close();
    };
  };
  /** As often as a look is repeated by itself. */
  const untilLookedInVain = ({ workflowId }: SagaHandle) =>
    until(async () => (await failedCallsOf(rig.temporal.workflow.getHandle(workflowId), 'readStanding')) >= 3);

  itInWays('leaves the question what became of an order', async () => {
    const request = { ...provisionRequest({ firewalls: [143] }), notAfter: afterAWhile() };
    spoil(request, { endpoint: 'place-order', kind: 'reset-after' });
    const saga = await rig.sagas.provision(request);
    const { id } = await untilWaiting(saga, 'outcome-unknown');
    const unlock = journalLocked();
    try {
      await untilLookedInVain(saga);
      expect((await saga.progress()).waiting?.id).toBe(id);
    } finally {
      unlock();
    }
    const [order] = ordersOf(request);
    await answer(saga, 'confirmPlaced', { note: 'seen', vmObjectIds: order?.vmObjectIds });
    expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
  });

  itInWays('ends a wait once the journal has said that nothing is placed', async () => {
    const request = provisionRequest({ approval: 'always', notAfter: afterAWhile() });
    const saga = await rig.sagas.provision(request);
    const { id } = await untilWaiting(saga, 'approval');
    const unlock = journalLocked();
    try {
      await untilLookedInVain(saga);
      expect((await saga.progress()).waiting?.id).toBe(id);
    } finally {
      unlock();
    }
    await expectPassed(saga);
  });
});

itInWays('puts firewalls back as they were', async () => {
  const request = firewallsRequest({ unassign: [150], notAfter: afterAWhile() });
  const { vmObjectId } = request;
  rig.sandbox.addServer({ vmObjectId, firewalls: [150] });
  const match = { vmObjectId };
  rig.sandbox.faults.add({ endpoint: 'unassign-firewalls', kind: 'unauthorized', match });
  const saga = await rig.sagas.firewalls(request);
  await untilWaiting(saga, 'stuck');
  await expectPassed(saga);
  expect(firewallMoments(rig.sandbox.ledger, vmObjectId).length).toBeGreaterThan(1);
  expect(firewallsOf(rig.sandbox.ledger, vmObjectId)).toEqual([150]);
  expect(neverLessProtected(rig.sandbox.ledger, vmObjectId)).toBe(true);
});

it('that has passed before the start lets nothing be sent', async () => {
  const request = firewallsRequest({ notAfter: inMs(-1_000) });
  rig.sandbox.addServer({ vmObjectId: request.vmObjectId, firewalls: [] });
  await expectPassed(await rig.sagas.firewalls(request));
  expect(
    callsTo(rig.sandbox.ledger, 'assign-firewalls').filter(({ names }) =>
      names.vmObjectId?.includes(request.vmObjectId),
    ),
  ).toEqual([]);
});

itInWays('of an order that was placed before does not matter any more', async () => {
  const request = { ...provisionRequest({ firewalls: [143] }), notAfter: afterAWhile() };
  const first = await rig.sagas.provision(request);
  const result = (await first.result()) as object;
  await untilPast(request.notAfter);
  const workflowId = `provision/${request.reference}`;
  await rig.temporal.workflow.start('provisionServers', { workflowId, taskQueue: 'order-saga', args: [request] });
  expect(await (await rig.sagas.get(request.reference)).result()).toEqual(result);
  expect(ordersOf(request)).toHaveLength(1);
});

itInWays(
  'of an order that was placed in time as it was corrected does not matter to a run that was reset to before that',
  async () => {
    // For a refusal, a correction and an order.
    const notAfter = inMs(12_000);
    const request = provisionRequest({ onRefusal: 'ask', items: [{ quantity: 2 }], firewalls: [143], notAfter });
    spoil(request, { endpoint: 'place-order', kind: 'refuse-before' });
    rig.sandbox.faults.add({ endpoint: 'assign-firewalls', kind: 'unauthorized', times: 'all' });
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'refused');
    await answer(saga, 'retry', { correction: { quantity: 1 } });
    await untilWaiting(saga, 'stuck');
    await untilPast(notAfter);
    rig.sandbox.faults.clear();
    await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga))[1] ?? 0);
    const again = new SagaHandle(rig.temporal, 'provisionServers', request.reference, '', true);
    expect(await again.result()).toMatchObject({
      ...{ outcome: 'done', servers: [{ firewalls: [143], verified: true }], leftovers: [] },
    });
    expect(ordersOf(request)).toMatchObject([{ items: [{ quantity: 1 }] }]);
  },
);

itInWays('holds for a call that had to wait for its turn', async () => {
  await rig.replaceWorkers({ activitiesAtOnce: 1 });
  try {
    const other = provisionRequest();
    const gate = spoil(other, { endpoint: 'add-cart-item', kind: 'gate' });
    const request = { ...provisionRequest({ approval: 'always' as const }), notAfter: afterAWhile() };
    const saga = await rig.sagas.provision(request);
    await untilWaiting(saga, 'approval');
    const blocking = await rig.sagas.provision(other);
    await rig.sandbox.whenStruck(gate);
    await answer(saga, 'approve');
    await untilPast(request.notAfter);
    rig.sandbox.faults.release(gate);
    await expectPassed(saga);
    expect(callsOf(request)).toEqual([]);
    await blocking.result();
    expect(await stepOf(saga, 'add-cart-item-1')).toMatchObject({ status: 'failed' });
  } finally {
    await rig.replaceWorkers({});
  }
});
