/**
 * A job where payloads are encrypted: one that was started in the clear from the Web UI is taken, and what it sends is
 * encrypted.
 */
import { Client } from '@temporalio/client';
import type { JobReport } from '../../../src/domain/decide-many';
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
const words = { by: 'ann', note: canary, perSecond: 50 };

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
  const sagas = await stuckSagas(rig, 2);
  rig.sandbox.faults.clear();
  const asked = { ...words, decision: 'retry', where: 'SagaStep="place-change-order"' };
  expect((await startInTheClear('filter', asked)).counts).toMatchObject({ taken: 2 });
  for (const saga of sagas) {
    expect(await outcomeOf(saga)).toMatchObject({
      result: { decisions: [{ note: `${canary} (decide-many/filter)` }] },
    });
    expect(await historyOf(saga.workflowId)).not.toContain(canary);
  }
});

it('settles by lines; tells what is wrong, and why a saga refused, also where failures are encrypted', async () => {
  const [saga] = await doubtfulSagas(rig, 1, 1);
  const { id: question } = await untilWaiting(saga!);
  const line = { saga: saga!.workflowId, decision: 'confirmPlaced', question };
  const wrong = { ...words, decisions: [{ ...line, question: 7 }] };
  await expect(startInTheClear('wrong', wrong)).rejects.toThrow(/line 1: confirmPlaced: question: /);
  const report = await startInTheClear('refused', { ...words, decisions: [{ ...line, vmObjectIds: [1] }] });
  const why = expect.stringContaining('this step brings no servers') as string;
  expect(report.refused).toEqual([{ why, sagas: [saga!.workflowId] }]);
  const moved = await startInTheClear('moved', { ...words, decisions: [{ ...line, question: 'ffffffff' }] });
  expect(moved.movedOn).toEqual([saga!.workflowId]);
  expect((await startInTheClear('right', { ...words, decisions: [line] })).counts).toMatchObject({ taken: 1 });
  expect(await outcomeOf(saga!)).toHaveProperty('result');
  expect(await historyOf(saga!.workflowId)).not.toContain(canary);
});
