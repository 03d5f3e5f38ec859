/** Answers that no provider should give, made by fast-check, and the bytes in which they go out. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { added, quote } from '../../support/stand-in';

export interface Answer {
  status: number;
  headers: string[];
  body: Buffer;
}

export const changeQuote = { ...quote, inapplicable_resources: [] };

const oddNumbers = ['1e400', '-1e400', '9007199254740993', '-1', '0', '1.5', '4711.0000000000001', '1E2', '-0'];
const oddTexts = ['null', 'true', '""', '"4711"', '[]', '{}', '[4711]', '{"0":4711}', '"\\ud800"', '"2026-02-31"'];
const oddKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', '0', 'code'];

const documented = fc.constantFrom<Record<string, unknown>>(added, changeQuote, { id: 1, vm_object_ids: [9001] });

/** JSON text of a documented answer in which one field's value is something else, is missing, or stands twice. */
const almost: fc.Arbitrary<string> = documented.chain((answer) =>
  fc
    .record({
      key: fc.constantFrom(...Object.keys(answer), 'code', 'data', ...oddKeys),
      value: fc.oneof(fc.constantFrom(...oddNumbers, ...oddTexts), fc.json({ maxDepth: 2 })),
      how: fc.constantFrom<'replace' | 'remove' | 'before' | 'after'>('replace', 'remove', 'before', 'after'),
    })
    .map(({ key, value, how }) => {
      const fields = Object.entries(answer).map(([name, inner]) => [name, JSON.stringify(inner)] as const);
      const others = how === 'replace' || how === 'remove' ? fields.filter(([name]) => name !== key) : fields;
      const odd = [key, value] as const;
      const all = how === 'remove' ? others : how === 'before' ? [odd, ...others] : [...others, odd];
      return `{${all.map(([name, inner]) => `${JSON.stringify(name)}:${inner}`).join(',')}}`;
    }),
);

const whole = documented.map((answer) => JSON.stringify(answer));
const code = fc
  .record({
    number: fc.oneof(fc.integer({ min: -1, max: 1_000 }).map(String), fc.constantFrom(...oddNumbers)),
    under: fc.boolean(),
  })
  .map(({ number, under }) => (under ? `{"data":{"code":${number}}}` : `{"code":${number}}`));

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

const deep = fc.constantFrom(63, 64, 65, 1_000, 100_000).map(nested);
const text = fc.oneof(
  { weight: 4, arbitrary: almost },
  { weight: 2, arbitrary: whole },
  { weight: 2, arbitrary: code },
  fc.json(),
  deep,
  fc.string({ unit: 'binary' }),
);

const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 6, arbitrary: text.map((body) => Buffer.from(body)) },
  fc.tuple(text, fc.nat(200)).map(([body, from]) => Buffer.from(body).subarray(0, -1 - from)),
  text.map((body) => Buffer.from(`\ufeff${body}`)),
  text.map((body) => Buffer.from(body, 'utf16le')),
  fc.tuple(whole, fc.nat(60)).map(([body, at]) => withByte(body, at, 0xff)),
  fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
  text.map((body) => gzipSync(body)),
);

function withByte(body: string, at: number, byte: number): Buffer {
  const changed = Buffer.from(body);
  changed[at % changed.length] = byte;
  return changed;
}

const headers = fc.subarray([
  'content-type: text/html; charset=utf-16',
  'content-type: application/json; charset=klingon',
  'content-encoding: gzip',
  'content-encoding: br, gzip',
  'retry-after: 99999999999999999999',
  'retry-after: -1, soon',
  'location: /order',
  'set-cookie: a=b',
  'x-odd: \u00ff\u00fe',
  'connection: close',
  'connection: keep-alive, upgrade',
  'keep-alive: timeout=0',
  'etag: "',
]);

const status = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(200, 200, 201, 202, 206, 226, 299) },
  { weight: 3, arbitrary: fc.constantFrom(400, 401, 402, 403, 404, 408, 409, 418, 422, 429, 451, 499, 500, 502, 503) },
  { weight: 1, arbitrary: fc.integer({ min: 300, max: 399 }) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 999 }) },
);

export const answers: fc.Arbitrary<Answer> = fc.record({ status, headers, body: bytes });

/** Statuses whose answers have no body, whatever their headers say. */
export const bodiless = [204, 304];

export function onTheWire({ status: code, headers: lines, body }: Answer): Buffer {
  const framed = bodiless.includes(code) ? [] : [`content-length: ${body.length}`];
  return Buffer.concat([
    Buffer.from([`HTTP/1.1 ${code} Odd`, ...lines, ...framed, '', ''].join('\r\n'), 'latin1'),
    bodiless.includes(code) ? Buffer.alloc(0) : body,
  ]);
}

/** The length of an unpacked body: a hundred times its own. */
export const bombs = [
  ['gzip', gzipSync(Buffer.alloc(10_000_000, ' '))],
  ['deflate', deflateSync(Buffer.alloc(10_000_000, ' '))],
  ['br', brotliCompressSync(Buffer.alloc(10_000_000, ' '))],
] as const;
