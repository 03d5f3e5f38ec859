/** Evidence is refused as a whole, and each wrong line is named by its number. */
import { evidenceBytesMax, parseEvidence, readEvidence } from '../../../src/domain/evidence';
import { describeProblems } from '../../../src/domain/problems';

const line = (n: number, changes: object = {}) => ({
  reference: `PO-${n}`,
  question: '1a2b3c4d',
  placed: true,
  ...changes,
});
const three = [
  line(1),
  line(2, { placed: false, note: 'not in the list' }),
  line(3, { orderId: 77, vmObjectIds: [9001, 9002] }),
];

const said = (given: unknown) => {
  const read = readEvidence(given);
  return read.ok ? 'nothing' : describeProblems(read.problems);
};

it('is taken as it is written; an order id becomes text', () => {
  expect(readEvidence(three)).toEqual({ ok: true, lines: [three[0], three[1], { ...three[2], orderId: '77' }] });
  const order = { orderId: 77, vmObjectIds: [9001] };
  const both = ['clean/PO-1', 'provision/PO-1'].map((reference) => line(1, { reference, ...order }));
  expect(said(both)).toBe('nothing');
});

it.each<[string, unknown[], string]>([
  ['is no object', [line(1), 7], 'line 2: must be a JSON object'],
  ['has a word for placed', [line(1), line(2, { placed: 'yes' })], 'line 2: placed: must be true or false'],
  ['does not say whether', [line(1, { placed: null })], 'line 1: placed: must be true or false'],
  ['names no question', [line(1, { question: undefined })], 'line 1: question: must be a string'],
  ['has a strange reference', [line(1, { reference: "x' OR '1'='1" })], 'line 1: reference: must be a reference'],
  ['has a field too many', [line(1, { account: 'AB-1' })], 'line 1: account: is not a field of this request'],
  ['stands twice', [line(1), line(2), line(1)], 'line 3: stands in line 1, too'],
  ['contradicts another', [line(1), line(1, { placed: false })], 'line 2: contradicts line 1: one says placed'],
  ['has another question', [line(1), line(1, { question: 'ffffffff' })], 'line 2: names the reference of line 1, with'],
  [
    'contradicts the clean-up of its saga, which asks the same',
    [line(1, { reference: 'provision/PO-1', placed: false }), line(1, { reference: 'clean/PO-1' })],
    'line 2: contradicts line 1: both answer one question',
  ],
  ['has servers of what is not there', [line(1, { placed: false, vmObjectIds: [1] })], 'line 1: contradicts itself'],
  ['has an order of what is not there', [line(1, { placed: false, orderId: 'x' })], 'line 1: contradicts itself'],
  [
    'has the server of another',
    [line(1, { vmObjectIds: [5] }), line(2, { vmObjectIds: [4, 5] })],
    'line 2: contradicts line 1: server 5',
  ],
  [
    'has the order of another',
    [line(1, { orderId: 7 }), line(2, { orderId: '7' })],
    'line 2: contradicts line 1: order 7',
  ],
])('is refused for a line that %s', (_what, given, sentence) => {
  expect(said(given)).toContain(sentence);
  expect(said(given).split(';')).toHaveLength(1);
});

it('names the line among three thousand', () => {
  const given: unknown[] = Array.from({ length: 3_000 }, (_, index) => line(index));
  expect(said(given)).toBe('nothing');
  given[2_345] = line(2_345, { question: 5 });
  expect(said(given)).toBe('line 2346: question: must be a string');
});

it('has bounds', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => line(index));
  expect(said(many(5_000))).toBe('nothing');
  expect(said(many(5_001))).toBe('evidence: must not have more than 5000 lines');
  const long = many(1_000).map((one) => ({ ...one, note: 'n'.repeat(1_100) }));
  expect(said(long)).toBe(`evidence: must not have more than ${evidenceBytesMax} bytes`);
  const wrong = readEvidence(many(5_000).map((one) => ({ ...one, placed: 1 })));
  expect(wrong.ok || wrong.problems).toHaveLength(101);
  expect(said([{ reference: 1n }])).toBe('evidence: is not JSON');
});

it('is read from a file, line by line', () => {
  const file = three.map((one) => JSON.stringify(one));
  expect(parseEvidence(`${file.join('\n')}\n`)).toEqual({ ok: true, entries: three });
  expect(parseEvidence(file.join('\r\n'))).toEqual({ ok: true, entries: three });
  const broken = parseEvidence([file[0], '{"reference":', '', file[1]].join('\n'));
  expect(broken).toEqual({
    ok: false,
    problems: [
      { field: 'line 2', message: 'is not JSON' },
      { field: 'line 3', message: 'is empty' },
    ],
  });
});
