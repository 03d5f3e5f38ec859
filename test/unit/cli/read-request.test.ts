/** Reading a request: what is wrong with a file is one sentence, which never quotes the file. */
import { Readable } from 'node:stream';
import { readJson, readRequest } from '../../../src/cli/read-request';
import { parseJson } from '../../../src/domain/json';
import { requestBytesMax } from '../../../src/domain/validation';
import { folderForFile } from '../../support/folder';

const { write } = folderForFile();
const noInput = Readable.from([]);

const fileWith = (content: string | Buffer) => write(`${Math.random()}.json`, content);

const complaintAbout = async (path: string, stdin: Readable = noInput): Promise<string> =>
  readRequest(path, stdin).then(
    () => 'it was read',
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : 'no error'),
  );

it.each([
  ['{"a":1}', { a: 1 }],
  ['\uFEFF{"a":1}\n', { a: 1 }],
  [' [1]\n', [1]],
  ['null', null],
  [
    '{"delta_value":9007199254740993,"n":0.10000000000000000001}',
    { delta_value: '9007199254740993', n: '0.10000000000000000001' },
  ],
])('reads %j', async (content, value) => {
  expect(await readRequest(fileWith(content), noInput)).toEqual(value);
  expect(await readRequest('-', Readable.from([Buffer.from(content)]))).toEqual(value);
});

it('reads text that comes in pieces, also through the middle of a letter', async () => {
  const bytes = Buffer.from('{"label":"Zürich"}');
  const pieces = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  expect(await readRequest('-', Readable.from(pieces))).toEqual({ label: 'Zürich' });
});

it.each([
  ['', /is empty/],
  [' \n\t', /is empty/],
  [Buffer.from([0xff, 0xfe, 0x7b, 0x00]), /not UTF-8/],
  ['{"reference": }', /is not JSON/],
  ['{"a":1,}', /is not JSON: line 1, column 8/],
  ['{\n  "a": 1\n  "b": 2\n}', /is not JSON: line 3, column 3/],
  ['\n{"a": 1,\n "a": {}}', /names a field twice: a, line 3, column 3/],
  ['['.repeat(65) + ']'.repeat(65), /is nested deeper than 64 levels/],
  ['['.repeat(100_000), /is nested deeper than 64 levels/],
])('complains of %j', async (content, sentence) => {
  const path = fileWith(content);
  const complaint = await complaintAbout(path);
  expect(complaint).toMatch(sentence);
  expect(complaint).toContain(path);
  expect(complaint).toMatch(/^(UsageError|UnreadableJson): /);
  expect(complaint.split('\n')).toHaveLength(1);
});

it('reads no more of an endless input than it must', async () => {
  let given = 0;
  const endless = new Readable({
    read(size) {
      given += size;
      this.push(Buffer.alloc(size, ' '));
    },
  });
  expect(await complaintAbout('-', endless)).toMatch(/standard input is too long/);
  expect(given).toBeLessThan(3 * requestBytesMax);
  expect(endless.destroyed).toBe(true);
});

it.each([
  '{"password":"geheim" x}',
  '{"password":"geheim","password":"geheimer"}',
  '{"password":"geheim',
  '{"password":geheim}',
  'geheim',
])('never quotes what it cannot parse: %s', (text) => {
  expect(() => parseJson(text, 'it')).toThrow(/^it (is not JSON|names a field twice)/);
  expect(() => parseJson(text, 'it')).not.toThrow(/geheim/);
});

it('takes JSON itself, its file, and standard input', async () => {
  const decision = { question: 'q', note: 'seen' };
  const text = JSON.stringify(decision);
  const given = [text, ` ${text}`, fileWith(text)];
  for (const one of given) expect(await readJson(one, noInput, 'it')).toEqual(decision);
  expect(await readJson('-', Readable.from([text]), 'it')).toEqual(decision);
  // A shell has eaten the quotes.
  expect(() => readJson('{question:q}', noInput, 'it')).toThrow(/^it is not JSON/);
});
