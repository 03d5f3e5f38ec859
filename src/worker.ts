/**
 * The worker process: it reads its settings, connects, adds the search attributes that the namespace lacks, prints that
 * it is ready, runs sagas and notifies receivers until SIGTERM or SIGINT. Before it stops, calls in flight finish, a
 * pivot among them.
 */
import { readHold } from './client/hold';
import { CannotListen, readWorkerConfig, SettingsError, temporalAddress, type WorkerConfig } from './config';
import { isWebhookSecret, wrongSecret } from './notifications/sender';
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
import type { Route } from './domain/notifications';
import { createSecretResolver, type SecretResolver } from './security/secret-resolver';
import { SearchAttributesError } from './operations/search-attributes';
import { connectToTemporal, TemporalServerError } from './operations/temporal-server';
import type { Tracing } from './operations/tracing';
import { countUnserved } from './operations/unserved';

async function main(): Promise<void> {
  const config = readWorkerConfig();
  const log = await createLog(config.logLevel);
  const secrets = createSecretResolver(config.secrets);
  const { routes = [] } = config.activities.notifications ?? {};
  for (const unusable of await unusableSecrets(routes, secrets)) {
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
      const gauges = new Gauges(connection, { ...config, routes: routes.map(({ name }) => name) }, meter, log, {
        lost: new LostSagas(temporal, saga.journal),
        openServers: () => openServers(saga.journal, config.namespace),
        holding: () => readHold(temporal),
        unserved: () => countUnserved(connection, config),
        journal: () => healthOf(saga.journal),
      });
      if (config.metricsAddress) gauges.start();
      console.log(readyLine(config, health));
      try {
        await worker.run();
      } finally {
        gauges.stop();
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

/**
 * The secrets of routes that no webhook can be signed with: what they should sign is tried again, as for a receiver that
 * is down.
 */
async function unusableSecrets(
  routes: readonly Route[],
  secrets: SecretResolver,
): Promise<{ route: string; secret: string; why: string }[]> {
  const unusable = [];
  for (const { name: route, secret } of routes) {
    const value = await secrets.resolve(secret).catch(() => undefined);
    if (value === undefined) unusable.push({ route, secret, why: 'its secret cannot be read' });
    else if (!isWebhookSecret(value)) unusable.push({ route, secret, why: wrongSecret });
  }
  return unusable;
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
