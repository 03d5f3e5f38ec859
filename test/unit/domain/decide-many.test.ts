/** An empty filter is never everything, and what only a look shows is said of each saga. */
import {
  beginJob,
  countsOf,
  describeCounts,
  jobReportSchema,
  otherReasons,
  readJob,
  record,
  sagasOf,
} from '../../../src/domain/decide-many';
import { describeProblems } from '../../../src/domain/problems';

const words = { by: 'ann', note: 'the provider is back' };
const byFilter = { ...words, decision: 'retry', where: 'SagaStep="place-order"' };
const line = { saga: 'provision/PO-1', question: '1a2b3c4d', decision: 'confirmPlaced', orderId: 77 };
const byLines = { ...words, decisions: [line] };

const lineWith = (changes: object) => ({ ...byLines, decisions: [{ ...line, ...changes }] });

const said = (input: unknown) => {
  const read = readJob(input);
  return read.ok ? 'nothing' : describeProblems(read.problems);
};

it('is filled in with what was left out', () => {
  const common = { ...words, perSecond: 5, limit: 10_000 };
  const what = { decision: 'retry', where: 'SagaStep="place-order"' };
  expect(readJob(byFilter)).toEqual({ ok: true, value: { ...common, what } });
  const all = { ...what, where: undefined };
  expect(readJob({ ...byFilter, where: 'all' })).toEqual({ ok: true, value: { ...common, what: all } });
  const body = { ...words, question: '1a2b3c4d', orderId: 77 };
  const decisions = [{ saga: 'provision/PO-1', decision: 'confirmPlaced', body }];
  expect(readJob(byLines)).toEqual({ ok: true, value: { ...common, what: { decisions } } });
  // As `order-saga questions` prints it; and with words of its own.
  const own = { ...line, kind: 'outcome-unknown', note: 'in the list of 03:10' };
  expect(readJob({ ...words, decisions: [own] })).toMatchObject({
    value: { what: { decisions: [{ body: { note: 'in the list of 03:10', by: 'ann' } }] } },
  });
});

it.each<[string, unknown, string | RegExp]>([
  ['nothing', undefined, 'must be a JSON object'],
  ['no filter', { ...byFilter, where: undefined }, 'where: is required: a list filter, or all'],
  ['an empty filter', { ...byFilter, where: ' ' }, 'where: must be a list filter, or all'],
  ['a long filter', { ...byFilter, where: 'x'.repeat(2_001) }, 'where: must not have more than 2000 characters'],
  ['no decision', { ...byFilter, decision: undefined }, /^decision: is required, with where; or decisions/],
  ['placed by a filter', { ...byFilter, decision: 'confirmPlaced' }, /^decision: must be one of retry, skip, markDone/],
  ['a correction', { ...byFilter, correction: { label: 'x' } }, 'correction: is not a field of this request'],
  ['no note', { ...byFilter, note: undefined }, 'note: is required: say how you know'],
  ['nobody', { ...byFilter, by: undefined }, 'by: is required: who you are'],
  ['a rate of zero', { ...byFilter, perSecond: 0 }, 'perSecond: must be from 0.01 to 50'],
  ['a limit too high', { ...byFilter, limit: 10_001 }, 'limit: must be from 1 to 10000'],
  ['a filter with lines', { ...byLines, where: 'x' }, 'decisions: does not go with decision and where'],
  ['no lines', { ...byLines, decisions: [] }, 'decisions: must be a list, and not empty'],
  ['too many lines', { ...byLines, decisions: Array(10_001).fill(line) }, 'decisions: must not be more than 10000'],
  ['a long text', { ...byLines, decisions: [{ ...line, x: 'x'.repeat(1_500_000) }] }, /at most$/],
  ['a line that nobody filled in', lineWith({ decision: null }), /^line 1: decision:/],
  ['a bare reference', lineWith({ saga: 'PO-1' }), 'line 1: saga: must be a workflow id'],
  [
    'what does not fit',
    lineWith({ decision: 'confirmNotPlaced' }),
    /^line 1: confirmNotPlaced: orderId: is not a field/,
  ],
  ['a line without a question', lineWith({ question: undefined }), /^line 1: confirmPlaced: question: is required/],
])('says what is wrong with %s', (_what, input, sentence) => {
  expect(said(input)).toMatch(sentence);
});

it('reports each saga, and counts reasons beyond a hundred together', () => {
  const place = beginJob(205);
  const sagas = place.came.map((_, index) => `change/${index}`);
  record(place, 0, { outcome: 'taken' });
  record(place, 1, { outcome: 'gone' });
  for (let index = 2; index < 204; index += 1) record(place, index, { outcome: 'refused', why: `reason ${index}` });
  record(place, 2, { outcome: 'refused', why: 'reason 2' });
  const counts = countsOf(place);
  expect(counts).toEqual({ taken: 1, refused: 202, movedOn: 0, gone: 1, unanswered: 0 });
  expect(describeCounts(counts)).toBe('1 taken, 202 refused, 1 ended before');
  const told = sagasOf(place, sagas);
  expect(told).toMatchObject({ taken: ['change/0'], gone: ['change/1'], movedOn: [], unanswered: [] });
  expect(told.refused).toHaveLength(101);
  expect(told.refused[0]).toEqual({ why: 'reason 2', sagas: ['change/2'] });
  const others = expect.arrayContaining(['change/203']) as unknown;
  expect(told.refused.at(-1)).toMatchObject({ why: otherReasons, sagas: others });
  const report = { job: 'j', asked: 'a', ...words, outcome: 'done', endedAt: new Date(0).toISOString(), counts };
  expect(jobReportSchema().parse({ ...report, notReached: 1, ...told })).toBeDefined();
});
