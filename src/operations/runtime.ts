/** Temporal's runtime, one for the process: where its log goes, and where its metrics and ours are scraped. */
import { Runtime, type MetricsExporterConfig, type RuntimeOptions } from '@temporalio/worker';
import type { ListenAddress } from '../config';
import { metrics } from '../domain/metrics';
import { CannotListen, inUrl } from './cannot-listen';
import { temporalLogger, type Log } from './logging';
import { callBucketsSeconds } from './metrics';

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
      // The native part's log in our form, too, and not beside it.
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress === undefined ? {} : { metrics: scrapedAt(metricsAddress) }),
    },
  };
}

function scrapedAt(address: ListenAddress): MetricsExporterConfig {
  return {
    prometheus: {
      bindAddress: inUrl(address),
      // As Prometheus names things: `_total`, and seconds.
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: { [metrics.providerRequests.name]: callBucketsSeconds },
    },
  };
}
