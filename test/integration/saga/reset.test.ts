/**
 * A reset goes on from what is known: what the journal has is used and not done again; a person is asked only about
 * what the journal itself does not know. Reset offers every finished workflow task; all of them are tried.
 */
import { provisionRequest } from '../../support/requests';
import { resetTo, workflowTasksOf } from '../../support/web-ui';
import { rigForFile, until } from '../../support/rig';
import { answer, stepOf, untilAnother, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true, onPostgres: true });

/** Back to the beginning, or to a later workflow task. */
async function resetToTask(saga: { workflowId: string }, task = 0): Promise<void> {
  await resetTo(rig.temporal, saga, (await workflowTasksOf(rig.temporal, saga)).at(task) ?? 0);
}

// A change and a switch are reset in test/system/second-orders/every-copy.test.ts.
it('from whichever point, of a saga that is done: nobody is asked, and nothing is placed again', async () => {
  const request = provisionRequest({ items: [{}, {}], firewalls: [143] });
  const saga = await rig.sagas.provision(request);
  const first = await saga.result();
  const { runId } = await saga.describe();
  const { workflowId } = saga;
  const points = await workflowTasksOf(rig.temporal, { workflowId, runId });
  expect(points.length).toBeGreaterThan(2);
  for (const point of points) {
    await resetTo(rig.temporal, { workflowId, runId }, point);
    expect(await rig.latest('provisionServers', request).result()).toEqual(first);
  }
  expect(rig.ordersOf(request)).toHaveLength(1);
  expect(rig.callsOf(request, 'add-cart-item')).toHaveLength(2);
}, 120_000);

it('while the order is under way, waits for its answer and uses it', async () => {
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'gate', hold: 'after' });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await resetToTask(saga);
  const again = rig.latest('provisionServers', request);
  await until(async () => (await stepOf(again, 'place-order'))?.detail?.includes('may still be in flight'));
  rig.sandbox.faults.release(gate);
  expect(await again.result()).toMatchObject({ order: { order_id: expect.any(Number) as number }, decisions: [] });
  expect(rig.ordersOf(request)).toHaveLength(1);
});

it('does not take a word that was given before: a reset sends decisions again', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-before', match: { label: request.label }, nth: 1 });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga, 'outcome-unknown');
  await resetToTask(saga);
  const again = rig.latest('provisionServers', request);
  const waiting = await untilWaiting(again, 'outcome-unknown');
  const said = { question: waiting.id, by: 'op', note: 'the panel shows none' };
  // Twice lost: each time it is another call, and so another question.
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after', match: { label: request.label } });
  await answer(again, 'confirmNotPlaced', { note: said.note });
  await untilAnother(again, waiting.id, 'outcome-unknown');
  await resetToTask(rig.latest('provisionServers', request), -1);
  const third = rig.latest('provisionServers', request);
  const { id } = await untilWaiting(third, 'outcome-unknown');
  expect(id).not.toBe(waiting.id);
  await expect(answer(third, 'confirmNotPlaced', said)).rejects.toThrow(/is not the one that waits now/);
  await answer(third, 'confirmPlaced', { note: 'it is there now' });
  await third.result();
  expect(rig.ordersOf(request)).toHaveLength(1);
});
