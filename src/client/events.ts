/** The progress of a saga as it changes: after each event of the history the worker is asked what it means. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { temporal as proto } from '@temporalio/proto';
import type { ProgressView } from '../domain/progress';
import { grpcCodeOf, grpcCodes, isOpen } from '../temporal/service';
import { NoWorkerError } from './errors';
import { withTemporalErrors } from './temporal-errors';

/** A worker that takes over from a killed one answers within three seconds. */
export const silentAfterMs = 5_000;

/** The server answers a call that waits after twenty seconds; a connection that is silent for longer is gone. */
const pollMaxMs = 60_000;

/** A worker that has an event to deal with answers what it knew before; and one that was away has to begin. */
const lookAgainMs = 250;
const silenceMs = 2_000;

export function changesOf(
  temporal: Client,
  workflowId: string,
  look: () => Promise<ProgressView>,
  onSilence?: (why: string) => void,
): AsyncIterableIterator<ProgressView> {
  const over = new AbortController();
  const changes = follow({ temporal, workflowId, look, onSilence, signal: over.signal });
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => changes.next(),
    // At once, also while a call waits.
    return: () => {
      over.abort();
      return changes.return(undefined);
    },
  };
}

interface Following {
  temporal: Client;
  workflowId: string;
  look: () => Promise<ProgressView>;
  onSilence: ((why: string) => void) | undefined;
  signal: AbortSignal;
}

async function* follow(following: Following): AsyncGenerator<ProgressView, undefined> {
  const { signal } = following;
  let shown = '';
  try {
    for await (const hasEnded of happenings(following)) {
      const progress = await answered(following);
      if (progress === undefined) return;
      const now = JSON.stringify(progress);
      if (now !== shown) yield progress;
      shown = now;
      if (hasEnded) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type Page = proto.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;

/** Yields at once, after each event, and whether the saga has ended: a reset goes on in another run. */
async function* happenings(following: Following): AsyncGenerator<boolean> {
  const { temporal, workflowId, signal } = following;
  const { workflowService } = temporal.connection;
  const { namespace } = temporal.options;
  for (;;) {
    const { runId, isOpen } = await latest(following);
    yield !isOpen;
    if (!isOpen) return;
    let nextPageToken: Uint8Array | undefined;
    do {
      const asked = { namespace, execution: { workflowId, runId }, waitNewEvent: true, maximumPageSize: 100 };
      const token = nextPageToken;
      const page: Page = await abortable(following, () =>
        temporal.withDeadline(Date.now() + pollMaxMs, () =>
          workflowService.getWorkflowExecutionHistory({ ...asked, ...(token ? { nextPageToken: token } : {}) }),
        ),
      ).catch((error: unknown) => {
        // The next look tells whether the server is there at all.
        if (grpcCodeOf((error as Error).cause) !== grpcCodes.deadlineExceeded) throw error;
        return {};
      });
      nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
      const isNews = (page.history?.events?.length ?? 0) > 0;
      if (!isNews || nextPageToken === undefined) continue;
      // Many come together: the worker is asked once.
      await pause(lookAgainMs, undefined, { signal });
      yield false;
    } while (nextPageToken !== undefined);
  }
}

async function latest(following: Following): Promise<{ runId: string; isOpen: boolean }> {
  const { temporal, workflowId } = following;
  const run = await abortable(following, () => temporal.workflow.getHandle(workflowId).describe());
  return { runId: run.runId, isOpen: isOpen(run) };
}

/** Asks until a worker answers. @returns undefined where the saga has ended, and none does */
async function answered(following: Following): Promise<ProgressView | undefined> {
  const { look, onSilence, signal } = following;
  for (let isTold = false; ; isTold = true) {
    try {
      return await abortable(following, look);
    } catch (error) {
      if (signal.aborted || !(error instanceof NoWorkerError)) throw error;
      if (!isTold) onSilence?.(error.message);
      if (!(await latest(following)).isOpen) return undefined;
      await pause(silenceMs, undefined, { signal });
    }
  }
}

/** Temporal's client leaves a listener on the signal with each call: each call has a signal of its own. */
function abortable<T>({ temporal, signal }: Following, call: () => Promise<T>): Promise<T> {
  return withTemporalErrors(temporal, () => temporal.withAbortSignal(AbortSignal.any([signal]), call));
}
