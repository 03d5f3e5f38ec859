/** The progress of a saga as it changes: after each event of the history the worker is asked what it means. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ProgressView } from '../domain/progress';
import { describeRun, isOpen } from '../temporal/service';
import { NoWorkerError } from './errors';
import { throughCuts } from './temporal-errors';

/** A worker that takes over from a killed one answers within three seconds. */
export const silentAfterMs = 5_000;

/** The server answers a call that waits after twenty seconds; a connection that is silent for longer is gone. */
const pollMaxMs = 60_000;

/** A worker that has an event to deal with answers what it knew before; and one that was away has to begin. */
const lookAgainMs = 250;
const silenceMs = 2_000;

/** A run that was ended from outside still answers with the question that it asked: nobody can decide it any more. */
export function atEnd({ waiting: _, ...progress }: ProgressView): ProgressView {
  return progress;
}

export function changesOf(
  temporal: Client,
  workflowId: string,
  look: () => Promise<ProgressView>,
  onSilence?: (why: string) => void,
): AsyncIterableIterator<ProgressView> {
  const over = new AbortController();
  const { signal } = over;

  /** Temporal's client leaves a listener on the signal with each call: each call has a signal of its own. */
  const abortable = <T>(call: () => Promise<T>): Promise<T> =>
    throughCuts(temporal, () => temporal.withAbortSignal(AbortSignal.any([signal]), call), {
      signal,
      onCut: onSilence,
    });
  const latest = () => abortable(() => describeRun(temporal, workflowId));

  /** Asks until a worker answers. @returns undefined where none does although the saga had ended when it was asked */
  async function answered(hasEnded: boolean): Promise<ProgressView | undefined> {
    for (let isTold = false; ; isTold = true) {
      try {
        const progress = await abortable(look);
        return hasEnded ? atEnd(progress) : progress;
      } catch (error) {
        if (signal.aborted || !(error instanceof NoWorkerError)) throw error;
        if (!isTold) onSilence?.(error.message);
        if (hasEnded) return undefined;
        hasEnded = !isOpen(await latest());
        if (!hasEnded) await pause(silenceMs, undefined, { signal });
      }
    }
  }

  /** Waits for what comes behind the token. @returns the next token, and whether anything came */
  async function nextEvents(runId: string, token: Uint8Array | undefined) {
    const { namespace } = temporal.options;
    const asked = { namespace, execution: { workflowId, runId }, waitNewEvent: true, maximumPageSize: 100 };
    const { history, nextPageToken } = await abortable(() =>
      temporal.withDeadline(Date.now() + pollMaxMs, () =>
        temporal.workflowService.getWorkflowExecutionHistory({ ...asked, nextPageToken: token }),
      ),
    );
    return { isNews: history?.events?.length, next: nextPageToken.length ? nextPageToken : undefined };
  }

  /** Yields at once, after each event, and whether the saga has ended: a reset goes on in another run. */
  async function* happenings(): AsyncGenerator<boolean> {
    for (;;) {
      const run = await latest();
      yield !isOpen(run);
      if (!isOpen(run)) return;
      let token: Uint8Array | undefined;
      do {
        const { isNews, next } = await nextEvents(run.runId, token);
        token = next;
        if (!isNews || token === undefined) continue;
        // Many come together: the worker is asked once.
        await pause(lookAgainMs, undefined, { signal });
        yield false;
      } while (token !== undefined);
    }
  }

  async function* follow(): AsyncGenerator<ProgressView, undefined> {
    let shown = '';
    try {
      for await (const hasEnded of happenings()) {
        const progress = await answered(hasEnded);
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

  const changes = follow();
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
