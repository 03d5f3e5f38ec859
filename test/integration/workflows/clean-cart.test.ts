import { provisionRequest } from '../../support/requests';
import { rigForFile, until } from '../../support/rig';
import { answer, outcomeOf, stepOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ clears: true });

const openItemsOf = (reference: string) => rig.openItems({ reference }).map(({ cartItemId }) => cartItemId);

/** A run that was terminated while its order was of unknown outcome. */
async function terminated(kind: 'reset-before' | 'reset-after') {
  const request = provisionRequest({ items: [{}, {}] });
  rig.sandbox.faults.add({ endpoint: 'place-order', kind, match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga);
  await rig.runOf(saga).terminate('pressed the wrong button');
  return request;
}

it.each(['reset-before', 'reset-after'] as const)(
  'asks about items whose order may have been placed (%s)',
  async (kind) => {
    const { reference } = await terminated(kind);
    const saga = await rig.sagas.clean(reference);
    const { question, ...waiting } = await untilWaiting(saga);
    expect(waiting).toMatchObject({ kind: 'outcome-unknown', step: 'settle-order' });
    expect(question).toMatch(
      /^It is not known whether the provider placed the order, .* \(account AB-\d+, label “.+”, cart items \d+, \d+\): is it there\?/,
    );
    const settling = () => stepOf(saga, 'settle-order');
    expect(await settling()).toMatchObject({ status: 'stuck', title: 'Learn whether the order was placed' });
    await expect(answer(saga, 'confirmPlaced', { note: 'seen', vmObjectIds: [1] })).rejects.toThrow(
      'vmObjectIds: this step brings no servers; leave it out',
    );
    const placed = rig.ordersOf({ reference }).length === 1;
    await answer(saga, placed ? 'confirmPlaced' : 'confirmNotPlaced', { note: 'looked into the panel' });
    const result = await saga.result();
    expect(await settling()).toMatchObject({ status: 'done', detail: placed ? 'it was placed' : 'it was not placed' });
    expect(placed ? result.leftAlone : result.deleted).toHaveLength(2);
    expect(placed ? result.deleted : result.leftAlone).toEqual([]);
    expect(openItemsOf(reference)).toEqual([]);
  },
);

it('deletes what such a call has added, once its answer is written down', async () => {
  const request = provisionRequest();
  const gate = rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'gate', hold: 'after' });
  const saga = await rig.sagas.provision(request);
  await rig.sandbox.whenStruck(gate);
  await rig.runOf(saga).terminate();
  rig.sandbox.faults.release(gate);
  await until(() =>
    rig.withJournal(async ({ db }) => {
      const rows = await db.selectFrom('effect').select('outcome').where('reference', '=', request.reference).execute();
      return rows.some(({ outcome }) => outcome === 'done');
    }),
  );
  expect(await (await rig.sagas.clean(request.reference)).result()).toMatchObject({
    deleted: [expect.any(Number)],
    leftovers: [],
  });
  expect(openItemsOf(request.reference)).toEqual([]);
});

it('touches nothing of a saga that is still running', async () => {
  const request = provisionRequest();
  rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized', match: { label: request.label } });
  const saga = await rig.sagas.provision(request);
  await untilWaiting(saga);
  const { failure } = await outcomeOf(await rig.sagas.clean(request.reference));
  expect(failure).toMatchObject({ type: 'InvalidRequest', report: { why: expect.stringMatching(/still running/) } });
  expect(openItemsOf(request.reference)).toHaveLength(1);
  await answer(saga, 'retry');
  await saga.result();
});

it('touches nothing of a saga that is done', async () => {
  const request = provisionRequest();
  await (await rig.sagas.provision(request)).result();
  expect(await (await rig.sagas.clean(request.reference)).result()).toMatchObject({ deleted: [], leftovers: [] });
});
