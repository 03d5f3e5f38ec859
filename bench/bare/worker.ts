/** A worker for the bare workflows, with the settings of ours. */
import { join } from 'node:path';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { readWorkerConfig } from '../../src/config';
import { workflowTasksAtOnce } from '../../src/operations/saga-worker';
import { ProviderClient } from '../../src/provider/client';
import { createBareActivities } from './activities';

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const config = readWorkerConfig();
  const connection = await NativeConnection.connect(config.temporal.connectionOptions);
  const provider = new ProviderClient(config.provider);
  const worker = await Worker.create({
    connection,
    namespace: config.namespace,
    taskQueue: config.taskQueue,
    workflowBundle: { codePath: join(__dirname, 'workflow-bundle.js') },
    activities: createBareActivities(provider),
    maxConcurrentActivityTaskExecutions: config.activitiesAtOnce,
    maxConcurrentWorkflowTaskExecutions: workflowTasksAtOnce,
    stickyQueueScheduleToStartTimeout: '3 seconds',
  });
  console.log('bare worker ready');
  await worker.run();
  await provider.close();
  await connection.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
