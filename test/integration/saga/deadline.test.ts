/** `notAfter`: nothing is sent after it but to undo, and no wait outlasts it. */
import { changeOrdersOf } from '../../../sandbox/sentences';
import type { FaultSpec } from '../../../sandbox/faults';
import type { SagaHandle } from '../../../src/client/handle';
import { resultsOf } from '../../support/events';
import { changeRequest, planIdOf, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';
import { startRaw, terminate } from '../../support/web-ui';

const rig = rigForFile();

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
/** Long enough for what has to happen before it, on a busy machine. */
let notAfter = '';
const untilPast = (time: string) => until(async () => Date.now() > Date.parse(time));

function spoil(request: { reference: string }, fault: Omit<FaultSpec, 'match'>) {
  return rig.sandbox.faults.add({ ...fault, match: { planId: planIdOf(request.reference) } });
}

/** The saga has looked whether something was placed, when its time had passed. */
const untilLookedAt = (saga: SagaHandle) =>
  until(async () => (await resultsOf(rig.runOf(saga), 'readState')).length > 0);

async function expectPassed(saga: SagaHandle) {
  const { failure } = await outcomeOf(saga);
  expect(failure).toMatchObject({ type: 'DeadlinePassed', report: { outcome: 'reversed', leftovers: [] } });
  return failure!.report;
}

it('ends a wait for an approval, and nothing was sent', async () => {
  const request = provisionRequest({ approval: 'always', notAfter: inMs(1_500) });
  const report = await expectPassed(await rig.sagas.provision(request));
  expect(report.why).toMatch(/^not all was sent by .* UTC, and the request allows nothing after it$/);
  expect(rig.callsOf(request)).toEqual([]);
});

it('ends a backoff', async () => {
  const request = changeRequest({ notAfter: inMs(1_500) });
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'rate-limit', retryAfter: 50, match });
  await expectPassed(await rig.sagas.change(request));
  expect(changeOrdersOf(rig.sandbox.ledger, request.subscription_id)).toEqual([]);
});

/** All of them wait for the same time, side by side. */
const scenes: [string, () => Promise<void>][] = [
  [
    'while the order is in flight leaves the order, and its servers get their firewalls',
    async () => {
      const request = provisionRequest({ firewalls: [143], notAfter });
      const gate = spoil(request, { endpoint: 'place-order', kind: 'gate', hold: 'after' });
      const saga = await rig.sagas.provision(request);
      await rig.sandbox.whenStruck(gate);
      await untilPast(notAfter);
      rig.sandbox.faults.release(gate);
      expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
      expect(rig.ordersOf(request)).toHaveLength(1);
    },
  ],
  [
    'while nobody knows of the order goes on waiting; where it was placed, it goes forward',
    async () => {
      const request = provisionRequest({ firewalls: [143], notAfter });
      spoil(request, { endpoint: 'place-order', kind: 'reset-after' });
      const saga = await rig.sagas.provision(request);
      const waiting = await untilWaiting(saga, 'outcome-unknown');
      await untilPast(notAfter);
      await untilLookedAt(saga);
      expect((await saga.progress()).waiting?.id).toBe(waiting.id);
      await answer(saga, 'confirmPlaced', { note: 'seen', vmObjectIds: rig.serversOf(request) });
      expect(await saga.result()).toMatchObject({ servers: [{ firewalls: [143], verified: true }] });
    },
  ],
  [
    'after the order was placed does not matter any more',
    async () => {
      const request = provisionRequest({ firewalls: [143], notAfter });
      const result = await (await rig.sagas.provision(request)).result();
      await untilPast(notAfter);
      expect(await (await startRaw(rig, 'provisionServers', request)).result()).toEqual(result);
      expect(rig.ordersOf(request)).toHaveLength(1);
    },
  ],
];
let passed: Promise<PromiseSettledResult<void>[]>;
beforeAll(() => {
  notAfter = inMs(8_000);
  passed = Promise.allSettled(scenes.map(([, scene]) => scene()));
});
it.each(scenes.map(([title], index) => [title, index] as const))('that passes %s', async (_title, index) => {
  const scene = (await passed)[index];
  if (scene?.status === 'rejected') throw scene.reason;
});

it('that passes while nobody knows of a change ends the wait once a person says “not placed”', async () => {
  const notAfter = inMs(6_000);
  const request = changeRequest({ approval: 'always', notAfter });
  const match = { subscriptionId: request.subscription_id };
  rig.sandbox.faults.add({ endpoint: 'place-change-order', kind: 'reset-before', match });
  const first = await rig.sagas.change(request);
  await untilWaiting(first, 'approval');
  await answer(first, 'approve');
  await untilWaiting(first, 'outcome-unknown');
  await terminate(rig.temporal, first);
  const saga = await startRaw(rig, 'changeOrder', request);
  await untilWaiting(saga, 'outcome-unknown');
  await untilPast(notAfter);
  await untilLookedAt(saga);
  await answer(saga, 'confirmNotPlaced', { note: 'looked' });
  await expectPassed(saga);
});
