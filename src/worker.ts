/**
 * The worker process: it reads its settings, connects, adds the search attributes that the namespace lacks, prints that
 * it is ready, runs sagas and notifies receivers until SIGTERM or SIGINT. Before it stops, calls in flight finish, a
 * pivot among them.
 */
import { readHold } from './client/hold';
import { CannotListen, readWorkerConfig, SettingsError, temporalAddress, type WorkerConfig } from './config';
import { Deliveries, unusableSecrets } from './operations/deliveries';
import { Gauges } from './operations/gauges';
import { readinessOf, startHealthServer, type HealthServer } from './operations/health';
import { createLog } from './operations/logging';
import { WrongKeyError } from './operations/journal-keys';
import { LostSagas } from './operations/lost-sagas';
import { workerMeter } from './operations/metrics';
import { installRuntime } from './operations/runtime';
import { healthOf } from './journal/health';
import { openServers } from './journal/servers';
import { JournalSchemaError, JournalUnavailable } from './journal/errors';
import { createSagaWorker } from './operations/saga-worker';
import { createSecretResolver } from './security/secret-resolver';
import { SearchAttributesError } from './operations/search-attributes';
import { connectToTemporal, TemporalServerError } from './operations/temporal-server';
import type { Tracing } from './operations/tracing';
import { countUnserved } from './operations/unserved';

async function main(): Promise<void> {
  const config = readWorkerConfig();
  const log = await createLog(config.logLevel);
  const secrets = createSecretResolver(config.secrets);
  for (const unusable of await unusableSecrets(config.notifications.routes, secrets)) {
    log.warn(unusable, 'notifications of a route will wait: no webhook can be signed with its secret');
  }
  if (config.payloadKeys === undefined) log.warn('payloads are not encrypted: PAYLOAD_KEYS is not set');
  // Before Temporal's runtime starts: the runtime would keep a process alive that cannot listen.
  const health = config.healthAddress && (await startHealthServer(config.healthAddress));
  try {
    const meter = workerMeter(installRuntime(log, config.metricsAddress), config);
    const connection = await connectToTemporal(config, (message) => {
      log.warn(message);
    });
    try {
      const tracing = await startTracing(config.tracesEndpoint);
      const saga = await createSagaWorker(connection, config, undefined, tracing);
      const { worker } = saga;
      if (health) health.whyNotReady = readinessOf(worker, connection);
      const { temporal } = saga;
      const deliveries = new Deliveries(config, saga.journal, secrets, meter, log);
      const gauges = new Gauges(connection, config, meter, log, {
        lost: new LostSagas(temporal, saga.journal),
        outbox: () => deliveries.look(),
        openServers: () => openServers(saga.journal, config.namespace),
        holding: () => readHold(temporal),
        unserved: () => countUnserved(connection, config),
        journal: () => healthOf(saga.journal),
      });
      if (config.metricsAddress) gauges.start();
      deliveries.start();
      console.log(readyLine(config, health));
      try {
        await worker.run();
      } finally {
        gauges.stop();
        await deliveries.stop();
        await saga.close();
        await tracing?.close();
      }
    } finally {
      await connection.close();
    }
  } finally {
    await health?.close();
  }
}

function readyLine(config: WorkerConfig, health: HealthServer | undefined): string {
  const line = `worker ready: task queue ${config.taskQueue}, namespace ${config.namespace}, ${temporalAddress(config)}, journal ${config.journal.name}`;
  return health === undefined ? line : `${line}, health ${health.url}`;
}

/** The tracing library is loaded only where traces are wanted. */
async function startTracing(endpoint: string | undefined): Promise<Tracing | undefined> {
  return endpoint === undefined ? undefined : (await import('./operations/tracing.js')).startTracing(endpoint);
}

main().catch((error: unknown) => {
  const expected =
    error instanceof SettingsError ||
    error instanceof SearchAttributesError ||
    error instanceof TemporalServerError ||
    error instanceof JournalUnavailable ||
    error instanceof JournalSchemaError ||
    error instanceof WrongKeyError ||
    error instanceof CannotListen;
  console.error(expected ? `worker cannot start: ${error.message}` : error);
  process.exitCode = 1;
});
