/**
 * A call that ends without a word of ours, as when its worker dies with it. Workers that do: test/integration/worker,
 * test/system/sweep.
 */
import { ordersWithLabel } from '../../../sandbox/sentences';
import { ProviderClient } from '../../../src/provider/client';
import { provisionRequest } from '../../support/requests';
import { Rig, until } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

it('that adds an item is made again, and what it may have left is told', async () => {
  jest.spyOn(ProviderClient.prototype, 'addCartItem').mockRejectedValueOnce(new Error('the worker is gone'));
  const saga = await rig.sagas.provision(provisionRequest());
  const why = 'a call to add it ended without an answer; look into the cart for an item of unknown id';
  expect(await saga.result()).toMatchObject({ leftovers: [{ kind: 'cart-item-unknown', item: 1, why }] });
  expect((await saga.progress()).steps[0]).toMatchObject({ status: 'done', attempts: 2 });
});

describe('that adds an item, and may have, is told where a person goes on without the journal', () => {
  const lacking = (ms: number | null) =>
    rig.withJournal(({ db }) => db.updateTable('journal').set({ put_back_ms: ms }).execute());
  const left = { kind: 'cart-item-unknown', item: 1 };
  afterEach(async () => {
    await lacking(null);
    rig.sandbox.faults.clear();
    jest.restoreAllMocks();
  });

  it.each([
    [
      'whose answer was lost',
      () => rig.sandbox.faults.add({ endpoint: 'add-cart-item', kind: 'reset-after', times: 1 }),
    ],
    [
      'whose worker was lost',
      () => jest.spyOn(ProviderClient.prototype, 'addCartItem').mockRejectedValueOnce(new Error('the worker is gone')),
    ],
  ])('one %s', async (_, loses) => {
    loses();
    rig.sandbox.faults.add({ endpoint: 'place-order', kind: 'unauthorized' });
    const saga = await rig.sagas.provision(provisionRequest());
    await untilWaiting(saga, 'stuck');
    await lacking(Date.now());
    await saga.cancel();
    await until(async () => (await saga.progress()).waiting?.step === 'read-journal');
    await answer(saga, 'skip', { note: 'the journal will not come back' });
    const { cancelled } = await outcomeOf(saga);
    expect(cancelled?.leftovers.filter(({ kind }) => kind === 'cart-item-unknown')).toMatchObject([left]);
  });
});

it('that places an order is looked up in the journal, and not made again: a person is asked', async () => {
  jest.spyOn(ProviderClient.prototype, 'placeOrder').mockRejectedValueOnce(new Error('the worker is gone'));
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  const { lastFailure } = await untilWaiting(saga, 'outcome-unknown');
  expect(lastFailure).toEqual({
    failure: 'UnknownOutcome',
    whose: 'us',
    message: expect.stringMatching(/^it was sent on .* by run .*, and its outcome is not known; nothing was sent now$/),
  });
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toEqual([]);
  await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
  await saga.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});
