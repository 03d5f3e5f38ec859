/** A job's report tells of each saga, and always fits one payload of Temporal's. */
import { dryListOf, type WaitingSaga } from '../../../src/domain/dry-list';
import {
  bar,
  countsOf,
  describeCounts,
  emptyTally,
  otherReasons,
  record,
  refusalsOf,
  sumOf,
} from '../../../src/domain/job-report';

it('has each saga under what came of it, and those that refused under why', () => {
  const tally = emptyTally();
  record(tally, 'a', { outcome: 'taken' });
  record(tally, 'b', { outcome: 'refused', why: 'too late' });
  record(tally, 'c', { outcome: 'refused', why: 'no such step' });
  record(tally, 'd', { outcome: 'refused', why: 'too late' });
  record(tally, 'e', { outcome: 'movedOn' });
  record(tally, 'f', { outcome: 'gone' });
  record(tally, 'g', { outcome: 'unanswered' });
  expect(tally).toEqual({
    taken: ['a'],
    refused: [
      { why: 'too late', sagas: ['b', 'd'] },
      { why: 'no such step', sagas: ['c'] },
    ],
    movedOn: ['e'],
    gone: ['f'],
    unanswered: ['g'],
  });
  expect(countsOf(tally)).toEqual({ taken: 1, refused: 3, movedOn: 1, gone: 1, unanswered: 1 });
  expect(sumOf(countsOf(tally))).toBe(7);
  expect(refusalsOf(tally)[0]).toEqual({ why: 'too late', count: 2 });
  expect(describeCounts(countsOf(tally))).toBe('1 taken, 3 refused, 1 moved on, 1 ended before, 1 unanswered');
});

it('fits a payload with the longest ids and ten thousand different reasons', () => {
  const tally = emptyTally();
  for (let n = 0; n < 10_000; n += 1) {
    const id = `provision/${String(n).padStart(128, 'x')}`;
    record(tally, id, { outcome: 'refused', why: `${n} ${'w'.repeat(5_000)}` });
  }
  expect(tally.refused).toHaveLength(101);
  expect(tally.refused.at(-1)?.why).toBe(otherReasons);
  expect(sumOf(countsOf(tally))).toBe(10_000);
  // Temporal takes 2 MiB, and the request travels with it.
  expect(Buffer.byteLength(JSON.stringify(tally))).toBeLessThan(1.6 * 1024 * 1024);
});

it.each([
  [0, 3, `${'░'.repeat(20)} 0 %`],
  [1, 3, `${'█'.repeat(6)}${'░'.repeat(14)} 33 %`],
  [2_999, 3_000, `${'█'.repeat(19)}░ 99 %`],
  [3, 3, `${'█'.repeat(20)} 100 %`],
  [0, 0, `${'█'.repeat(20)} 100 %`],
])('%i of %i as a bar', (done, total, drawn) => {
  expect(bar(done, total)).toBe(drawn);
});

it('counts a dry list by step, account, age and failure', () => {
  const now = Date.parse('2026-01-31T12:00:00.000Z');
  const saga = (n: number, changes: Partial<WaitingSaga>): WaitingSaga => ({
    workflowId: `provision/PO-${n}`,
    kind: 'stuck',
    step: 'place-order',
    question: '1a2b3c4d',
    since: '2026-01-31T11:59:00.000Z',
    ...changes,
  });
  const sagas = [
    saga(1, { since: '2026-01-01T00:00:00.000Z', account: 'AB-2' }),
    saga(2, { since: '2026-01-31T10:30:00.000Z', account: 'AB-1', failure: 'Unauthorized' }),
    saga(3, { since: '2026-01-31T10:30:00.000Z', account: 'AB-1', kind: 'refused', step: 'add-cart-item-1' }),
    ...Array.from({ length: 9 }, (_, n) => saga(n + 4, { failure: 'NotSent' })),
  ];
  expect(dryListOf(sagas, 5, now)).toEqual({
    total: 12,
    beyond: 5,
    kinds: [
      { name: 'stuck', count: 11 },
      { name: 'refused', count: 1 },
    ],
    steps: [
      { name: 'place-order', count: 11 },
      { name: 'add-cart-item-1', count: 1 },
    ],
    accounts: [
      { name: 'no account', count: 9 },
      { name: 'AB-1', count: 2 },
      { name: 'AB-2', count: 1 },
    ],
    ages: [
      { name: 'less than 5 minutes', count: 9 },
      { name: '1 to 6 hours', count: 2 },
      { name: 'more than 7 days', count: 1 },
    ],
    failures: [
      { name: 'NotSent', count: 9 },
      { name: 'no failure', count: 2 },
      { name: 'Unauthorized', count: 1 },
    ],
    first: sagas.slice(0, 10),
  });
});
