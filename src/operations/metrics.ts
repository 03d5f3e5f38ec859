/** A worker's metrics, through the SDK's meter at one endpoint. Without an address nothing is measured. */
import type { MetricMeter } from '@temporalio/common';
import { Runtime, type MetricsExporterConfig } from '@temporalio/worker';
import { cannotListen, inUrl, type ListenAddress } from '../config';
import type { Activities } from '../activities';
import { ownerOf, sagaFailureNames } from '../domain/failures';
import { workflowNames, type WorkflowName } from '../domain/identity';
import { leftoverKinds, resultOutcomes } from '../domain/outcomes';
import { metrics, type Metric } from '../domain/metrics';
import { findingKinds, reconcileWorkflow, sweepOutcomes } from '../domain/reconcile';
import { notifyWorkflow } from '../domain/notifications';
import { waitKinds } from '../domain/progress';
import type { CallEvent } from '../provider/client';
import { temporalLogger, type Log } from './logging';

/** Temporal's runtime, one per process. @throws CannotStart */
export function installRuntime(log: Log, metricsAddress: ListenAddress | undefined): Runtime {
  try {
    return Runtime.install({
      logger: temporalLogger(log),
      // The program handles all signals: the SDK's handlers would let a second one end it.
      shutdownSignals: [],
      telemetryOptions: {
        // The log of the native part comes in our format, too.
        logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
        metrics: metricsAddress && scrapedAt(metricsAddress),
      },
    });
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    throw cannotListen('METRICS_ADDRESS', metricsAddress, error);
  }
}

function scrapedAt(address: ListenAddress): MetricsExporterConfig {
  return {
    prometheus: {
      bindAddress: inUrl(address),
      // Prometheus's naming: `_total`, and seconds.
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: {
        // From the fastest answer of a remote service to the longest that a call may take.
        [metrics.providerRequests.name]: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25],
        // From a saga without trouble to one that waited for days; 600 is the objective of docs/observing.md.
        [metrics.timeToProtected.name]: [10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400],
        [metrics.attempts.name]: [1, 2, 3, 5, 8, 13],
      },
    },
  };
}

export function recordCallsWith(meter: MetricMeter): (event: CallEvent) => void {
  const { name, help } = metrics.providerRequests;
  const histogram = meter.createHistogram(name, 'float', '', help);
  return ({ endpoint, failure, durationMs }) => {
    // A call that was put off did not reach for the provider: it is counted apart from one that could not be sent.
    histogram.record(durationMs / 1000, { endpoint, class: failure ?? 'ok' });
  };
}

type Name = keyof Activities;

/** Whose answer may come late. */
const placing: Record<WorkflowName, Name[]> = {
  provisionServers: ['placeOrder'],
  changeOrder: ['placeChangeOrder'],
  switchPlan: ['switchPlan'],
  setFirewalls: [],
  cleanCart: [],
};

/** Prometheus sees no increase in a counter whose first value is 1: those of the alerts begin at 0 everywhere. */
export function beginAtZero(meter: MetricMeter, routes: readonly string[]): void {
  const zero = ({ name, help }: Metric, all: readonly Record<string, string>[]) => {
    const counter = meter.createCounter(name, '', help);
    for (const labels of all) counter.add(0, labels);
  };
  const each = (label: string, values: readonly string[], others: Record<string, string> = {}) =>
    values.map((value) => ({ ...others, [label]: value }));
  const sagas = each('workflowType', workflowNames);
  const ofSagas = (label: string, values: readonly string[], others: Record<string, string> = {}) =>
    sagas.flatMap((saga) => each(label, values, { ...saga, ...others }));
  const ofSweeps = { workflowType: reconcileWorkflow };
  zero(metrics.sagas, ofSagas('outcome', [...resultOutcomes, 'cancelled', ...sagaFailureNames]));
  zero(metrics.leftovers, ofSagas('kind', leftoverKinds));
  zero(metrics.waits, ofSagas('kind', waitKinds));
  zero(metrics.attended, sagas);
  zero(metrics.notificationsLost, sagas);
  zero(metrics.notificationsGivenUp, each('route', routes, { workflowType: notifyWorkflow }));
  // The SDK adds this label to what an activity counts.
  zero(metrics.lateAnswers, each('activityType', [...Object.values(placing).flat(), 'writeOutcome' satisfies Name]));
  const failure = 'Unauthorized';
  const whose = [401, 403].map((status) => ownerOf({ failure, status }));
  zero(metrics.failedCalls, ofSagas('whose', whose, { failure }));
  zero(metrics.sweeps, each('outcome', sweepOutcomes, ofSweeps));
  zero(metrics.findings, each('kind', findingKinds, ofSweeps));
}
