/** The worker process: it runs sagas and notifies receivers until a signal. Calls in flight end first. */
import { onStop } from './config/stop-signals';
import {
  CannotStart,
  isRenewed,
  lookForRenewalMs,
  noHighWaterMark,
  readWorkerConfig,
  type WorkerConfig,
} from './config';
import { formOf } from './notifications/forms';
import { Gauges } from './operations/gauges';
import { readinessOf, startHealthServer, type HealthServer } from './operations/health';
import { createLog, type Log } from './operations/logging';
import { installRuntime } from './operations/metrics';
import { JournalSchemaError, JournalUnavailable } from './journal/database/errors';
import { createSagaWorker } from './operations/saga-worker';
import type { Route } from './domain/notifications';
import { createSecretResolver, type SecretResolver } from './security/secret-resolver';
import { connectToTemporal } from './operations/temporal-server';

const renewed =
  'the files of the connection to Temporal or to the provider were renewed: this worker ends, and is to be started anew';
/** Not 0, so that whoever starts it anew after a failure only does so, too. */
const renewedStatus = 75;

async function main(): Promise<void> {
  const config = readWorkerConfig();
  const log = await createLog(config.logLevel);
  const { routes = [] } = config.activities.notifications ?? {};
  await warnOfSecrets(routes, createSecretResolver(config.secrets), log);
  if (config.profile === undefined) {
    log.warn(
      'PROVIDER_PROFILE is not set: every order and change order will ask whether it was placed, deleted cart items are reported, and firewalls stay unverified (docs/profile.md)',
    );
  }
  if (config.journal.witnessFile === undefined) log.warn(noHighWaterMark);
  if (config.payloadKeys === undefined) log.warn('payloads are not encrypted: PAYLOAD_KEYS is not set');
  // Before Temporal's runtime starts: the runtime would keep a process alive that cannot listen.
  const health = config.healthAddress && (await startHealthServer(config.healthAddress));
  /** What is to be closed, the last one first, also where closing another one fails. */
  const open: (() => unknown)[] = [() => health?.close()];
  try {
    installRuntime(log, config.metricsAddress);
    const connection = await connectToTemporal(config, (message) => log.warn(message));
    open.unshift(() => connection.close());
    const { tracesEndpoint: endpoint } = config;
    // The library is loaded only where traces are wanted.
    const tracing = endpoint ? (await import('./operations/tracing.js')).startTracing(endpoint) : undefined;
    const saga = await createSagaWorker(connection, config, undefined, tracing);
    const { worker } = saga;
    open.unshift(saga.close, () => tracing?.close());
    if (health) health.whyNotReady = readinessOf(worker, connection);
    const gauges = new Gauges({ ...config, routes: routes.map(({ name }) => name) }, log, saga);
    open.unshift(() => gauges.stop());
    if (config.metricsAddress) gauges.start();
    const stop = () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    const renewals = setInterval(() => {
      if (!isRenewed(config)) return;
      clearInterval(renewals);
      process.exitCode = renewedStatus;
      log.warn({ withinMs: config.shutdownGraceMs }, `${renewed}; calls in flight end first`);
      stop();
    }, lookForRenewalMs);
    open.unshift(() => clearInterval(renewals));
    const stopped = worker.run();
    onStop((signal) => {
      log.info({ signal, withinMs: config.shutdownGraceMs }, 'stopping: calls in flight end first');
      stop();
    });
    console.log(readyLine(config, health));
    await stopped;
  } finally {
    await open.reduce<Promise<unknown>>((closed, close) => closed.finally(close), Promise.resolve());
  }
}

/** With some secrets nothing can be sent: their routes wait, as for a receiver that is down. */
async function warnOfSecrets(routes: readonly Route[], secrets: SecretResolver, log: Log): Promise<void> {
  for (const route of routes) {
    const { name, secret } = route;
    const value = await secrets.resolve(secret).catch(() => undefined);
    const why = value === undefined ? 'its secret cannot be read' : formOf(route, value);
    if (typeof why === 'string')
      log.warn({ route: name, secret, why }, 'notifications of a route will wait for its secret');
  }
}

function readyLine(config: WorkerConfig, health: HealthServer | undefined): string {
  const line = `worker ready: task queue ${config.taskQueue}, namespace ${config.namespace}, ${config.temporalAddress}, journal ${config.journal.name}`;
  return health === undefined ? line : `${line}, health ${health.url}`;
}

/** Each says in its message what to do. */
const expected = [CannotStart, JournalUnavailable, JournalSchemaError];

main().catch((error: unknown) => {
  const isExpected = expected.some((kind) => error instanceof kind);
  console.error(isExpected ? `worker cannot start: ${(error as Error).message}` : error);
  process.exitCode = 1;
});
