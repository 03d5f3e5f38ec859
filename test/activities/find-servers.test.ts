/** When the server directory is asked, and what is taken for an answer. */
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { callsTo } from '../../sandbox/sentences';
import { Sandbox } from '../../sandbox/server';
import { createActivities } from '../../src/activities/index';
import type { FindServers } from '../../src/activities/orders';
import type { CallFailure } from '../../src/domain/failures';
import { ProviderClient } from '../../src/provider/client';
import { createSecretResolver } from '../../src/security/secret-resolver';
import { rigSettings } from '../support/activity-settings';

let sandbox: Sandbox;
let provider: ProviderClient;
beforeAll(async () => {
  sandbox = await Sandbox.start({ directory: { lag: 0 }, anyServer: true });
  sandbox.addServer({ vmObjectId: 31, account: 'AB-31', label: 'theirs' });
  provider = new ProviderClient({ baseUrl: sandbox.url, pauseMaxMs: 0 });
});
afterAll(async () => {
  await provider.close();
  await sandbox.close();
});

const asked = () => callsTo(sandbox.ledger, 'find-servers').length;
const wanted: FindServers = { account: 'AB-31', label: 'theirs', expected: 1 };

function find(input: FindServers, { path = '/servers?account={account}&label={label}', labelIsUnique = true } = {}) {
  const { findServers } = createActivities({
    provider,
    secrets: createSecretResolver({ variable: () => undefined }),
    settings: { ...rigSettings, directory: { path, pointers: ['/data/*/vm_object_id'], labelIsUnique } },
  });
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') }).run(() => findServers(input));
}

it.each<[string, FindServers, Parameters<typeof find>[1]]>([
  ['for the servers of a placed order', wanted, { labelIsUnique: false }],
  ['by the account alone', { ...wanted, label: undefined }, { path: '/servers?account={account}' }],
  ['whether an order was placed, by a label that is its own', { ...wanted, settles: true }, {}],
])('it is asked %s', async (_, input, directory) => {
  const before = asked();
  expect(await find(input, directory)).toEqual([31]);
  expect(asked()).toBe(before + 1);
});

it.each<[string, FindServers, Parameters<typeof find>[1]]>([
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
  expect(await find(input, directory)).toEqual([]);
  expect(asked()).toBe(before);
});

it('other servers than were ordered are no answer', async () => {
  const error: unknown = await find({ ...wanted, expected: 2 }).catch((thrown: unknown) => thrown);
  expect((error as ApplicationFailure).details?.[0] as CallFailure).toMatchObject({
    failure: 'NotThere',
    message: expect.stringMatching(/lists 1 of 2 servers/) as string,
  });
});
