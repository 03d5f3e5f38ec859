/** Connects the worker to Temporal, and checks that sagas can run there. Each failure says what to do. */
import { NativeConnection } from '@temporalio/worker';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { temporalAddress, type ClientConfig } from '../config';

/** There is no server, or sagas cannot run on it. */
export class TemporalServerError extends Error {}

/** From this version on, updates (by which people decide) are enabled by default. */
const versionMin = [1, 25] as const;

/** @throws TemporalServerError */
export async function connectToTemporal(config: ClientConfig): Promise<NativeConnection> {
  const connection = await connect(config);
  try {
    await requireFit(connection, config);
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
    throw new TemporalServerError(
      `no connection to Temporal at ${temporalAddress(config)} (${why}). Is a server running there ` +
        `(\`temporal server start-dev\` starts one), and are TEMPORAL_ADDRESS, the certificates and the API key right?${clock}`,
    );
  }
}

async function requireFit({ workflowService }: NativeConnection, config: ClientConfig): Promise<void> {
  const { namespace } = config;
  const { serverVersion } = await workflowService.getSystemInfo({});
  const tooOld = whyTooOld(serverVersion);
  if (tooOld !== undefined) throw new TemporalServerError(`at ${temporalAddress(config)}, ${tooOld}`);
  try {
    await workflowService.describeNamespace({ namespace });
  } catch (error) {
    // A worker that may not ask may still be allowed to work.
    if (!isNotFound(error)) return;
    throw new TemporalServerError(
      `the Temporal server at ${temporalAddress(config)} has no namespace ${namespace}: set TEMPORAL_NAMESPACE to one that ` +
        `it has, or create it with \`temporal operator namespace create --namespace ${namespace} --retention 30d\``,
    );
  }
}

/** @returns a sentence; undefined for a version that is new enough or unknown */
export function whyTooOld(serverVersion: string): string | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(serverVersion) ?? [];
  if (major === undefined) return undefined;
  const [majorMin, minorMin] = versionMin;
  if (Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin)) return undefined;
  return `the Temporal server has version ${serverVersion}; sagas need ${versionMin.join('.')} or later: upgrade it`;
}

const isNotFound = (error: unknown) => grpcCodeOf(error) === grpcCodes.notFound;
