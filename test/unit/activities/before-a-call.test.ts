/** What an activity makes sure of beside the journal before it calls the provider, and of what it is answered. */
import { documentedParts } from '../../../src/activities/quotes';
import { createSecretResolver } from '../../../src/security/secret-resolver';
import { folderForFile } from '../../support/folder';
import { cartItem } from '../../support/requests';
import { LoneActivities } from './lone-activities';

const folder = folderForFile();
let stand: LoneActivities;
beforeAll(async () => {
  stand = await LoneActivities.start();
});
afterAll(() => stand.close());

it.each([
  [83, { expect: [143, 144, 145] }, 'does not show 144, 145'],
  [84, { without: [149, 150] }, 'still shows 149, 150'],
  [85, { expect: [143, 144], without: [150] }, 'does not show 144 and still shows 150'],
])('a firewall list that is awaited says what is amiss: of server %d, %j', async (vmObjectId, awaited, amiss) => {
  stand.sandbox.addServer({ vmObjectId, firewalls: [143, 149, 150] });
  const saga = stand.saga({}, 'setFirewalls');
  expect(await saga.refusal('listFirewalls', { vmObjectId, ...awaited })).toMatchObject({
    failure: 'NotVisibleYet',
    message: `the provider's firewall list of server ${vmObjectId} ${amiss}`,
  });
  // Reading leaves no row behind.
  expect(await saga.do('listFirewalls', { vmObjectId })).toEqual({ firewalls: [143, 149, 150] });
  expect(await saga.rows()).toEqual([]);
});

describe('a secret by name', () => {
  const variables: Record<string, string> = { SECRET_ROOT: 'a root password', SECRET_KEY: 'no base64!' };
  const sagaWith = (sources: { folder?: string } = {}) =>
    stand.saga({ secrets: createSecretResolver({ variable: (name) => variables[name], ...sources }) });
  const add = (secrets: object) => ({ step: 'add-cart-item-1', number: 1, item: cartItem(secrets) });

  it('that is not there, not what the field takes, or not to be read is told by its name, and nothing is sent', async () => {
    const before = stand.calls;
    const told = async (secrets: object, saga = sagaWith()) => {
      const { failure, message } = await saga.refusal('addCartItem', add(secrets));
      return `${failure}: ${message}`;
    };
    expect(await told({ password: { secret: 'gone' } })).toBe('SecretMissing: there is no secret gone for password');
    expect(await told({ custom_ssh_key: { secret: 'key' } })).toBe(
      'SecretMissing: the secret key is not a valid custom_ssh_key',
    );
    expect(await told({ password: { secret: 'root' } }, sagaWith({ folder: '/dev/null' }))).toMatch(
      /^SecretMissing: the secret root could not be looked up: .*ENOTDIR/,
    );
    expect(stand.calls).toBe(before);
  });

  it('is what stands in its file, but for the mark and the line break that editors add; or else in its variable', async () => {
    const { path, write } = folder;
    write('web-root', '\ufeff a päss word \r\n');
    const { resolve } = createSecretResolver({ folder: path, variable: (name) => `of ${name}` });
    expect(await resolve('web-root')).toBe(' a päss word ');
    expect(await resolve('web.root-2')).toBe('of SECRET_WEB_ROOT_2');
    write('web-root', Buffer.from('\ufeffa word', 'utf16le'));
    await expect(resolve('web-root')).rejects.toThrow('the secret web-root is in UTF-16');
  });
});

it('a quote is kept as it came; one that is too long for a result keeps its documented parts', () => {
  const quote = { available: true, total: 5, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };
  const whole = { ...quote, inapplicable_resources: [], note: 'x'.repeat(1_000) };
  expect(documentedParts(whole)).toBe(whole);
  for (const documented of [quote, { ...quote, inapplicable_resources: ['vm_backup'] }]) {
    expect(documentedParts({ ...documented, note: 'x'.repeat(100_000) })).toEqual(documented);
  }
});
