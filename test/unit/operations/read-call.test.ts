import { readCall } from '../../../src/operations/outage-watch';
import type { CallEvent } from '../../../src/provider/client';

it.each<[Partial<CallEvent>, boolean | undefined]>([
  [{ status: 200 }, true],
  [{ status: 401, failure: 'Unauthorized' }, true],
  [{ status: 422, failure: 'Rejected' }, true],
  [{ status: 429, failure: 'RateLimited' }, true],
  [{ status: 409, failure: 'UnknownOutcome' }, true],
  [{ status: 503, failure: 'UnknownOutcome' }, false],
  [{ status: 302, failure: 'UnexpectedResponse' }, false],
  [{ failure: 'UnknownOutcome' }, false],
  [{ failure: 'NotSent', sent: false }, false],
  // Our own side kept it back.
  [{ failure: 'NotSent', sent: false, heldBack: true }, undefined],
  [{ failure: 'TokenUnreadable', sent: false }, undefined],
  [{ failure: 'Rejected', sent: false }, undefined],
])('a call that came to %j is one that the provider answered: %s', (changes, isAnswered) => {
  expect(readCall({ endpoint: 'POST /order', method: 'POST', durationMs: 1, sent: true, ...changes })).toBe(isAnswered);
});
