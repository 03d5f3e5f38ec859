/** An activity first asks for secrets, and the journal, which may say that nothing is sent. */
import { documentedParts } from '../../../src/activities/quotes';
import type { CallFailure } from '../../../src/domain/failures';
import type { Intended } from '../../../src/journal/decide';
import { createSecretResolver } from '../../../src/security/secret-resolver';
import { folderForFile } from '../../support/folder';
import { cartItem } from '../../support/requests';
import { journalThat, nothingSent, stand, standAlone } from './lone-activities';

const folder = folderForFile();
standAlone();

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
  expect(await saga.do('listFirewalls', { vmObjectId })).toMatchObject({ firewalls: [143, 149, 150] });
  expect(await saga.rows()).toEqual([]);
});

describe('a secret by name', () => {
  const variables: Record<string, string> = { SECRET_ROOT: 'a root password', SECRET_KEY: 'no base64!' };
  const sagaWith = (sources: { folder?: string } = {}) =>
    stand.saga({ secrets: createSecretResolver({ variable: (name) => variables[name], ...sources }) });
  const add = (secrets: object) => ({ step: 'add-cart-item-1', number: 1, item: cartItem(secrets) });

  it('that is missing, unfit or unreadable is refused by its name, and nothing is sent', async () => {
    const told = async (secrets: object, saga = sagaWith()) => {
      const { failure, message } = await nothingSent(() => saga.refusal('addCartItem', add(secrets)));
      return `${failure}: ${message}`;
    };
    expect(await told({ password: { secret: 'gone' } })).toBe('SecretMissing: there is no secret gone for password');
    expect(await told({ custom_ssh_key: { secret: 'key' } })).toBe(
      'SecretMissing: the secret key is not a valid custom_ssh_key',
    );
    expect(await told({ password: { secret: 'root' } }, sagaWith({ folder: '/dev/null' }))).toMatch(
      /^SecretMissing: the secret root could not be looked up: .*ENOTDIR/,
    );
  });

  it('is read from its file, without the marks of editors, or else from its variable', async () => {
    const { path, write } = folder;
    write('web-root', '\ufeff a päss word \r\n');
    const { resolve } = createSecretResolver({ folder: path, variable: (name) => `of ${name}` });
    expect(await resolve('web-root')).toBe(' a päss word ');
    expect(await resolve('web.root-2')).toBe('of SECRET_WEB_ROOT_2');
    write('web-root', Buffer.from('\ufeffa word', 'utf16le'));
    await expect(resolve('web-root')).rejects.toThrow('the secret web-root is not in UTF-8');
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

const adding = { step: 'add-cart-item-1', number: 1, item: cartItem() };
const [at, run] = ['2026-01-31T22:15:00.000Z', 'another-run'];
const place = { step: 'place-order', order: { account: 'AB-1', cartItems: [1] } };

/** A saga whose journal says this of every call. */
const sagaWhoseJournalSays = (intended: Intended) =>
  stand.saga({ journal: journalThat(stand.journal, () => ({ intend: () => Promise.resolve(intended) })) });

it('recorded: the answer of then is given, with the run and the time, and how many doubts there are', async () => {
  const cursor = { journal: 'j', epoch: 1 };
  const intended = { how: 'recorded', cursor, answer: { cartItemId: 7 }, at, run, doubts: 2 } as const;
  expect(await nothingSent(() => sagaWhoseJournalSays(intended).do('addCartItem', adding))).toEqual({
    ...{ value: { cartItemId: 7 }, cursor, recorded: { at, run }, doubts: 2 },
  });
});

const doubt = { row: 'r', at, run, inFlightMs: 1_000, restored: false };

const inFlight = 'a call that was sent before may still be in flight; nothing was sent now';
const lost = `it was sent on ${at} by run ${run}, and its outcome is not known; nothing was sent now`;
const belongs = `it belongs to the order that was placed on ${at} by run ${run}`;
const mayBelong = `it may belong to the order of ${at} by run ${run}, and nobody knows whether that was placed`;

it.each<[Intended, CallFailure['failure'], message: string, rest?: Partial<CallFailure>]>([
  [{ how: 'under-way', row: 'r', leftMs: 60_000 }, 'UnderWay', inFlight, { retryInMs: 15_000, inFlightMs: 60_000 }],
  [{ how: 'under-way', row: 'r', leftMs: 700 }, 'UnderWay', inFlight, { retryInMs: 700, inFlightMs: 700 }],
  [{ how: 'unknown', ...doubt }, 'UnknownOutcome', lost, { doubt }],
  [{ how: 'changed', why: 'add-1: undone' }, 'StateChanged', 'add-1: undone; nothing was sent'],
  [{ how: 'ordered', placed: true, at, run }, 'Ordered', belongs],
  [{ how: 'ordered', placed: false, at, run }, 'Ordered', mayBelong],
  [{ how: 'restored', why: 'it is an older copy' }, 'JournalRestored', 'it is an older copy; nothing was sent'],
])('%j: the workflow gets %s', async (intended, failure, message, rest = {}) => {
  const told = await nothingSent(() => sagaWhoseJournalSays(intended).refusal('placeOrder', place));
  expect(told).toEqual({ failure, message, ...rest });
});
