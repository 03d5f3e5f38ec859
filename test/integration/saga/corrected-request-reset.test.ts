/**
 * What a person has corrected holds for the reference, whichever run goes on: reset to before it, started again, or
 * told what it was.
 */
import { callsTo, orders } from '../../../sandbox/sentences';
import { recordSchema } from '../../../src/domain/record';
import { recordOf } from '../../../src/journal/record';
import { describeTimeline } from '../../../src/cli/print-record';
import { provisionRequest } from '../../support/requests';
import { workflowTasksOf } from '../../support/reset';
import { rigForFile } from '../../support/rig';
import { answer, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const ordersOf = ({ account }: { account: string }) =>
  orders(rig.sandbox.ledger).filter((order) => order.account === account);
const secret = 'a new password';

/** Refused, corrected, and then stuck: its item is in the cart as it was corrected, and nothing is ordered. */
async function corrected() {
  const request = provisionRequest({ onRefusal: 'ask', items: [{ quantity: 3 }] });
  const match = { account: request.account };
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'refuse-before', match });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', nth: 2, match });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'refused');
  const before = (await workflowTasksOf(rig.temporal, saga)).length;
  const correction = { quantity: 1, password: secret };
  await answer(saga, 'retry', { by: 'op', note: 'out of stock', correction });
  await untilWaiting(saga, 'stuck');
  expect(rig.openItems(request)).toMatchObject([{ item: { quantity: 1, password: secret } }]);
  return { request, saga, before };
}

const asCorrected = { items: [{ quantity: 1, password: secret }] };

it('ended from outside and started again, it orders what was corrected, and adds nothing anew', async () => {
  const { request, saga } = await corrected();
  const adds = () => callsTo(rig.sandbox.ledger, 'add-cart-item').length;
  const before = adds();
  await rig.temporal.workflow.getHandle(saga.workflowId).terminate();
  // As somebody does who knows nothing of corrections: with the same request.
  await rig.temporal.workflow.start('provisionServers', {
    ...{ workflowId: saga.workflowId, taskQueue: 'order-saga', args: [request] },
  });
  expect(await rig.latest('provisionServers', request).result()).toMatchObject({ outcome: 'done', decisions: [] });
  expect(adds()).toBe(before);
  expect(ordersOf(request)).toMatchObject([asCorrected]);
});

it('stands in the record, with who made it, and without the secret', async () => {
  const { request, saga } = await corrected();
  await answer(saga, 'retry');
  await saga.result();
  const record = await rig.withJournal((journal) =>
    recordOf(journal, { workflow: 'provisionServers', reference: request.reference }),
  );
  expect(recordSchema.parse(record)).toMatchObject({
    request: { items: [{ quantity: 3 }] },
    corrections: [
      {
        ...{ run: saga.runId, step: 'place-order', by: 'op', note: 'out of stock' },
        correction: { items: [1], quantity: 1, password: '[redacted]' },
      },
    ],
    decisions: [{ kind: 'refused', correction: { quantity: 1, password: '[redacted]' } }, { kind: 'stuck' }],
  });
  const adds = record!.effects.filter(({ kind }) => kind === 'mutate');
  expect(adds.map(({ outcome, about }) => [outcome, about.corrected])).toEqual([
    ['undone', undefined],
    ['done', 1],
  ]);
  const lines = describeTimeline(record!);
  const line = lines.findIndex((text) => text.includes('  corrected   place-order: {"items":[1],'));
  expect(lines[line]).toContain('"quantity":1');
  expect(lines[line]).toContain('by op: out of stock');
  expect(lines.join('\n')).not.toContain(secret);
  // After the refusal, and before what it has led to.
  expect(lines.findIndex((text) => text.includes('not-done') && text.includes('Rejected'))).toBeLessThan(line);
  expect(lines.findIndex((text) => text.includes('(undo)'))).toBeGreaterThan(line);
});
