/**
 * Passes the trace of a start on to the activities, and reports when the run has ended. What the worker does with that
 * is in `src/operations/tracing.ts`.
 *
 * It awaits nothing and returns what it was given, so that a run takes the same course with it and without it: a
 * history that was made with traces replays without them. The SDK's own interceptors shift the order of events
 * around an update, and a saga that was decided under them could not be replayed without. Their package of the SDK's
 * version is for OpenTelemetry 1.x, the one for 2.x lags behind, and both put OpenTelemetry's SDK into the bundle.
 */
import { TemporalFailure, type Payload } from '@temporalio/common';
import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { traceHeader } from '../domain/tracing';

export interface TraceSinks extends Sinks {
  trace: {
    /** @param start the trace header of the start */
    ended(start: Payload | undefined, well: boolean): void;
  };
}

const { trace } = proxySinks<TraceSinks>();

function reportEnd(start: Payload | undefined, well: boolean): void {
  if (!workflowInfo().unsafe.isReplaying) trace.ended(start, well);
}

export const interceptors: WorkflowInterceptorsFactory = () => {
  let start: Payload | undefined;
  const withTrace = <I extends { headers: Record<string, Payload> }>(input: I): I =>
    start === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: start } };
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
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
      },
    ],
  };
};
