/**
 * What a job is asked: an empty filter is never everything, and what says whether something was placed goes by evidence
 * only.
 */
import { describeJob, isJobId, jobIdOf, readJobRequest } from '../../../src/domain/decide-many';
import { readWorkflowId } from '../../../src/domain/identity';
import { describeProblems } from '../../../src/domain/problems';

const byQuery = { decision: 'retry', where: 'SagaStep="place-order"', note: 'the provider is back' };
const line = { reference: 'PO-1', question: '1a2b3c4d', placed: true };
const byEvidence = { evidence: [line], note: 'the export of 03:10' };

const said = (input: unknown) => {
  const read = readJobRequest(input);
  return read.ok ? 'nothing' : describeProblems(read.problems);
};

it('is filled in with what was left out', () => {
  const common = { note: 'the provider is back', perSecond: 5, limit: 10_000, pageSize: 250 };
  expect(readJobRequest(byQuery)).toEqual({ ok: true, job: { ...byQuery, ...common } });
  const { where: _, ...rest } = byQuery;
  expect(readJobRequest({ ...rest, all: true })).toEqual({ ok: true, job: { ...rest, ...common } });
  expect(readJobRequest(byEvidence)).toEqual({ ok: true, job: { ...byEvidence, ...common, note: byEvidence.note } });
});

it.each<[string, unknown, string]>([
  ['nothing', undefined, 'must be a JSON object'],
  ['a list', [], 'must be a JSON object'],
  [
    'no filter',
    { ...byQuery, where: undefined },
    'where: is required: a list filter; for all that wait, say all: true',
  ],
  [
    'an empty filter',
    { ...byQuery, where: ' ' },
    'where: is required: a list filter; for all that wait, say all: true',
  ],
  ['all that is not meant', { ...byQuery, where: undefined, all: false }, 'all: must be true'],
  ['both', { ...byQuery, all: true }, 'all: does not go with where: say one of them'],
  ['a long filter', { ...byQuery, where: 'x'.repeat(2_001) }, 'where: must not have more than 2000 characters'],
  ['no decision', { ...byQuery, decision: undefined }, /^decision: is required: .* goes by evidence$/.source],
  ['placed by a query', { ...byQuery, decision: 'confirmPlaced' }, 'decision: must be one of retry, skip, release'],
  ['a correction', { ...byQuery, correction: { label: 'x' } }, 'correction: is not a field of this request'],
  ['no note', { ...byQuery, note: undefined }, 'note: is required: say how you know'],
  ['an empty note', { ...byQuery, note: ' ' }, 'note: is required: say how you know'],
  ['a rate of zero', { ...byQuery, perSecond: 0 }, 'perSecond: must be from 0.01 to 50'],
  ['a rate below zero', { ...byQuery, perSecond: -1 }, 'perSecond: must be from 0.01 to 50'],
  ['a rate too high', { ...byQuery, perSecond: 50.5 }, 'perSecond: must be from 0.01 to 50'],
  ['a limit of zero', { ...byQuery, limit: 0 }, 'limit: must be a whole number from 1 to 10000'],
  ['a limit too high', { ...byQuery, limit: 10_001 }, 'limit: must be a whole number from 1 to 10000'],
  ['a page too long', { ...byQuery, pageSize: 501 }, 'pageSize: must be a whole number from 1 to 500'],
  ['a probe of none', { ...byQuery, probe: { first: 0 } }, 'probe.first: must be a whole number from 1 to 50'],
  ['a decision with evidence', { ...byEvidence, decision: 'retry' }, /^decision: does not go with evidence/.source],
  ['a filter with evidence', { ...byEvidence, where: 'x' }, /^where: does not go with evidence/.source],
  ['all with evidence', { ...byEvidence, all: true }, /^all: does not go with evidence/.source],
  ['no evidence', { ...byEvidence, evidence: [] }, 'evidence: must have at least one line'],
  ['evidence that is none', { ...byEvidence, evidence: 'x' }, 'evidence: must be a list of lines'],
])('says what is wrong with %s', (_what, input, sentence) => {
  expect(said(input)).toMatch(sentence.startsWith('^') ? new RegExp(sentence) : sentence);
  expect(said(input)).not.toBe('nothing');
});

it('is told in words', () => {
  const words = (input: unknown) => {
    const read = readJobRequest(input);
    return read.ok && describeJob(read.job);
  };
  expect(words(byQuery)).toBe('retry where SagaStep="place-order"');
  expect(words({ ...byQuery, where: undefined, all: true, decision: 'skip' })).toBe('skip all that wait');
  expect(words(byEvidence)).toBe('1 line of evidence');
});

it('stands apart from the sagas by its id', () => {
  const id = jobIdOf('night-1');
  expect(isJobId(id)).toBe(true);
  expect(readWorkflowId(id)).toBeUndefined();
  for (const other of ['provision/night-1', 'decide-many/', 'decide-many/a b', `decide-many/${'x'.repeat(129)}`]) {
    expect(isJobId(other)).toBe(false);
  }
});
