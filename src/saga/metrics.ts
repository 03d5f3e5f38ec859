/**
 * Counts what happens in a saga. Nothing of it is a command: no history holds it, and a replay counts nothing again.
 */
import { metricMeter, workflowInfo } from '@temporalio/workflow';
import type { DecisionName } from '../domain/decisions';
import { ownerOf, type CallFailure, type SagaFailureName } from '../domain/failures';
import { metrics, type DecisionFate, type UndoFate } from '../domain/metrics';
import type { SagaOutcome } from '../domain/outcomes';
import type { WaitKind } from '../domain/progress';
import type { Progress } from './progress';

export function countEnd(
  { leftovers, neededPerson }: Progress,
  outcome: SagaOutcome | SagaFailureName | 'cancelled' | 'CancelledBefore',
): void {
  count(metrics.sagas, { outcome });
  if (neededPerson) count(metrics.attended, {});
  for (const { kind } of leftovers) count(metrics.leftovers, { kind });
}

export function countWait(what: 'waits' | 'waitsEnded' | 'reminders', kind: WaitKind): void {
  count(metrics[what], { kind });
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

export function countDecision(decision: DecisionName, fate: DecisionFate): void {
  count(metrics.decisions, { decision, fate });
}

export function countFailedCall(failure: CallFailure): void {
  count(metrics.failedCalls, { failure: failure.failure, whose: ownerOf(failure) });
}

export function countUndo(fate: UndoFate): void {
  count(metrics.undos, { fate });
}

export function countLostNotifications(lost: number): void {
  count(metrics.notificationsLost, {}, lost);
}

/** A receiver was not told, and is not tried again by itself. */
export function countGivenUp(route: string): void {
  count(metrics.notificationsGivenUp, { route });
}

function count({ name, help }: { name: string; help: string }, labels: Record<string, string>, times = 1): void {
  metricMeter.createCounter(name, '', help).add(times, labels);
}
