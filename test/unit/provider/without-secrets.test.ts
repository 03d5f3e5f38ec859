/** The part of a success that may be kept. */
import { fc } from '../../support/properties';
import { rawResponse } from '../../../src/activities/call';
import { RecentSecrets } from '../../../src/provider/recent-secrets';
import { isSecretField } from '../../../src/domain/secrets';
import { withoutSecrets } from '../../../src/provider/excerpt';
import { closeAll, createClient, failureOf, serve } from '../../support/stand-in';

afterEach(closeAll);

const ofSecrets =
  'password Password PASSWORD root_password rootPassword initial-root-password passwd pwd root_pass custom_ssh_key ' +
  'sshKey ssh_private_key Custom_Script user_data client_secret token';
const others = 'description subscription_id compass label vm_object_ids currency';
test.each([
  ...ofSecrets.split(' ').map((name) => [name, true] as const),
  ...others.split(' ').map((name) => [name, false] as const),
])('a field %s is a secret’s: %s', (name, secret) => {
  expect(isSecretField(name)).toBe(secret);
  expect(withoutSecrets({ deep: [{ [name]: 'x' }] }, [])).toEqual({ deep: [{ [name]: secret ? '[redacted]' : 'x' }] });
});

const secrets = ['correct"horse/battery', 'abc'];

test('a secret’s beginning at the end of an answer that was cut there is blanked out', () => {
  const answer = { order_id: 5, note: `${'x'.repeat(16_300)} its password is Hunter2Pass.` };
  const kept = JSON.stringify(answer).indexOf('Pass.') + 'Pas'.length;
  const cut = rawResponse({ pad: 'y'.repeat(16_384 - kept - '"pad":"",'.length), ...answer });
  expect(JSON.stringify(cut)).toMatch(/Hunter2Pas"/);
  expect(JSON.stringify(withoutSecrets(cut, ['Hunter2Pass']))).not.toContain('Hunter2');
});

test.each([
  ['a sentence', 'set to correct"horse/battery now', 'set to [redacted] now'],
  ['a part of it', 'begins with rse/batt.', 'begins with rse/batt.'],
  ['two parts of four letters', 'has rect, then batt', '[redacted]'],
  ['a long part of it', 'has rect"horse/bat in it', '[redacted]'],
  ['a URL', `at ?p=${encodeURIComponent('correct"horse/battery')} now`, 'at [redacted] now'],
  ['JSON in a text', '{"Root_Password":"made by them"}', '[redacted]'],
  ['JSON in a text in JSON', '{\\"root_password\\":\\"made by them\\"}', '[redacted]'],
  ['a word that is the whole text', 'abc', '[redacted]'],
  ['such a word in a page', '&#97;bc', '[redacted]'],
  ['a word within another one', 'order-abc-7', 'order-abc-7'],
])('a secret’s value is blanked out in %s', (_, text, shown) => {
  expect(withoutSecrets({ order: 17, said: [text], after: 'x' }, secrets)).toEqual({
    order: 17,
    said: [shown],
    after: 'x',
  });
});

test('ids, numbers, dates, addresses and prices stay, also where they look like parts of secrets', () => {
  const answer = {
    order_id: 'ORD-2026-00017',
    invoice: '0b9c9f0e-7a52-4f4e-8f3a-2d0d5a1f6c11',
    placed_at: '2026-11-27T10:00:00+01:00',
    url: 'https://panel.example/orders/17?plan_id=12&region=eu-1',
    total: '12.50',
    vm_object_ids: [9_001, 20_991_231],
    label: 'Größe-3',
    data: { 'web-1': 'R & D' },
  };
  expect(withoutSecrets(answer, [...secrets, '17', '12', '20991231', 'label', '2026!', 'ORD-2'])).toEqual(answer);
});

test('no word of a secret hides what is read of a quote: a total that is not there passes every guard', () => {
  const quote = { available: true, total: 900, currency: 'usd', date_from: '2026-01-01', date_to: '2026-02-01' };
  const passwords = ['Total-2026!', 'from your vault', 'available1', 'currency-5', 'dateto-5'];
  expect(withoutSecrets({ ...quote, inapplicable_resources: [] }, [...passwords, 'inapplicable_resources'])).toEqual({
    ...quote,
    inapplicable_resources: [],
  });
});

test('a text with what no text has destroys none beside it, and hides no secret', () => {
  const secret = 'abc\u0000defghijklmnop';
  const answer = {
    order_id: 'O-1',
    note: 'a\uffffb',
    said: `it is ${secret}!`,
    shown: 'with hunter2hunter2 in it',
    '\u0000': 1,
  };
  expect(withoutSecrets(answer, [secret, 'hunter2hunter2'])).toEqual({
    order_id: 'O-1',
    note: '[redacted]',
    said: 'it is [redacted]!',
    shown: 'with [redacted] in it',
    '[redacted]': 1,
  });
});

test('no secret of twelve characters or more shows, and what has none of it stays', () => {
  const word = fc.string({ unit: fc.constantFrom('Q', 'X', '"', '\\', '/', 'é'), minLength: 12, maxLength: 200 });
  fc.assert(
    fc.property(word, fc.jsonValue({ stringUnit: fc.constantFrom('m', 'n', ' ') }), (secret, around) => {
      const shown = JSON.stringify(withoutSecrets([{ around }, `so ${secret} it is`, { deep: [secret] }], [secret]));
      expect(shown).not.toMatch(/[QXé]/);
      expect(JSON.stringify(withoutSecrets(around, [secret]))).toBe(JSON.stringify(around));
    }),
  );
});

test('a call’s failure does not show other calls’ secrets; unknown ones leave no text', async () => {
  const server = await serve({ status: 422, body: 'the password correct"horse/battery is weak' });
  const client = createClient(server.url);
  const order = { account: 'AB-1', cartItems: [1] };
  const failed = (told: readonly string[] | 'unknown') =>
    failureOf(client.placeOrder(order, { secrets: told })).then(({ body }) => body);
  expect(await failed(secrets)).toBe('the password [redacted] is weak');
  expect(await failed('unknown')).toBeUndefined();
  expect(await failed([])).toContain('correct"horse');
});

test('where the secrets are not known, no text shows, nor a field name that may be one', () => {
  const answer = { order_id: 4711, errors: { correcthorsebatterystaple: ['is too weak'], hunter: 1 } };
  const shown = { order_id: 4711, errors: { '[redacted] 1': ['[redacted]'], '[redacted] 2': 1 } };
  expect(withoutSecrets(answer, 'unknown')).toEqual(shown);
});

describe('what one call sent is blanked out in the answers to the next ones, as far back as can be searched quickly', () => {
  const secrets = Array.from({ length: 8 }, (_, index) => String(index).repeat(4_096));

  test.each([
    ['from six characters on: shorter ones are words', [['12345', '123456']], ['123456']],
    ['once, and as the newest', [secrets, [secrets[0]!]], [secrets[0], ...secrets.slice(1).reverse()]],
    ['before older ones', [secrets, ['abcdef']], ['abcdef', ...secrets.slice(1).reverse()]],
  ])('%s', (_, calls, remembered) => {
    const recent = new RecentSecrets();
    for (const sent of calls) recent.add(sent);
    expect(recent.all).toEqual(remembered);
  });
});
