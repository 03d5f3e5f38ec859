/** When the server directory is asked, and what is taken for an answer. */
import type { FindServers } from '../../../src/activities/orders';
import { rigSettings } from '../../support/activity-settings';
import { cartItem } from '../../support/requests';
import { LoneActivities, stand, standAlone } from './lone-activities';

standAlone({ directory: { lag: 0 } });
beforeAll(() => {
  stand.sandbox.addServer({ vmObjectId: 31, account: 'AB-31', label: 'theirs' });
});

const asked = () => stand.sent('find-servers');
const wanted: FindServers = { account: 'AB-31', label: 'theirs', expected: { least: 1, most: 1 } };

const servers = '/data/*/vm_object_id';
const settingsFor = (path: string, labelIsUnique: boolean, labels = '/data/*/label') => ({
  settings: { ...rigSettings, profile: { directory: { path, servers, labelIsUnique, ...(labels && { labels }) } } },
});
const sagaWith = ({ path = '/servers?account={account}&label={label}', labelIsUnique = true } = {}) =>
  stand.saga(settingsFor(path, labelIsUnique));

const byAccount = { path: '/servers?account={account}' };
const noLabel = { label: undefined };
it.each<[boolean, string, Partial<FindServers>, Parameters<typeof sagaWith>[0]]>([
  [true, 'for the servers of a placed order', {}, { labelIsUnique: false }],
  [true, 'by the account alone', noLabel, byAccount],
  [true, 'whether an order was placed, by a label that is its own', { settles: true }, {}],
  [false, 'by a label where there is none', noLabel, {}],
  [false, 'whether an order was placed, where others may have its label', { settles: true }, { labelIsUnique: false }],
  [false, 'whether an order without a label was placed', { ...noLabel, settles: true }, byAccount],
])('it is asked (%s) %s', async (isAsked, _, changes, directory) => {
  const before = asked();
  expect(await sagaWith(directory).do('findServers', { ...wanted, ...changes })).toEqual(isAsked ? [31] : []);
  expect(asked() - before).toBe(isAsked ? 1 : 0);
});

it('other servers than were ordered are no answer', async () => {
  expect(await sagaWith().refusal('findServers', { ...wanted, expected: { least: 2, most: 2 } })).toMatchObject({
    failure: 'NotVisibleYet',
    message: expect.stringMatching(/lists 1 of 2 servers/) as string,
  });
});

it('what a directory finds that searches for a part of the label is not its own', async () => {
  stand.sandbox.addServer({ vmObjectId: 41, account: 'AB-41', label: 'web-10' });
  // The sandbox ignores a parameter that it does not know.
  const saga = sagaWith({ path: '/servers?account={account}&search={label}' });
  const asked = { account: 'AB-41', label: 'web-1', expected: { least: 1, most: 1 }, settles: true };
  expect(await saga.refusal('findServers', asked)).toMatchObject({ failure: 'NotVisibleYet' });
});

it('a server of “web-2” is not taken for one of “web” while that is not listed yet', async () => {
  const own = await LoneActivities.start({ directory: { lag: 1_000 }, orderResponse: 'opaque' });
  // The sandbox ignores a parameter that it does not know: the label is a search.
  const path = '/servers?account={account}&search={label}';
  const account = 'AB-31';
  const ordered = async (label: string) => {
    const saga = own.saga(settingsFor(path, false, ''));
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

it.each<[object, object]>([
  [{ vm_object_ids: [] }, { pointsNowhere: true }],
  [{ vm_object_ids: [7, '7'] }, { pointsNowhere: true }],
  [{}, { pointsNowhere: true }],
  [{ vm_object_ids: [7, '8'] }, { vmObjectIds: [7, 8] }],
])('an order that answers %j is placed, and says of its servers %j', async (named, says) => {
  const saga = stand.saga({ settings: { ...rigSettings, profile: { order: { servers: '/vm_object_ids' } } } });
  stand.sandbox.configure({ orderResponse: () => named });
  const [account, item] = ['AB-33', cartItem()];
  await saga.do('takeReference', { account, request: { reference: saga.key.reference, account, items: [item] } });
  const added = await saga.do('addCartItem', { step: 'add-cart-item-1', number: 1, item });
  const order = { account, cartItems: [added.value.cartItemId] };
  const { value } = await saga.do('placeOrder', { step: 'place-order', order, note: { foundBy: 'AB-33' } });
  expect(value).toMatchObject({ how: 'answered', value: says });
});

it('an order that was sent before is not looked for again: that nothing was sent would be false', async () => {
  const saga = sagaWith();
  const order = { account: 'AB-32', label: 'web', cartItems: [1] };
  const place = { step: 'place-order', order, note: { foundBy: 'web' } };
  stand.sandbox.faults.add({ endpoint: 'place-order', kind: 'reset-after' });
  await saga.refusal('placeOrder', place);
  stand.sandbox.faults.add({ endpoint: 'find-servers', kind: 'error-before' });
  expect(await saga.refusal('placeOrder', place)).toMatchObject({ failure: 'UnknownOutcome', doubt: {} });
  stand.sandbox.faults.clear();
});
