/**
 * The worker process: reads its settings, connects, registers what the namespace lacks, says that it is ready, and runs
 * until it is told to stop (SIGTERM, SIGINT). A stop lets calls in flight finish, a pivot among them.
 */
import { NativeConnection, Runtime } from '@temporalio/worker';
import { readWorkerConfig, SettingsError, temporalAddress, type WorkerConfig } from './config';
import { createLog, temporalLogger } from './operations/logging';
import { createSagaWorker } from './operations/saga-worker';
import { SearchAttributesError } from './operations/search-attributes';

async function main(): Promise<void> {
  const config = readWorkerConfig();
  const log = createLog(config.logLevel);
  Runtime.install({ logger: temporalLogger(log) });
  if (config.payloadKeys === undefined) log.warn('payloads are not encrypted: PAYLOAD_KEYS is not set');
  const connection = await connect(config);
  try {
    const { worker, provider } = await createSagaWorker(connection, config);
    console.log(
      `worker ready: task queue ${config.taskQueue}, namespace ${config.namespace}, ${temporalAddress(config)}`,
    );
    await worker.run();
    await provider.close();
  } finally {
    await connection.close();
  }
}

class NoConnection extends Error {}

async function connect(config: WorkerConfig): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(config.temporal.connectionOptions);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NoConnection(
      `no connection to Temporal at ${temporalAddress(config)} (${why}). Is a server running there ` +
        '(`temporal server start-dev` starts one), and are TEMPORAL_ADDRESS, the certificates and the API key right?',
    );
  }
}

main().catch((error: unknown) => {
  const expected =
    error instanceof SettingsError || error instanceof SearchAttributesError || error instanceof NoConnection;
  console.error(expected ? `worker cannot start: ${error.message}` : error);
  process.exitCode = 1;
});
