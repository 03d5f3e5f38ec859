/**
 * Counts what happens in a saga. Nothing of it is a command: no history holds it, and a replay counts nothing again.
 *
 * - fates of a decision: `taken`; `refused`: sent as an update, whose sender gets the reason; `ignored`: sent as a signal
 * - fates of an undo: `undone`; `left-behind`: a person said so; `left-alone`: the undo could do harm
 */
import { metricMeter, workflowInfo } from '@temporalio/workflow';
import { ownerOf, type CallFailure, type SagaFailureName } from '../domain/failures';
import { metrics } from '../domain/metrics';
import type { SagaOutcome } from '../domain/outcomes';
import type { Progress } from './progress';

export function count(what: keyof typeof metrics, labels: Record<string, string>, times = 1): void {
  const { name, help } = metrics[what];
  metricMeter.createCounter(name, '', help).add(times, labels);
}

export function countEnd(
  { leftovers, neededPerson }: Progress,
  outcome: SagaOutcome | SagaFailureName | 'cancelled' | 'CancelledBefore',
): void {
  count('sagas', { outcome });
  if (neededPerson) count('attended', {});
  for (const { kind } of leftovers) count('leftovers', { kind });
}

export function countFailedCall(failure: CallFailure): void {
  count('failedCalls', { failure: failure.failure, whose: ownerOf(failure) });
}

/** A server that the saga has bought has all firewalls that it should. */
export function recordProtected(): void {
  const { name, help } = metrics.timeToProtected;
  const tookMs = Date.now() - workflowInfo().startTime.getTime();
  metricMeter.createHistogram(name, 'float', '', help).record(tookMs / 1000);
}

export function recordAttempts(result: 'done' | 'failed', attempts: number): void {
  const { name, help } = metrics.attempts;
  metricMeter.createHistogram(name, 'int', '', help).record(attempts, { result });
}
