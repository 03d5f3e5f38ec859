/** The command line's connection: it fails within seconds. */
import { Client, Connection } from '@temporalio/client';
import { OrderSagaClient } from '../client/client';
import { NoConnectionError } from '../client/errors';
import { whyUnreachable } from '../client/temporal-errors';
import { readClientConfig } from '../config';
import { createDataConverter } from '../security/data-converter';

/** A person waits at a terminal. Any reachable server answers well within this, also over long distances with TLS. */
const connectWithinMs = 4_000;

/** Runs `work` with a client, and closes the connection after it. @throws NoConnectionError */
export async function withSagas<T>(work: (sagas: OrderSagaClient) => Promise<T>, config = readClientConfig()) {
  const { namespace, taskQueue, profile, webUiUrl, payloadEncryption } = config;
  const options = { taskQueue, planTypes: profile?.planTypes, webUiUrl, allowClear: payloadEncryption === 'off' };
  const dataConverter = createDataConverter(config.payloadKeys);
  const connection = Connection.lazy({
    ...config.temporal.connectionOptions,
    connectTimeout: connectWithinMs,
    // As the worker's, which heeds no proxy of the environment.
    channelArgs: { 'grpc.enable_http_proxy': 0 },
  });
  try {
    await connection.ensureConnected().catch((error: unknown) => {
      const silent = 'no Temporal server answers there';
      const why = whyUnreachable(error, namespace) ?? silent;
      // A handshake that fails looks like silence.
      const orElse = config.temporal.connectionOptions.tls ? ', or the TLS handshake fails (names, certificates)' : '';
      throw new NoConnectionError(config.temporalAddress, why === silent ? silent + orElse : why, { cause: error });
    });
    return await work(new OrderSagaClient(new Client({ connection, namespace, dataConverter }), options));
  } finally {
    // Rejects when there never was a connection.
    await connection.close().catch(() => undefined);
  }
}
