/** Queries of a saga or of a job: a worker has to answer them. */
import type { Client } from '@temporalio/client';
import { grpcCodeOf, grpcCodes, grpcDetailsOf } from '../temporal/grpc';
import { NoWorkerError } from './errors';
import { withTemporalErrors } from './temporal-errors';

/**
 * A worker answers within milliseconds; one that was killed is replaced within seconds. After this the caller gets an
 * error.
 */
export const answerWithinMs = 10_000;

interface Query {
  name: string;
  args?: unknown[];
  withinMs?: number;
}

/** @throws NoWorkerError, UnknownReferenceError, NoConnectionError */
export async function query<T>(
  temporal: Client,
  workflowId: string,
  { name, args = [], withinMs = answerWithinMs }: Query,
): Promise<T> {
  const latest = temporal.workflow.getHandle(workflowId);
  const deadline = Date.now() + withinMs;
  return withTemporalErrors(temporal, async () => {
    for (;;) {
      try {
        return await temporal.withDeadline(deadline, () => latest.query<T, unknown[]>(name, ...args));
      } catch (error) {
        if (isCutOff(error) && Date.now() < deadline) continue;
        if (!isUnanswered(error, deadline)) throw error;
        throw new NoWorkerError(workflowId);
      }
    }
  });
}

/**
 * Whether no worker took the query. A query whose time is over may also end as a cancelled call: the two sides race.
 */
function isUnanswered(error: unknown, deadline: number): boolean {
  const code = grpcCodeOf(error);
  if (code === grpcCodes.cancelled) return Date.now() >= deadline;
  return code === grpcCodes.deadlineExceeded || code === grpcCodes.failedPrecondition;
}

/** Whether the worker that had the query stopped, so that the server cancelled it: the next worker may answer it. */
function isCutOff(error: unknown): boolean {
  return grpcCodeOf(error) === grpcCodes.cancelled && grpcDetailsOf(error) === 'context canceled';
}
