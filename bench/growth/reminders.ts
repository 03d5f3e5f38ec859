/**
 * A saga that waited through fifty reminders, which would be 23 years: the same workflow code, with reminders that come 10 ms
 * after each other. So its history and its replay are the real ones; only the times in it are not.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { bundleWorkflows } from '../../scripts/workflow-bundle';
import { readWorkerConfig } from '../../src/config';
import { createSagaWorker } from '../../src/operations/saga-worker';
import { timed } from '../closed-loop';
import type { Growth } from './figures';
import { countHistory } from '../history-counts';
import { load } from '../process-figures';
import { quietRuntime, replayMs } from '../replay';
import { provisionRequest } from '../requests';
import type { Stand } from '../stand';
import { median } from '../statistics';

const marks = [1, 10, 25, 50];

/** A query is over before a clock has noticed: so many, and their median. */
const asked = 20;

export async function growByReminders(stand: Stand, rounds: number): Promise<Growth> {
  quietRuntime();
  const points: Growth['points'] = [];
  for (const at of marks) points.push({ at, figures: await measure(stand, rounds, at) });
  return {
    name: 'growth-reminders',
    title: 'Reminders of a saga that waits',
    axis: 'reminders',
    points,
    drawn: ['history, bytes', 'query, ms', 'replay, ms'],
  };
}

async function measure(stand: Stand, rounds: number, reminders: number) {
  const codePath = await bundleHasty(dirname(stand.built.bundles.plain), reminders);
  const config = readWorkerConfig(stand.environmentOf('plain'));
  const connection = await NativeConnection.connect(config.temporal.connectionOptions);
  const sagaWorker = await createSagaWorker(connection, config, { workflowBundle: { codePath } });
  const running = sagaWorker.worker.run();
  try {
    const saga = await stand.sagasFor('plain').provision(provisionRequest({ items: 2, firewalls: true, fate: 'UA' }));
    const { workflowId } = saga;
    const handle = stand.clientFor('plain').workflow.getHandle(workflowId);
    let history = await handle.fetchHistory();
    while ((history.events ?? []).filter((event) => event.timerFiredEventAttributes).length < reminders) {
      await pause(100);
      history = await handle.fetchHistory();
    }
    const queries: number[] = [];
    for (let n = 0; n < asked; n += 1) queries.push(await timed(() => saga.progress()));
    const counts = countHistory(history);
    return {
      'history, events': counts.events,
      'history, bytes': counts.bytes,
      'query, ms': median(queries),
      'replay, ms': await replayMs(codePath, workflowId, history, rounds),
      load: load(),
    };
  } finally {
    sagaWorker.worker.shutdown();
    await running;
    await sagaWorker.close();
    await connection.close();
  }
}

/** As many quick reminders, then none for a day. */
async function bundleHasty(folder: string, reminders: number): Promise<string> {
  const hasty = join(folder, 'hasty-reminders.js');
  writeFileSync(
    hasty,
    `exports.reminderDelaysMs = function* () { for (let n = 0; n < ${reminders}; n += 1) yield 10; for (;;) yield 86400000; };`,
  );
  const code = await bundleWorkflows({ instead: { [require.resolve('../../src/saga/reminders')]: hasty } });
  const path = join(folder, 'hasty-workflow-bundle.js');
  writeFileSync(path, code);
  return path;
}
