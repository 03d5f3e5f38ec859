/**
 * Hands the trace that a start brought along on to the activities, and says when the run has ended. What that becomes, if
 * anything, is the worker's: `src/operations/tracing.ts`.
 *
 * It awaits nothing and returns what it was given, so that a run takes the same course with it and without it: a history
 * that was made while traces were wanted replays where they are not. The SDK's own interceptors shift the order of events
 * around an update, and a saga that was decided under them could not be replayed without.
 */
import { TemporalFailure, type Payload } from '@temporalio/common';
import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { traceHeader } from '../domain/tracing';

export interface TraceSinks extends Sinks {
  trace: {
    /** @param start what the start brought along */
    ended(start: Payload | undefined, well: boolean): void;
  };
}

const { trace } = proxySinks<TraceSinks>();

/** Whoever replays a history has nobody who listens. */
function reportEnd(start: Payload | undefined, well: boolean): void {
  if (!workflowInfo().unsafe.isReplaying) trace.ended(start, well);
}

export const interceptors: WorkflowInterceptorsFactory = () => {
  let start: Payload | undefined;
  return {
    inbound: [
      {
        execute(input, next) {
          start = input.headers[traceHeader];
          const outcome = next(input);
          void outcome.then(
            () => {
              reportEnd(start, true);
            },
            (error: unknown) => {
              // Anything else fails the workflow task and not the run.
              if (error instanceof TemporalFailure) reportEnd(start, false);
            },
          );
          return outcome;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          return next(start === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: start } });
        },
      },
    ],
  };
};
