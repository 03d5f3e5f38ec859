/** A call that ends without a word of ours, as when its worker dies with it. Workers that do: test/worker, test/sweep. */
import { ordersWithLabel } from '../../sandbox/sentences';
import { ProviderClient } from '../../src/provider/client';
import { provisionRequest } from '../support/requests';
import { Rig } from '../support/rig';
import { answer, untilWaiting } from '../support/sagas';

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

it('that places an order is looked up in the journal, and not made again: a person is asked', async () => {
  jest.spyOn(ProviderClient.prototype, 'placeOrder').mockRejectedValueOnce(new Error('the worker is gone'));
  const request = provisionRequest();
  const saga = await rig.sagas.provision(request);
  const { lastFailure } = await untilWaiting(saga, 'outcome-unknown');
  expect(lastFailure).toEqual({
    failure: 'UnknownOutcome',
    whose: 'us',
    message: expect.stringMatching(
      /^it was sent on .* by run .*, and what became of it is not known; nothing was sent now$/,
    ),
  });
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toEqual([]);
  await answer(saga, 'confirmNotPlaced', { note: 'the panel shows none' });
  await saga.result();
  expect(ordersWithLabel(rig.sandbox.ledger, request.reference)).toHaveLength(1);
});
