/** When the server directory is asked, and what is taken for an answer. */
import type { FindServers } from '../../../src/activities/orders';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { LoneActivities } from './lone-activities';

let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start({ directory: { lag: 0 } });
  stand.sandbox.addServer({ vmObjectId: 31, account: 'AB-31', label: 'theirs' });
});
afterAll(() => stand.close());

const asked = () => stand.sent('find-servers');
const wanted: FindServers = { account: 'AB-31', label: 'theirs', expected: { least: 1, most: 1 } };

const settingsFor = (path: string, labelIsUnique: boolean) => ({
  settings: { ...rigSettings, directory: { path, pointers: ['/data/*/vm_object_id'], labelIsUnique } },
});
const sagaWith = ({ path = '/servers?account={account}&label={label}', labelIsUnique = true } = {}) =>
  stand.saga(settingsFor(path, labelIsUnique));

it.each<[string, FindServers, Parameters<typeof sagaWith>[0]]>([
  ['for the servers of a placed order', wanted, { labelIsUnique: false }],
  ['by the account alone', { ...wanted, label: undefined }, { path: '/servers?account={account}' }],
  ['whether an order was placed, by a label that is its own', { ...wanted, settles: true }, {}],
])('it is asked %s', async (_, input, directory) => {
  const before = asked();
  expect(await sagaWith(directory).do('findServers', input)).toEqual([31]);
  expect(asked()).toBe(before + 1);
});

it.each<[string, FindServers, Parameters<typeof sagaWith>[0]]>([
  ['by a label where there is none', { ...wanted, label: undefined }, {}],
  [
    'whether an order was placed, where others may have its label',
    { ...wanted, settles: true },
    { labelIsUnique: false },
  ],
  [
    'whether an order without a label was placed',
    { ...wanted, label: undefined, settles: true },
    { path: '/servers?account={account}' },
  ],
])('it is not asked %s', async (_, input, directory) => {
  const before = asked();
  expect(await sagaWith(directory).do('findServers', input)).toEqual([]);
  expect(asked()).toBe(before);
});

it('other servers than were ordered are no answer', async () => {
  expect(await sagaWith().refusal('findServers', { ...wanted, expected: { least: 2, most: 2 } })).toMatchObject({
    failure: 'NotVisibleYet',
    message: expect.stringMatching(/lists 1 of 2 servers/) as string,
  });
});

it('a server of another order is not taken for its own: of “web-2” for “web”, while its own is not listed yet', async () => {
  const own = await LoneActivities.start({ directory: { lag: 1_000 }, orderResponse: 'opaque' });
  // Of the sandbox, a parameter that it does not know finds all servers of the account: the label is a search.
  const path = '/servers?account={account}&search={label}';
  const account = 'AB-31';
  const ordered = async (label: string) => {
    const saga = own.saga(settingsFor(path, false));
    const item = cartItem();
    const request = { reference: saga.key.reference, account, label, items: [item], firewalls: [143] };
    await saga.do('takeReference', { account, request });
    const added = await saga.do('addCartItem', { step: 'add-cart-item-1', number: 1, item });
    const order = { account, label, cartItems: [added.value.cartItemId] };
    await saga.do('placeOrder', { step: 'place-order', order, note: { foundBy: label } });
    return saga;
  };
  try {
    const first = await ordered('web');
    await ordered('web-2');
    // The second order's server comes up sooner.
    own.sandbox.addServer({ vmObjectId: 31, account, label: 'web-2' });
    const asked = { account, label: 'web', expected: { least: 1, most: 1 } };
    expect(await first.refusal('findServers', asked)).toMatchObject({ failure: 'NotVisibleYet' });
  } finally {
    await own.close();
  }
});
