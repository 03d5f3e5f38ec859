/** Replays histories inside a test's process, and leaves nothing of it behind there. */
import type { DataConverter } from '@temporalio/common';
import { Worker, type ReplayHistoriesIterable, type ReplayResult } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

export interface ReplayOptions {
  /** Path of a workflow bundle. */
  bundle: string;
  dataConverter: DataConverter;
}

/**
 * The SDK hooks itself into every promise of the process for the sake of stack traces, and never lets go, since its own threads
 * end with their worker. A process that runs the tests goes on, and each file loads an SDK of its own: hooks upon hooks.
 *
 * @returns of each history, in their order, why it does not replay, where it does not
 */
export async function replayAll(
  { bundle, dataConverter }: ReplayOptions,
  histories: ReplayHistoriesIterable,
): Promise<ReplayResult[]> {
  const results = [];
  try {
    const options = { workflowBundle: { codePath: bundle }, dataConverter };
    for await (const result of Worker.runReplayHistories(options, histories)) results.push(result);
  } finally {
    globalHandlers.uninstall();
  }
  return results;
}
