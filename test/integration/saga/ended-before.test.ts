/**
 * Ended stays ended. A second start under a reference that has ended, and a run that a restored Temporal has gone back
 * to, tell the recorded ending and send nothing; only a reset goes on.
 */
import { randomUUID } from 'node:crypto';
import type { SagaHandle } from '../../../src/client/handle';
import { deleteRun } from '../../support/web-ui';
import { changeRequest, firewallsRequest, provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilState, untilWaiting, type Ended } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const started = (workflow: Parameters<typeof rig.sagas.start>[0], request: object) =>
  rig.sagas.start<typeof workflow>(workflow, request);

/** Temporal forgets it; then the same request comes again. */
async function againWhenForgotten(saga: SagaHandle, request: object) {
  await deleteRun(rig.temporal, saga);
  const calls = rig.sandbox.ledger.calls.length;
  const again = await started(saga.workflow, request);
  return { again, outcome: await outcomeOf(again), sent: rig.sandbox.ledger.calls.slice(calls) };
}

// An order, a change and a switch: test/system/second-orders/forgotten.test.ts.
const ways: [string, Parameters<typeof rig.sagas.start>[0], () => object][] = [
  ['a mere quote', 'changeOrder', () => changeRequest({ quoteOnly: true })],
  ['a change of firewalls', 'setFirewalls', () => firewallsRequest()],
];

it.each(ways)('%s that is done is told again, with the same result', async (_, workflow, make) => {
  const request = make();
  const saga = await started(workflow, request);
  const result = await saga.result();
  const { outcome, sent, again } = await againWhenForgotten(saga, request);
  expect({ outcome, sent }).toEqual({ outcome: { result }, sent: [] });
  expect((await stepOf(again, 'take-reference'))?.detail).toMatch(/^ended on .*: nothing is done any more$/);
});

it('an order that was refused is not ordered: “nothing was placed” was told', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match: { label: request.label } });
  const saga = await started('provisionServers', request);
  const first = await outcomeOf(saga);
  expect(first.failure).toMatchObject({ type: 'OrderRejected', report: { outcome: 'reversed' } });
  const { outcome, sent } = await againWhenForgotten(saga, request);
  expect({ outcome, sent }).toEqual({ outcome: first, sent: [] });
});

it('one that was cancelled while it was held, and had not begun, says so, too', async () => {
  const request = provisionRequest();
  await rig.sagas.hold({ note: 'a test' });
  const saga = await started('provisionServers', request);
  await untilState(saga, 'held');
  await saga.cancel();
  const { cancelled: report } = await outcomeOf(saga);
  expect(report).toMatchObject({ outcome: 'reversed', leftovers: [] });
  await rig.sagas.release();
  const { outcome, sent } = await againWhenForgotten(saga, request);
  expect({ outcome, sent }).toEqual({ outcome: { failure: { type: 'CancelledBefore', report } }, sent: [] });
});

describe('a run that Temporal has gone back to, because it was restored', () => {
  /** What was written in the time that Temporal has lost. */
  async function endsInLostTime(saga: SagaHandle, ended: Ended): Promise<void> {
    const { workflow, reference } = saga;
    const { runId: run } = await saga.describe();
    const { report } = ended.failure ?? {};
    await rig.withJournal((journal) =>
      journal.ended(
        { workflow, reference },
        {
          ...{ run, by: workflow, outcome: 'reversed' },
          report: { ended: 'OrderRejected', report },
        },
      ),
    );
  }

  it.each([
    ['when it goes on', (saga: SagaHandle) => answer(saga, 'retry')],
    ['when it is cancelled', (saga: SagaHandle) => saga.cancel()],
  ])('tells what was recorded, and orders nothing, %s', async (_, goOn) => {
    const request = provisionRequest();
    const { faults } = rig.sandbox;
    const fault = faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
    const saga = await started('provisionServers', request);
    await untilWaiting(saga, 'stuck');
    const { steps, reference, workflow } = await saga.progress();
    const why = `it was refused ${randomUUID()}`;
    const report = { reference, workflow, outcome: 'reversed' as const, why, steps, known: {} };
    const recorded = { type: 'OrderRejected', report: { ...report, leftovers: [], ignored: [], decisions: [] } };
    await endsInLostTime(saga, { failure: recorded });
    faults.lift(fault);
    await goOn(saga);
    await until(async () => (await saga.describe()).status.name !== 'RUNNING' || undefined);
    expect((await outcomeOf(saga)).failure).toEqual(recorded);
    expect(rig.ordersOf(request)).toEqual([]);
  });
});
