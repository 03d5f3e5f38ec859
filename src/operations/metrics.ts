/**
 * What a worker measures outside of its sagas, through the SDK's meter, so that one endpoint has the SDK's metrics and
 * ours. Without an address for it, the meter measures nothing.
 */
import type { MetricMeter } from '@temporalio/common';
import type { Runtime } from '@temporalio/worker';
import type { WorkerConfig } from '../config';
import { sagaFailureNames } from '../domain/failures';
import { workflowNames } from '../domain/identity';
import { leftoverSchema } from '../domain/leftovers';
import { resultOutcomes } from '../domain/outcomes';
import { metrics, outageFates } from '../domain/metrics';
import { findingKinds, reconcileWorkflow, sweepOutcomes } from '../domain/reconcile';
import { notifyWorkflow } from '../domain/notifications';
import { waitKinds } from '../domain/progress';
import type { CallEvent } from '../provider/client';

/** A meter with the labels that the SDK adds to what workflows count. */
export function workerMeter(
  { metricMeter }: Runtime,
  { namespace, taskQueue }: Pick<WorkerConfig, 'namespace' | 'taskQueue'>,
) {
  return metricMeter.withTags({ namespace, taskQueue });
}

/** From the fastest answer of a remote service to the longest that a call may take. */
export const callBucketsSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25];

/**
 * From a saga that meets no trouble to one that waited for a person for days; 600 is the objective of
 * docs/observing.md.
 */
export const protectedBucketsSeconds = [10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400];

export const attemptBuckets = [1, 2, 3, 5, 8, 13];

export function recordCallsWith(meter: MetricMeter): (event: CallEvent) => void {
  const { name, help } = metrics.providerRequests;
  const histogram = meter.createHistogram(name, 'float', '', help);
  return ({ endpoint, failure, durationMs }) => {
    // A call that was put off did not reach for the provider: it is counted apart from one that could not be sent.
    histogram.record(durationMs / 1000, { endpoint, class: failure ?? 'ok' });
  };
}

/**
 * Prometheus sees no increase in a counter whose first value is 1. So the counters of the alerts begin at 0, in every
 * worker.
 */
export function beginAtZero(meter: MetricMeter, routes: readonly string[]): void {
  const zero = ({ name, help }: { name: string; help: string }, label: string, values: readonly string[]) => {
    const counter = meter.createCounter(name, '', help);
    for (const workflowType of workflowNames) {
      for (const value of values) counter.add(0, { workflowType, [label]: value });
    }
  };
  zero(metrics.sagas, 'outcome', [...resultOutcomes, 'cancelled', ...sagaFailureNames]);
  zero(
    metrics.leftovers,
    'kind',
    leftoverSchema.options.map(({ shape }) => shape.kind.value),
  );
  zero(metrics.waits, 'kind', waitKinds);
  const { notificationsGivenUp } = metrics;
  const givenUp = meter.createCounter(notificationsGivenUp.name, '', notificationsGivenUp.help);
  for (const route of routes) givenUp.add(0, { workflowType: notifyWorkflow, route });
  const { outages } = metrics;
  for (const fate of outageFates) meter.createCounter(outages.name, '', outages.help).add(0, { fate });
  meter.createCounter(metrics.lateAnswers.name, '', metrics.lateAnswers.help).add(0);
  const workflowType = reconcileWorkflow;
  const sweeps = meter.createCounter(metrics.sweeps.name, '', metrics.sweeps.help);
  for (const outcome of sweepOutcomes) sweeps.add(0, { workflowType, outcome });
  const findings = meter.createCounter(metrics.findings.name, '', metrics.findings.help);
  for (const kind of findingKinds) findings.add(0, { workflowType, kind });
  const lost = meter.createCounter(metrics.notificationsLost.name, '', metrics.notificationsLost.help);
  const attended = meter.createCounter(metrics.attended.name, '', metrics.attended.help);
  for (const workflowType of workflowNames) {
    lost.add(0, { workflowType });
    attended.add(0, { workflowType });
  }
}
