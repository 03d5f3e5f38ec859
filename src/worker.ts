/** The worker process: it runs sagas and notifies receivers until SIGTERM or SIGINT. Calls in flight end first. */
import { CannotStart, readWorkerConfig, type WorkerConfig } from './config';
import { isWebhookSecret, wrongSecret } from './notifications/sender';
import { Gauges } from './operations/gauges';
import { readinessOf, startHealthServer, type HealthServer } from './operations/health';
import { createLog } from './operations/logging';
import { installRuntime } from './operations/metrics';
import { JournalSchemaError, JournalUnavailable } from './journal/errors';
import { createSagaWorker } from './operations/saga-worker';
import type { Route } from './domain/notifications';
import { createSecretResolver, type SecretResolver } from './security/secret-resolver';
import { connectToTemporal } from './operations/temporal-server';
import type { Tracing } from './operations/tracing';

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
    installRuntime(log, config.metricsAddress);
    const connection = await connectToTemporal(config, (message) => {
      log.warn(message);
    });
    try {
      const tracing = await startTracing(config.tracesEndpoint);
      const saga = await createSagaWorker(connection, config, undefined, tracing);
      const { worker } = saga;
      if (health) health.whyNotReady = readinessOf(worker, connection);
      const ofGauges = { ...config, routes: routes.map(({ name }) => name) };
      const gauges = new Gauges(ofGauges, log, saga);
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

/** The secrets that no webhook can be signed with: their routes wait, as for a receiver that is down. */
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
  const line = `worker ready: task queue ${config.taskQueue}, namespace ${config.namespace}, ${config.temporalAddress}, journal ${config.journal.name}`;
  return health === undefined ? line : `${line}, health ${health.url}`;
}

/** The tracing library is loaded only where traces are wanted. */
async function startTracing(endpoint: string | undefined): Promise<Tracing | undefined> {
  return endpoint === undefined ? undefined : (await import('./operations/tracing.js')).startTracing(endpoint);
}

/** Each says in its message what to do. */
const expected = [CannotStart, JournalUnavailable, JournalSchemaError];

main().catch((error: unknown) => {
  const isExpected = expected.some((kind) => error instanceof kind);
  console.error(isExpected ? `worker cannot start: ${(error as Error).message}` : error);
  process.exitCode = 1;
});
