/**
 * A job where payloads are encrypted: one that was started in the clear from the Web UI is taken, and what it sends is
 * encrypted.
 */
import { Client } from '@temporalio/client';
import type { JobReport } from '../../../src/domain/job-report';
import { parsePayloadKeys } from '../../../src/security/keys';
import { doubtfulSagas, stuckSagas } from '../../support/bad-night';
import { newKey } from '../../support/codec-calls';
import { Rig } from '../../support/rig';
import { outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start({ payloadKeys: parsePayloadKeys(`k1:${newKey()}`) });
});
afterAll(() => rig.close());

const canary = 'geheim-nur-notiz';

/** As the Web UI starts it, without a codec server. */
async function startInTheClear(name: string, request: object): Promise<JobReport> {
  const inTheClear = new Client({ connection: rig.temporal.connection, namespace: rig.namespace });
  const workflowId = `decide-many/${name}`;
  await inTheClear.workflow.start('decideMany', { workflowId, taskQueue: 'order-saga', args: [request] });
  return (await rig.sagas.job(workflowId)).report();
}

/** Everything that Temporal keeps of the saga, as text. */
async function historyOf(workflowId: string): Promise<string> {
  const { events } = await rig.temporal.workflow.getHandle(workflowId).fetchHistory();
  return JSON.stringify(events, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
}

it('retries by a filter', async () => {
  const sagas = await stuckSagas(rig, 3);
  rig.sandbox.faults.clear();
  const asked = { decision: 'retry', where: 'SagaStep="place-change-order"', note: canary, perSecond: 50, pageSize: 2 };
  expect((await startInTheClear('query', asked)).counts).toMatchObject({ taken: 3 });
  for (const saga of sagas) {
    expect(await outcomeOf(saga)).toMatchObject({
      result: { decisions: [{ note: `${canary} (decide-many/query)` }] },
    });
    expect(await historyOf(saga.workflowId)).not.toContain(canary);
  }
});

it('settles by evidence', async () => {
  const [saga] = await doubtfulSagas(rig, 1, 1);
  const waiting = await untilWaiting(saga!);
  const evidence = [{ reference: saga!.reference, question: waiting.id, placed: true }];
  expect((await startInTheClear('evidence', { evidence, note: canary })).counts).toMatchObject({ taken: 1 });
  expect(await outcomeOf(saga!)).toHaveProperty('result');
  expect(await historyOf(saga!.workflowId)).not.toContain(canary);
});

it('tells what is wrong, and why a saga refused, also where failures are encrypted', async () => {
  const [saga] = await doubtfulSagas(rig, 1, 0);
  const { id } = await untilWaiting(saga!);
  const line = { reference: saga!.reference, question: id, placed: true, vmObjectIds: [1] };
  await expect(startInTheClear('wrong', { evidence: [{ ...line, question: 7 }], note: 'x' })).rejects.toThrow(
    /line 1: question: must be a string/,
  );
  const report = await startInTheClear('refused', { evidence: [line], note: 'x' });
  expect(report.refused).toEqual([
    { why: expect.stringContaining('this step brings no servers') as string, sagas: [saga!.workflowId] },
  ]);
  const moved = await startInTheClear('moved', { evidence: [{ ...line, question: 'ffffffff' }], note: 'x' });
  expect(moved.movedOn).toEqual([saga!.workflowId]);
});
