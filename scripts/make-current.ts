/**
 * Makes a version of the workers current, so that new sagas begin on it, and prints the state of all versions.
 *
 *   npm run make-current -- BUILD_ID     of the deployment TEMPORAL_DEPLOYMENT_NAME; waits until its workers are there
 *   npm run make-current                 only prints their state
 *
 * Reads the same TEMPORAL_… settings as the worker. Status 0: done. 1: not possible. 2: wrong arguments.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { grpcCodeOf, grpcCodes } from '../src/temporal/grpc';
import { readClientConfig, SettingsError } from '../src/config';
import { ExpectedError, runProgram } from './program';

const { VersionDrainageStatus, WorkerDeploymentVersionStatus } = temporal.api.enums.v1;

/** A worker needs seconds to start. */
const workersWithinMs = 60_000;
const lookEveryMs = 500;

export interface Version {
  buildId: string;
  current: boolean;
  /** `draining`: it has open sagas; `drained`: its workers may be stopped. */
  drainage: 'draining' | 'drained' | undefined;
}

export interface Deployment {
  connection: Connection;
  namespace: string;
  deploymentName: string;
}

const drainages: Partial<Record<number, 'draining' | 'drained'>> = {
  [VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINING]: 'draining',
  [VersionDrainageStatus.VERSION_DRAINAGE_STATUS_DRAINED]: 'drained',
};

/** @returns the versions that the server knows, the newest first; none before their first worker has started */
export async function versionsOf({ connection, namespace, deploymentName }: Deployment): Promise<Version[]> {
  try {
    const { workerDeploymentInfo: info } = await connection.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName,
    });
    return (info?.versionSummaries ?? []).map(({ deploymentVersion, status, drainageInfo }) => ({
      buildId: deploymentVersion?.buildId ?? '',
      current: status === WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT,
      drainage: drainages[drainageInfo?.status ?? 0],
    }));
  } catch (error) {
    if (grpcCodeOf(error) === grpcCodes.notFound) return [];
    throw error;
  }
}

/**
 * Waits for the workers of that version: the server refuses to make a version current until it polls every task queue
 * (for workflows and for activities) that the current version polls.
 *
 * @throws ExpectedError when they do not come
 */
export async function makeCurrent(
  deployment: Deployment,
  buildId: string,
  withinMs: number = workersWithinMs,
): Promise<void> {
  const { connection, namespace, deploymentName } = deployment;
  const deadline = Date.now() + withinMs;
  for (;;) {
    let missing = 'no worker of it has started';
    if ((await versionsOf(deployment)).some((version) => version.buildId === buildId)) {
      try {
        await connection.workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId });
        return;
      } catch (error) {
        if (grpcCodeOf(error) !== grpcCodes.failedPrecondition) throw error;
        // Without the status code that gRPC puts before it.
        missing = (error as { details?: string }).details ?? String(error);
      }
    }
    if (Date.now() > deadline) {
      throw new ExpectedError(
        `${deploymentName} ${buildId} is not current: ${missing}. Do its workers run, with TEMPORAL_WORKER_BUILD_ID=${buildId}?`,
      );
    }
    await pause(lookEveryMs);
  }
}

async function main([buildId, ...more]: string[]): Promise<number> {
  const deploymentName = process.env['TEMPORAL_DEPLOYMENT_NAME'];
  if (more.length > 0 || !deploymentName) {
    console.error('TEMPORAL_DEPLOYMENT_NAME=… npm run make-current -- [BUILD_ID]');
    return 2;
  }
  const config = readClientConfig();
  const connection = await Connection.connect(config.temporal.connectionOptions);
  try {
    const deployment = { connection, namespace: config.namespace, deploymentName };
    if (buildId !== undefined) await makeCurrent(deployment, buildId);
    for (const version of await versionsOf(deployment)) {
      console.log([version.buildId, version.current ? 'current' : (version.drainage ?? 'not in use')].join('\t'));
    }
    return 0;
  } finally {
    await connection.close();
  }
}

runProgram(module, () => main(process.argv.slice(2)), [SettingsError]);
