/** What a saga is found by while it waits for several things at once. */
import { Progress } from '../../../src/saga/progress';

jest.mock('@temporalio/workflow', () => ({ upsertSearchAttributes: () => undefined }));

const waiting = { id: 'q', kind: 'stuck', step: 'quote', question: '?', choices: [], since: '2026-01-31T22:15:00Z' };

it('a look beside an open question, which waits for a call in flight, does not hide the question', () => {
  const progress = new Progress('changeOrder', 'A');
  progress.wait({ ...waiting, kind: 'stuck' });
  progress.settle('read-journal', 1_000);
  expect(progress.state).toBe('stuck');
  progress.settled('read-journal');
  expect(progress.state).toBe('stuck');
  progress.answered();
  expect(progress.state).toBe('running');
});

it('a look that waited before the question was asked does not hide it either', () => {
  const progress = new Progress('changeOrder', 'A');
  progress.settle('read-journal', 1_000);
  expect(progress.state).toBe('settling');
  progress.wait({ ...waiting, kind: 'stuck' });
  progress.settled('read-journal');
  expect(progress.state).toBe('stuck');
});
