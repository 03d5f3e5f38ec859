/** Connects the worker to Temporal, and checks that sagas can run there. Each failure says what to do. */
import { NativeConnection } from '@temporalio/worker';
import { isLoopback } from '../domain/loopback';
import { whyTooOld, whyUnsafe } from '../domain/server-version';
import { grpcCodeOf, grpcCodes } from '../temporal/service';
import { CannotStart, type ClientConfig } from '../config';

/** @param warn gets a sentence about a server with known holes. @throws CannotStart */
export async function connectToTemporal(config: ClientConfig, warn: (message: string) => void) {
  const connection = await connect(config);
  try {
    const unsafe = whyUnsafe(await requireFit(connection, config));
    // The dev server of this machine is for nobody else; doctor says it all the same.
    if (unsafe !== undefined && !isLoopback(config.temporalHost)) warn(unsafe);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function connect(config: ClientConfig): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(config.temporal.connectionOptions);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const clock = /expired|NotValidYet|not valid yet/i.test(why) ? ' Is the clock of this machine right?' : '';
    throw new CannotStart(
      `no connection to Temporal at ${config.temporalAddress} (${why}). Is a server running there ` +
        `(\`temporal server start-dev\` starts one), and are TEMPORAL_ADDRESS, the certificates and the API key right?${clock}`,
    );
  }
}

/** @returns the server's version */
async function requireFit({ workflowService }: NativeConnection, config: ClientConfig): Promise<string> {
  const { namespace } = config;
  const { serverVersion } = await workflowService.getSystemInfo({});
  const tooOld = whyTooOld(serverVersion);
  if (tooOld !== undefined) throw new CannotStart(`at ${config.temporalAddress}, ${tooOld}`);
  await workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    // A worker that may not ask may still be allowed to work.
    if (grpcCodeOf(error) !== grpcCodes.notFound) return;
    throw new CannotStart(
      `the Temporal server at ${config.temporalAddress} has no namespace ${namespace}: set TEMPORAL_NAMESPACE to one that ` +
        `it has, or create it with \`temporal operator namespace create --namespace ${namespace} --retention 30d\``,
    );
  });
  return serverVersion;
}
