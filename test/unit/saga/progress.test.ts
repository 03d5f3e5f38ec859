/** A saga is found by its question while it waits for several things at once. */
import { Progress } from '../../../src/saga/shown/progress';

jest.mock('@temporalio/workflow', () => ({ upsertSearchAttributes: () => undefined }));

const waiting = { id: 'q', kind: 'stuck', step: 'quote', question: '?', choices: [], since: '2026-01-31T22:15:00Z' };

it.each([true, false])('a look for a call in flight hides no open question; asked first: %j', (first) => {
  const progress = new Progress('changeOrder', 'A');
  if (first) progress.wait({ ...waiting, kind: 'stuck' });
  progress.enterSettling('read-journal', 1_000);
  expect(progress.state).toBe(first ? 'stuck' : 'settling');
  if (!first) progress.wait({ ...waiting, kind: 'stuck' });
  progress.leaveSettling('read-journal');
  expect(progress.state).toBe('stuck');
  progress.answered();
  expect(progress.state).toBe('running');
});
