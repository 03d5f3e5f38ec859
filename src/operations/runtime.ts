/** Temporal's runtime, one per process, with its log, and the endpoint of its metrics and ours. */
import { Runtime, type MetricsExporterConfig, type RuntimeOptions } from '@temporalio/worker';
import { CannotListen, inUrl, type ListenAddress } from '../config';
import { metrics } from '../domain/metrics';
import { temporalLogger, type Log } from './logging';
import { attemptBuckets, callBucketsSeconds, protectedBucketsSeconds } from './metrics';

/** @throws CannotListen */
export function installRuntime(log: Log, metricsAddress: ListenAddress | undefined): Runtime {
  try {
    return Runtime.install(optionsOf(log, metricsAddress));
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    throw new CannotListen('METRICS_ADDRESS', metricsAddress, error);
  }
}

function optionsOf(log: Log, metricsAddress: ListenAddress | undefined): RuntimeOptions {
  return {
    logger: temporalLogger(log),
    telemetryOptions: {
      // The log of the native part comes in our format, too.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress === undefined ? {} : { metrics: scrapedAt(metricsAddress) }),
    },
  };
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
        [metrics.providerRequests.name]: callBucketsSeconds,
        [metrics.timeToProtected.name]: protectedBucketsSeconds,
        [metrics.attempts.name]: attemptBuckets,
      },
    },
  };
}
