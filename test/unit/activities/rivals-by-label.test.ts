/**
 * Two orders of one account, labels “web” and “web-2”, at the same time, and a directory that takes the label as a
 * search. The first order's own server is not listed yet.
 */
import { rigSettings } from '../../support/activity-settings';
import { LoneActivities } from './lone-activities';

let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start({ directory: { lag: 1_000 }, orderResponse: 'opaque' });
});
afterAll(() => stand.close());

// Of the sandbox, a parameter that it does not know finds all servers of the account.
const directory = {
  path: '/servers?account={account}&search={label}',
  pointers: ['/data/*/vm_object_id'],
  labelIsUnique: false,
};
const settings = { ...rigSettings, directory };
const account = 'AB-31';

async function ordered(label: string) {
  const saga = stand.saga({ settings });
  const item = {
    billing_cycle: 1 as const,
    plan_type: 'cloud_servers_standard' as const,
    plan_id: 17,
    os_template_id: 3,
    password: 'a password',
  };
  await saga.do('takeReference', {
    account,
    request: { reference: saga.key.reference, account, label, items: [item], firewalls: [143] },
  });
  const added = await saga.do('addCartItem', { step: 'add-cart-item-1', number: 1, item });
  await saga.do('placeOrder', {
    step: 'place-order',
    order: { account, label, cartItems: [added.value.cartItemId] },
    note: { foundBy: label },
  });
  return saga;
}

it('a server of the other order is not taken for its own', async () => {
  const first = await ordered('web');
  await ordered('web-2');
  // The second order's server comes up sooner.
  stand.sandbox.addServer({ vmObjectId: 31, account, label: 'web-2' });
  const asked = { account, label: 'web', expected: { least: 1, most: 1 } };
  expect(await first.refusal('findServers', asked)).toMatchObject({ failure: 'NotVisibleYet' });
});
