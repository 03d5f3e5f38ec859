/** Connects the worker to Temporal, and checks that sagas can run there. Each failure says what to do. */
import { NativeConnection } from '@temporalio/worker';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { temporalAddress, type ClientConfig } from '../config';

/** There is no server, or sagas cannot run on it. */
export class TemporalServerError extends Error {}

/** From this version on, updates (by which people decide) are enabled by default. */
const versionMin = [1, 25] as const;

/** @param warn gets a sentence about a server with known holes. @throws TemporalServerError */
export async function connectToTemporal(
  config: ClientConfig,
  warn: (message: string) => void,
): Promise<NativeConnection> {
  const connection = await connect(config);
  try {
    const unsafe = whyUnsafe(await requireFit(connection, config));
    if (unsafe !== undefined) warn(unsafe);
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

/** @returns the server's version */
async function requireFit({ workflowService }: NativeConnection, config: ClientConfig): Promise<string> {
  const { namespace } = config;
  const { serverVersion } = await workflowService.getSystemInfo({});
  const tooOld = whyTooOld(serverVersion);
  if (tooOld !== undefined) throw new TemporalServerError(`at ${temporalAddress(config)}, ${tooOld}`);
  try {
    await workflowService.describeNamespace({ namespace });
  } catch (error) {
    // A worker that may not ask may still be allowed to work.
    if (!isNotFound(error)) return serverVersion;
    throw new TemporalServerError(
      `the Temporal server at ${temporalAddress(config)} has no namespace ${namespace}: set TEMPORAL_NAMESPACE to one that ` +
        `it has, or create it with \`temporal operator namespace create --namespace ${namespace} --retention 30d\``,
    );
  }
  return serverVersion;
}

/** @returns a sentence; undefined for a version that is new enough or unknown */
export function whyTooOld(serverVersion: string): string | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(serverVersion) ?? [];
  if (major === undefined) return undefined;
  const [majorMin, minorMin] = versionMin;
  if (Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin)) return undefined;
  return `the Temporal server has version ${serverVersion}; sagas need ${versionMin.join('.')} or later: upgrade it`;
}

/** The first releases of each line in which CVE-2026-16652 and CVE-2026-87858 are fixed; later lines have it all. */
const fixedIn = ['1.30.7', '1.31.3', '1.32.0'] as const;

/** @returns a sentence; undefined for a version without a known hole, or an unknown one */
export function whyUnsafe(serverVersion: string): string | undefined {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(serverVersion)?.map(Number) ?? [];
  if (major !== 1 || minor === undefined || patch === undefined) return undefined;
  const fixed = fixedIn.map((version) => version.split('.').map(Number));
  const isFixed =
    minor > (fixed.at(-1)?.[1] ?? 0) || fixed.some(([, line, first]) => line === minor && patch >= (first ?? 0));
  if (isFixed) return undefined;
  return `the Temporal server has version ${serverVersion}, with CVE-2026-16652 and CVE-2026-87858: fixed in ${fixedIn.join(', ')}`;
}

const isNotFound = (error: unknown) => grpcCodeOf(error) === grpcCodes.notFound;
