import { fc } from '../../support/properties';
import { excerptOf, secretsIn, withoutSecrets } from '../../../src/provider/excerpt';
import { closeAll, createClient, failureOf, serve } from '../../support/stand-in';

afterEach(closeAll);

const script = Buffer.from('#!/bin/sh\nexport DB_PASSWORD=hunter2-hunter2\nreboot\n').toString('base64');
const item = {
  billing_cycle: 1,
  password: 'S3cr/t"é&<pass>word',
  custom_ssh_key: Buffer.from('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me@home').toString('base64'),
  custom_script: script,
} as const;

const echoes: [string, string][] = [
  ['a field of the same name', JSON.stringify({ error: 'bad', password: item.password })],
  ['such a field deep inside', JSON.stringify({ errors: [{ given: { custom_script: item.custom_script } }] })],
  ['a field of another name', JSON.stringify({ value: item.password })],
  ['a sentence', `the password ${item.password} is too weak`],
  ['JSON with escaped slashes', JSON.stringify({ value: item.password }).replaceAll('/', '\\/')],
  ['JSON cut short', JSON.stringify({ password: item.password, note: 'x' }).slice(0, -4)],
  ['a URL', `https://x.example/?p=${encodeURIComponent(item.password)}`],
  ['a page', 'not accepted: S3cr/t&quot;é&amp;&lt;pass&gt;word'],
  ['its decoded script', 'line 2: export DB_PASSWORD=hunter2-hunter2: not found'],
  ['a part of the script', `cannot decode ${script.slice(10, 40)}...`],
  ['the key it was given', `bad key ${item.custom_ssh_key}`],
  ['the token', 'token t0p-s3cret-t0ken is not known'],
];

test.each(echoes)('a refusal that echoes secrets in %s shows none of them', async (_, body) => {
  const server = await serve({ status: 422, body });
  const credentials = { read: async () => 't0p-s3cret-t0ken', reread: async () => 'x' };
  const failure = await failureOf(createClient(server.url, { credentials }).addCartItem(item));
  expect(failure.body).toContain('[redacted]');
  const shown = JSON.stringify({ ...failure, message: failure.message, stack: failure.stack });
  for (const secret of ['S3cr', 'hunter2', 't0p-s3cret', script.slice(10, 30), item.custom_ssh_key.slice(0, 20)]) {
    expect(shown).not.toContain(secret);
  }
});

test('deep nesting neither overflows nor shows', () => {
  const text = `${'['.repeat(30_000)}"correct-horse"${']'.repeat(30_000)}`;
  expect(excerptOf(text, ['correct-horse'])).toHaveLength(500);
});

test('the secrets of a request are found at any depth', () => {
  expect(secretsIn({ a: [{ password: 'p' }], custom_script: 's', label: 'l', custom_ssh_key: undefined })).toEqual([
    'p',
    's',
  ]);
  expect(secretsIn(undefined)).toEqual([]);
});

test('no secret of four characters or more shows, wherever it stands, and the excerpt is never too long', () => {
  fc.assert(
    fc.property(
      // Letters that neither the mark nor the words around have.
      fc.string({ unit: fc.constantFrom('Q', 'X', '7', '"', '\\', '/', 'é'), minLength: 4, maxLength: 600 }),
      fc.array(fc.constantFrom('so ', 'it is ', '{', ': '), { maxLength: 200 }),
      fc.boolean(),
      (secret, words, asJson) => {
        const text = words.join('') + secret + words.join('');
        const shown = excerptOf(asJson ? JSON.stringify({ text, at: [text] }) : text, [secret]) ?? '';
        expect(shown).not.toMatch(/[QX7é]/);
        expect(shown.length).toBeLessThanOrEqual(500);
      },
    ),
  );
});

/** How providers quote: in pages of PHP, Go and others, in addresses, forms, mail, JSON, and JSON within JSON. */
const encoders: Record<string, (text: string) => string> = {
  php: (text) => go(text).replaceAll('&#34;', '&quot;').replaceAll('&#39;', '&#039;'),
  go,
  'hex entities': (text) => text.replace(/[^a-z0-9 ]/gi, (char) => `&#x${char.charCodeAt(0).toString(16)};`),
  'named entities': (text) => text.replaceAll("'", '&apos;').replaceAll('(', '&lpar;').replaceAll('!', '&excl;'),
  url: encodeURIComponent,
  form: (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'small hex': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json twice': (text) => JSON.stringify(JSON.stringify({ got: text })),
  'slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  unicode: (text) => text.replace(/[^a-z0-9]/gi, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 in lines': (text) => Buffer.from(text).toString('base64').replace(/.{8}/g, '$&\r\n'),
  'base64 of user and password': (text) => Buffer.from(`root:${text}`).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  mail: (text) => text.replace(/[^a-z0-9 ]/gi, (char) => `=${char.charCodeAt(0).toString(16).toUpperCase()}`),
  capitals: (text) => text.toUpperCase(),
  'percent and u': (text) =>
    text.replace(/[^a-z0-9]/gi, (char) => `%u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  octal: (text) => text.replace(/[^a-z0-9]/gi, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`),
  braces: (text) => text.replace(/[^a-z0-9]/gi, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`),
  python: (text) => text.replace(/[^a-z0-9]/gi, (char) => `\\U${char.charCodeAt(0).toString(16).padStart(8, '0')}`),
  sql: (text) => text.replaceAll("'", "''").replaceAll('"', '""'),
  shell: (text) => text.replaceAll("'", `'\\''`),
  'mail in lines': (text) => text.replace(/.{5}/g, '$&=\r\n'),
  'another character set': (text) => text.replace(/[^a-z0-9]/gi, '?'),
  'letters with marks of their own': (text) => text.normalize('NFD'),
  'wide letters': (text) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
};

function go(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&#34;');
}

/** What of the text is neither the words around nor the mark: the secret shows in it, if at all. */
const shownOf = (text: string, secret: string) => (excerptOf(text, [secret]) ?? '').replaceAll('[redacted]', '');

test.each(Object.entries(encoders))('a password is found in %s', (_, encode) => {
  for (const secret of [
    "O'Brien-1942!",
    'Say"hello"9x',
    'Tr0ub4dor & (3)',
    'Ab"cd"ef"gh"12',
    "Xq7'mK2'vLp9'Zt4",
    'Grün-Käse-Öl-9',
  ]) {
    const shown = shownOf(`<p>${encode(secret)} is not accepted</p>`, secret);
    expect(shown).toMatch(/^<p>.{0,24} is not accepted<\/p>$/s);
  }
});

test('a password is found in any mixture of them', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'QXZW"\'&<>/ +%!('), minLength: 6, maxLength: 40 });
  const once = Object.entries(encoders).filter(([name]) => !/base64|hex$|capitals|character set|in lines/.test(name));
  const how = fc.array(fc.constantFrom(...once.map(([, encode]) => encode)), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(secret, how, (word, encode) => {
      fc.pre(/[QXZW]{2}/.test(word));
      const quoted = encode.reduce((text, one) => one(text), word);
      expect(shownOf(`so ${quoted} it is`, word).match(/[QXZW]/g) ?? []).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

const long = 'abcdefghijklmnopqrst';
const zebra = "Kh3-Zebra'9";
test.each<[what: string, secrets: string[], text: string, shown: string | undefined]>([
  ['no secret', ['correct horse'], '{"error":"no such plan","plan_id":3}', '{"error":"no such plan","plan_id":3}'],
  ['nothing', ['a'], ' \n', undefined],
  ['500 characters', [], 'x'.repeat(500), 'x'.repeat(500)],
  ['more, with a sign of it', [], 'x'.repeat(501), `${'x'.repeat(499)}…`],
  ['an empty secret', ['', 'word'], 'some words', 'some [redacted]s'],
  ['twelve characters of a long one, wherever in it', [long], 'is bcdefghijklm ok', 'is [redacted] ok'],
  ['a longer part', [long], 'is bcdefghijklmnop ok', 'is [redacted] ok'],
  ['eleven, which may be a word', [long], 'is bcdefghijkl ok', 'is bcdefghijkl ok'],
  ['twelve characters alone', [long], 'abcdefghijkl', '[redacted]'],
  ['the whole of it, twice', [long], `${long} ${long}`, '[redacted] [redacted]'],
  ['four of it where the text ends', [long], 'it begins abcd', 'it begins [redacted]'],
  ['three of it where the text ends', [long], 'it begins abc', 'it begins abc'],
  ['eleven of it where the text ends', [long], 'it begins abcdefghijk', 'it begins [redacted]'],
  ['the whole of a short one, wherever', ['hunter2'], 'hunter2, hunter2hunter2', '[redacted], [redacted]'],
  ['a part that is in the middle of a short one', ['hunter2'], 'is hunter ok', 'is hunter ok'],
  ['a part of a short one where the text ends', ['hunter2'], 'is hunt', 'is [redacted]'],
  ['one with a beginning like a code of mail', ["41xy'z7"], 'got=41xy&#39;z7, so', 'got=[redacted], so'],
  ['one that another character set spoils', ['Pässwörd-77'], 'is PÃ¤sswÃ¶rd-77!', 'is [redacted]!'],
  ['one cut in an entity', [zebra], 'is Kh3-Zebra&#3', 'is [redacted]'],
  ['one cut in a code of an address', [zebra], 'is Kh3-Zebra%2', 'is [redacted]'],
  ['one cut in a code of JSON', [zebra], 'is Kh3-Zebra\\u00', 'is [redacted]'],
])('an excerpt of %s', (_, secrets, text, shown) => {
  expect(excerptOf(text, secrets)).toBe(shown);
});

test.each([
  ['{"Password":["old","new"],"n":1}', '{"Password":"[redacted]","n":1}'],
  ["oops password = 'old one', n=1", 'oops password = [redacted], n=1'],
  ['password: abc def', 'password: [redacted] def'],
  ["'password': 'a b', n", "'password': [redacted], n"],
  ['"password" : "a\\"b" n', '"password" : [redacted] n'],
  ['"password": "cut in the mid', '"password": [redacted]'],
  ['custom_script=abc&n=1', 'custom_script=[redacted]&n=1'],
  ['CUSTOM_SSH_KEY=abc; x', 'CUSTOM_SSH_KEY=[redacted]; x'],
  ['{"a": [{"password": abc}]', '{"a": [{"password": [redacted]}]'],
  ['the password is wrong', 'the password is wrong'],
  ['<pre>{&quot;root_password&quot;:&quot;Made-1x&quot;}', '<pre>{&quot;root_password&quot;:[redacted]}'],
  ['Array ( [root_password] => Made-1x )', 'Array ( [root_password] => [redacted] )'],
  ['["root_password"]=> string(7) "Made-1x"', '["root_password"]=> string(7) [redacted]'],
  ['<a><root_password>Made 1x</root_password></a>', '<a><root_password>[redacted]</root_password></a>'],
  ['<n:password><![CDATA[x]]></n:password>', '<n:password>[redacted]</n:password>'],
  ['u=id%3D1%26root_password%3DMade-1x', 'u=id%3D1%26root_password%3D[redacted]'],
  [String.raw`{"a":"{\"password\":\"Made-1x\"}"}`, String.raw`{"a":"{\"password\":[redacted]}"}`],
  ['{"error":"the password: too short"}', '{"error":"the password: too short"}'],
])('a field of a secret, whatever its value: %s', (text, shown) => {
  expect(excerptOf(text, [])).toBe(shown);
});

/**
 * The work for a text four times as long is a few times as much: the best of several runs counts, by processor time,
 * which does not depend on what else the machine does.
 */
test.each(['\\', '"', "'", '&', '%', '=', ':', ' ', '[', '{"a":', '&amp', '\\"', 'password=', 'a', '%41', '\u0000'])(
  'grows with the length of a text of %j',
  (piece) => {
    const secrets = ['correct-horse-battery', piece.repeat(40)];
    const timed = (chars: number) => {
      const text = `x${piece.repeat(chars / piece.length)}`;
      const run = () => {
        const before = process.cpuUsage();
        excerptOf(text, secrets);
        withoutSecrets({ text }, secrets);
        return process.cpuUsage(before).user / 1_000;
      };
      return Math.min(...Array.from({ length: 5 }, run));
    };
    timed(4_000);
    expect(timed(64_000)).toBeLessThan(20 + 8 * timed(16_000));
  },
);
