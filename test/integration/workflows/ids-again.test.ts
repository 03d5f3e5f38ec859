/** The provider gives the id of a cart item again: an undo that is tried again deletes no item of another reference. */
import { ordersWithLabel } from '../../../sandbox/sentences';
import { provisionRequest } from '../../support/requests';
import { rigForFile } from '../../support/rig';
import { answer, outcomeOf, untilWaiting } from '../../support/sagas';

const rig = rigForFile({ compares: false });

it('the item of a younger reference stays, and is told', async () => {
  const { orders } = (rig.sandbox as unknown as { provider: { orders: { nextCartItemId: number } } }).provider;
  const cartItemId = orders.nextCartItemId;
  const [a, b] = [provisionRequest(), provisionRequest()];
  rig.sandbox.faults.add({ endpoint: 'place-order', match: { account: a.account }, kind: 'refuse-before' });
  // It is deleted, and the answer is lost, until a person is asked.
  rig.sandbox.faults.add({ endpoint: 'delete-cart-item', match: { cartItemId }, kind: 'reset-after', times: 3 });
  const older = await rig.sagas.provision(a);
  await untilWaiting(older, 'stuck');
  orders.nextCartItemId = cartItemId;
  rig.sandbox.faults.add({ endpoint: 'place-order', match: { account: b.account }, kind: 'unauthorized' });
  const younger = await rig.sagas.provision(b);
  await untilWaiting(younger, 'stuck');
  await answer(older, 'retry');
  expect((await outcomeOf(older)).failure?.report.leftovers).toMatchObject([
    { kind: 'cart-item', cartItemId, why: expect.stringContaining(`an item of ${b.reference}`) },
  ]);
  rig.sandbox.configure({ closedCartItems: 'refuse' });
  await answer(younger, 'retry');
  await younger.result();
  expect(ordersWithLabel(rig.sandbox.ledger, b.label)).toHaveLength(1);
});
