/** A run that is no saga: whoever waits for it wants to know that no worker takes it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';

/** As long as for a query: a running worker takes it within milliseconds. */
const takenWithinMs = 10_000;

/** Waits for the end of a run, and calls `onUntaken` where no worker has begun it meanwhile. */
export async function unlessUntaken<T>(
  run: Pick<WorkflowHandle, 'describe'>,
  end: Promise<T>,
  onUntaken: () => unknown,
): Promise<T> {
  const over = new AbortController();
  void pause(takenWithinMs, undefined, { signal: over.signal })
    .then(async () => {
      // Started, and its first task scheduled.
      if ((await run.describe()).historyLength <= 2) await onUntaken();
    })
    .catch(() => undefined);
  try {
    return await end;
  } finally {
    over.abort();
  }
}
