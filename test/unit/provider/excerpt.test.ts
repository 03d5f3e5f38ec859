import { fc } from '../../support/properties';
import { excerptOf, secretsIn, withoutSecrets } from '../../../src/provider/excerpt';
import { closeAll, createClient, failureOf, serve, reading } from '../../support/stand-in';

afterEach(closeAll);

const script = Buffer.from('#!/bin/sh\ncurl -u ops:hunter2-hunter2 x.example\nreboot\n').toString('base64');
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
  ['its decoded script', 'line 2: -u ops:hunter2-hunter2: not found'],
  ['a part of the script', `cannot decode ${script.slice(10, 40)}...`],
  ['the key it was given', `bad key ${item.custom_ssh_key}`],
  ['the token', 'token t0p-s3cret-t0ken is not known'],
];

test.each(echoes)('a refusal that echoes secrets in %s shows none of them', async (_, body) => {
  const server = await serve({ status: 422, body });
  const readToken = reading('t0p-s3cret-t0ken', 'x');
  const failure = await failureOf(createClient(server.url, { readToken }).addCartItem(item));
  expect(failure.body).toContain('[redacted]');
  const shown = JSON.stringify({ ...failure, message: failure.message, stack: failure.stack });
  for (const secret of ['S3cr', 'hunter2', 't0p-s3cret', script.slice(10, 30), item.custom_ssh_key.slice(0, 20)]) {
    expect(shown).not.toContain(secret);
  }
});

test('an id that JavaScript cannot hold is shown to its last digit', () => {
  expect(excerptOf('{"order": 9007199254740993, "order": 2.50}', [])).toBe('{"order":2.5}');
  expect(excerptOf('{"order": 9007199254740993}', [])).toBe('{"order":"9007199254740993"}');
});

test('deep nesting neither overflows nor shows', () => {
  const text = `${'['.repeat(30_000)}"correct-horse"${']'.repeat(30_000)}`;
  expect(excerptOf(text, ['correct-horse'])).toHaveLength(500);
});

test('the secrets of a request are found at any depth', () => {
  const item = { a: [{ password: 'p' }], custom_script: 's', label: 'l', custom_ssh_key: undefined };
  expect(secretsIn(item)).toEqual(['p', 's']);
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

const codeOf = (char: string, digits = 2) => char.charCodeAt(0).toString(16).toUpperCase().padStart(digits, '0');

/** With each sign encoded, or with every character. */
const signs = (encode: (char: string) => string) => (text: string) => text.replace(/[^a-z0-9]/gi, encode);
const all = (encode: (char: string) => string) => (text: string) => text.replace(/[^]/g, encode);

const html = (text: string) =>
  signs((char) => ({ '&': '&amp;', "'": '&#39;', '<': '&lt;', '>': '&gt;', '"': '&#34;' })[char] ?? char)(text);

/** How providers quote: in pages of PHP, Go and others, in addresses, forms, mail, JSON, and JSON within JSON. */
const encoders: Record<string, (text: string) => string> = {
  go: html,
  php: (text) => html(text).replaceAll('&#34;', '&quot;').replaceAll('&#39;', '&#039;'),
  'hex entities': signs((char) => `&#x${codeOf(char)};`),
  'entities for letters': all((char) => `&#${char.charCodeAt(0)};`),
  'named entities': (text) => text.replaceAll("'", '&apos;').replaceAll('(', '&lpar;').replaceAll('!', '&excl;'),
  url: encodeURIComponent,
  form: (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'small hex in a url': (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json twice': (text) => JSON.stringify(JSON.stringify({ got: text })),
  'slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'a pointer': (text) => text.replaceAll('~', '~0').replaceAll('/', '~1'),
  unicode: signs((char) => `\\u${codeOf(char, 4)}`),
  mail: (text) => text.replace(/[^a-z0-9 ]/gi, (char) => `=${codeOf(char)}`),
  'mail for letters': all((char) => `=${codeOf(char)}`),
  'percent and u': signs((char) => `%u${codeOf(char, 4)}`),
  octal: signs((char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`),
  braces: signs((char) => `\\u{${codeOf(char)}}`),
  python: signs((char) => `\\U${codeOf(char, 8)}`),
  sql: (text) => text.replaceAll("'", "''").replaceAll('"', '""'),
  shell: (text) => text.replaceAll("'", `'\\''`),
  'names of xml': signs((char) => `_x${codeOf(char, 4)}_`),
  'utf-7': (text) =>
    text.replace(/[^\w '(),./:?-]+/g, (part, at: number) => {
      const digits = Buffer.from(part, 'utf16le').swap16().toString('base64').replace(/=+$/, '');
      return `+${digits}${/[\w/-]/.test(text.charAt(at + part.length)) ? '-' : ''}`;
    }),
  'letters with marks of their own': (text) => text.normalize('NFD'),
  'wide letters': (text) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
};

/** Their codes have other letters, or one after which nothing is the same. */
const alone: typeof encoders = {
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 in lines': (text) => Buffer.from(text).toString('base64').replace(/.{8}/g, '$&\r\n'),
  'base64 of user and password': (text) => Buffer.from(`root:${text}`).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  capitals: (text) => text.toUpperCase(),
  'mail in lines': (text) => text.replace(/.{5}/g, '$&=\r\n'),
  'letters without their marks': (text) => text.normalize('NFD').replace(/\p{M}/gu, ''),
  'another character set': signs(() => '?'),
  'bytes of another character set': (text) => Buffer.from(text).toString('latin1'),
};

/** The text without the mark: the secret shows in it, if at all. */
const shownOf = (text: string, secret: string) => (excerptOf(text, [secret]) ?? '').replaceAll('[redacted]', '');

test.each(Object.entries({ ...encoders, ...alone }))('a password is found in %s', (_, encode) => {
  for (const secret of [
    "O'Brien-1942!",
    'Say"hello"9x',
    'Tr0ub4dor & (3)',
    'Ab"cd"ef"gh"12',
    "Xq7'mK2'vLp9'Zt4",
    'Grün-Käse-Öl-9',
  ]) {
    const shown = shownOf(`it ${encode(secret)} is not accepted`, secret);
    // White space in it may be where the encoded text goes on.
    expect(shown).toMatch(
      secret.includes(' ') ? /^(?:it .{0,24} is not accepted)?$/s : /^(?:it .{0,12} is not accepted)?$/s,
    );
  }
});

test('a password is found in any mixture of them', () => {
  const alphabets = fc.constantFrom('QxZW9"\'&<>/ +%!(=~', 'QxZW9"\'&<>/+%!', 'QxZWé"\'& ');
  const secret = alphabets.chain((chars) =>
    fc.string({ unit: fc.constantFrom(...chars), minLength: 6, maxLength: 40 }),
  );
  const how = fc.array(fc.constantFrom(...Object.values(encoders)), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(secret, how, (word, encode) => {
      fc.pre(/[QxZW9]{2}/.test(word));
      const quoted = encode.reduce((text, one) => one(text), word);
      for (const text of [`so ${quoted} it is`, JSON.stringify({ said: `so ${quoted} it is` })]) {
        expect(shownOf(text, word).match(/[QxZW9]/g) ?? []).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  '{"code":400,"message":"Plan 12 is not available in region eu-1"}',
  '{"error":"no such plan","plan_id":3,"request":"0b9c9f0e-7a52-4f4e-8f3a-2d0d5a1f6c11"}',
  '{"errors":{"os_template_id":["Le modèle demandé n’est plus proposé."]}}',
  '{"message":"the plan \\"Basic\\" (R & D) is sold out: 100% of 12.50 EUR, since 2026-11-27T10:00:00Z"}',
  '{"error":"the password: too short"}',
  '<title>502 Bad Gateway</title>',
  'plan_id=12 is unknown; see https://api.example/plans?region=eu-1',
  'the password is wrong',
])('an ordinary refusal stays readable: %s', (text) => {
  expect(excerptOf(text, ['correct horse', 'NoScriptBase64ed', script])).toBe(text);
});

const long = 'abcdefghijklmnopqrst';
const zebra = "Kh3-Zebra'9";
test.each<[what: string, secrets: string[], text: string, shown: string | undefined]>([
  ['nothing', ['a'], ' \n', undefined],
  ['500 characters', [], 'x'.repeat(500), 'x'.repeat(500)],
  ['more, with a sign of it', [], 'x'.repeat(501), `${'x'.repeat(499)}…`],
  ['an empty secret, and a short one', ['', 'word'], 'some words', '[redacted]'],
  ['twelve characters of a long one, wherever in it', [long], 'is bcdefghijklm ok', '[redacted]'],
  ['a longer part', [long], 'is bcdefghijklmnop ok', '[redacted]'],
  ['seven, which may be a word', [long], 'is bcdefgh ok', 'is bcdefgh ok'],
  ['eight, which are two pieces of it', [long], 'is bcdefghi ok', '[redacted]'],
  ['twelve characters alone', [long], 'abcdefghijkl', '[redacted]'],
  ['the whole of it, twice', [long], `${long} ${long}`, '[redacted] [redacted]'],
  ['four of it where the text ends', [long], 'it begins abcd', '[redacted]'],
  ['three of it where the text ends', [long], 'it begins abc', 'it begins abc'],
  ['eleven of it where the text ends', [long], 'it begins abcdefghijk', '[redacted]'],
  ['the whole of a short one, wherever', ['hunter2'], 'hunter2, hunter2hunter2', '[redacted], [redacted][redacted]'],
  ['a part that is in the middle of a short one', ['hunter2'], 'is hunter ok', 'is hunter ok'],
  ['a part of a short one where the text ends', ['hunter2'], 'is hunt', '[redacted]'],
  ['one that is a number', ['73914682'], '{"code":400,"given":73914682}', '{"code":400,"given":"[redacted]"}'],
  ['one without letters', ['!!??**'], 'is !!??**, no', 'is [redacted], no'],
  ['one that looks like a code of mail', ['x=41y!z7w'], 'is x=41y=21z7w no', 'is [redacted] no'],
  ['one that another character set spoils', ['Pässwörd-77'], 'is PÃ¤sswÃ¶rd-77 ok', 'is [redacted] ok'],
  ['one of other letters, too', ['пароль-секрет'], 'is Ð¿Ð°Ñ€Ð¾Ð»ÑŒ ok', 'is [redacted] ok'],
  ['one cut in an entity', [zebra], 'is Kh3-Zebra&apo', 'is [redacted]'],
  ['one whose entity mail has broken', [zebra], 'is Kh3-Zebra&ap=\r\nos;9 ok', 'is [redacted] ok'],
  ['one cut in a code of an address', [zebra], 'is Kh3-Zebra%2', 'is [redacted]'],
  ['one cut in a code of JSON', [zebra], 'is Kh3-Zebra\\u00', 'is [redacted]'],
  ['one cut in a code of mail', [zebra], 'is Kh3-Zebra=2', '[redacted]'],
  ['one in a code of mail for one of an address', [zebra], 'is Kh3-Zebra=25279 ok', 'is [redacted] ok'],
  ['one in UTF-7, whose code has no end', ['Kh3"(Zebra9'], 'is Kh3+ACI(Zebra9 ok', 'is [redacted] ok'],
  ['one in wide letters of a page', [zebra], 'is Ｋｈ３－Ｚｅｂｒａ＆＃３９；９ ok', 'is [redacted] ok'],
  ['a word with a sign of a code', [zebra], 'no App\\Plan at /a?b=%2F here', 'no [redacted] at [redacted] here'],
  ['a line of it, where secrets have spaces', ['a passphrase'], 'a&#32;b is\nbad', '[redacted]\nbad'],
  ['such a line that mail has broken', ['a passphrase'], 'is a &q=\r\nuot;pass\nbad', '[redacted]\nbad'],
])('an excerpt of %s', (_, secrets, text, shown) => {
  expect(excerptOf(text, secrets)).toBe(shown);
});

const pieces = 'Xq7mK2vLp9Zt4Rw8';
test.each<[what: string, text: string, shown: string]>([
  ['broken by tags', '<p>Xq7mK2v<wbr>Lp9Zt4R<wbr>w8 is too weak</p>', '[redacted]'],
  ['with a tag at each sign', '<p>Xq7<b>mK2</b>vLp<b title="x">9Zt</b>4Rw8</p>', '[redacted]'],
  ['in pieces that are told apart', 'Xq7m was taken, and Zt4R was not', '[redacted]'],
  [
    'in a list',
    '{"error":"no","near":["Xq7","mK2","vLp9"]}',
    '{"error":"no","near":["[redacted]","[redacted]","[redacted]"]}',
  ],
  ['in objects', '[{"n":1,"is":"Xq7m"},{"n":8,"is":"K2vL"}]', '[{"n":1,"is":"[redacted]"},{"n":8,"is":"[redacted]"}]'],
  ['in names of fields', '{"Xq7":"bad","mK2vL":"bad"}', '{"[redacted]":"bad"}'],
  ['in such a text that was cut', '[{"is":"Xq7"},{"is":"mK2vL"},{"i', '[redacted]'],
])('a password is found %s', (_, text, shown) => {
  expect(excerptOf(text, [pieces])).toBe(shown);
});

test.each(['it has Xq7m in it', 'Zt4R was taken, and Xq7m was not', '["Xq7m","no"]'])(
  'what is less than two pieces of a password in their order stays: %s',
  (text) => {
    expect(excerptOf(text, [pieces])).toBe(text);
  },
);

test.each<[string, string?]>([
  ['{"Password":["old","new"],"n":1}', '{"Password":"[redacted]","n":1}'],
  ['{"a":"password = \'Made-1x\'"}', '{"a":"[redacted]"}'],
  [String.raw`{"a":"{\"pwd\":81234}"}`, '{"a":"[redacted]"}'],
  [String.raw`{"a":"{\"password\":\"Made-1x\"}"}`, '{"a":"[redacted]"}'],
  ["oops password = 'old one', n=1\nmore"],
  ['error: password: abc def'],
  ['"password" : "a\\"b" n'],
  ['"password": "cut in the mid'],
  ['CUSTOM_SSH_KEY=abc; x'],
  ['{"a": [{"password": abc}]'],
  ['<pre>{&quot;root_password&quot;: Made-1x'],
  ['Array ( [root_password] => Made-1x )'],
  ['["root_password"]=>\n  string(7) "Made-1x"'],
  ['<a><root_password>Made 1x</root_password></a>'],
  ['<n:password><![CDATA[x]]></n:password>'],
  ['u=id%3D1%26root_password%3DMade-1x'],
])('a text with the field of a secret, whatever its value: %s', (text, shown = '[redacted]') => {
  expect(excerptOf(text, [])).toBe(shown);
});

/** Four times the text is a few times the work: the best of several runs counts, by processor time. */
test.each([
  ...['\\', '"', "'", '&', '%', '=', ':', ' ', '[', '{"a":'],
  ...['&amp', '\\"', 'password=', 'a', '%41', '+', '~', 'a-', '\u0000'],
])('grows with the length of a text of %j', (piece) => {
  const secrets = ['correct-horse-battery', piece.repeat(4_000)];
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
});
