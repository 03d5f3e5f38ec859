import { noopMetricMeter } from '@temporalio/common';
import { OutageWatch, readCall } from '../../../src/operations/outage-watch';
import type { CallEvent } from '../../../src/provider/client';

const call: CallEvent = { endpoint: 'POST /order', durationMs: 1, sent: true };

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
  expect(readCall({ ...call, ...changes })).toBe(isAnswered);
});

it.each([
  ['four of five', [200, 503, 503, 503, 503], true],
  ['three of five', [200, 200, 503, 503, 503], false],
  ['too few', [503, 503, 503, 503], false],
])('%s without an answer: of %j that is an outage: %s', async (_what, statuses, isOutage) => {
  const error = jest.fn();
  // There is no Temporal to hold anything in, and that is told.
  const around = { temporal: {} as never, taskQueue: 'q', identity: '1@a', meter: noopMetricMeter };
  const config = { holdMs: 1_000, windowMs: 60_000, callsMin: 5 };
  const watch = new OutageWatch(config, { ...around, log: { warn: jest.fn(), error } }, () => 'provision/PO-1');
  for (const status of statuses) {
    watch.onCall({ ...call, status, ...(status === 200 ? {} : { failure: 'UnknownOutcome' }) });
    await new Promise(setImmediate);
  }
  await watch.close();
  expect(error).toHaveBeenCalledTimes(isOutage ? 1 : 0);
});
