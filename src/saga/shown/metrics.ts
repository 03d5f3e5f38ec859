/** Counts what happens in a saga. Nothing of it is a command: no history holds it, and a replay counts nothing again. */
import { metricMeter, workflowInfo } from '@temporalio/workflow';
import type { DecisionName } from '../../domain/decisions';
import { ownerOf, type CallFailure, type SagaFailureName } from '../../domain/failures';
import type { Leftover, SagaOutcome } from '../../domain/outcomes';
import { metrics } from '../../domain/metrics';
import type { WaitKind } from '../../domain/progress';
import type { SweepReport } from '../../domain/reconcile';
import type { Progress } from './progress';

type Ending = SagaOutcome | SagaFailureName | 'cancelled' | 'CancelledBefore';

interface Counted {
  sagas: { outcome: Ending };
  attended: Record<string, never>;
  leftovers: Pick<Leftover, 'kind'>;
  waits: { kind: WaitKind };
  waitsEnded: { kind: WaitKind };
  reminders: { kind: WaitKind };
  decisions: { decision: DecisionName; fate: 'taken' | 'refused' };
  failedCalls: Pick<CallFailure, 'failure'> & { whose: ReturnType<typeof ownerOf> };
  /** `left-behind`: a person said so. `left-alone`: the undo could do harm. */
  undos: { fate: 'undone' | 'left-behind' | 'left-alone' };
  notificationsLost: Record<string, never>;
  notificationsGivenUp: { route: string };
  sweeps: Pick<SweepReport, 'outcome'>;
  findings: { kind: string };
}

export function count<C extends keyof Counted>(what: C, labels: Counted[C], times = 1): void {
  const { name, help } = metrics[what];
  metricMeter.createCounter(name, '', help).add(times, labels);
}

export function countEnd({ leftovers, neededPerson }: Progress, outcome: Ending): void {
  count('sagas', { outcome });
  if (neededPerson) count('attended', {});
  for (const { kind } of leftovers) count('leftovers', { kind });
}

/** What a person has to agree to first has not failed. */
export function countFailedCall(failure: CallFailure): void {
  if (failure.failure === 'NeedsApproval') return;
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
