/** A look at a server's firewalls: a worker makes it, because the client cannot call the provider. */
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { firewallsOfSchema, lookIdOf, type ServerFirewalls } from '../domain/firewalls-of';
import { check } from '../domain/validation';
import { valueOf } from './checked';
import { FirewallsUnknownError, NoWorkerError } from './errors';
import { withTemporalErrors } from './temporal-errors';
import { unlessUntaken } from './runs';

/** Longer than the longest call. A look that no worker takes ends by itself: it is not a saga. */
const lookWithinMs = 60_000;

/** @throws InvalidRequestError, FirewallsUnknownError, NoWorkerError, NoConnectionError */
export async function lookAtFirewalls(temporal: Client, taskQueue: string, vmObjectId: number) {
  const request = valueOf(check(firewallsOfSchema(), { vmObjectId }));
  const run = await withTemporalErrors(temporal, () =>
    temporal.workflow.start('firewallsOf', {
      workflowId: lookIdOf(vmObjectId, randomUUID()),
      taskQueue,
      args: [request],
      workflowExecutionTimeout: lookWithinMs,
      staticSummary: `firewalls of server ${vmObjectId}`,
    }),
  );
  const found = withTemporalErrors(temporal, () => run.result() as Promise<ServerFirewalls>);
  const look = { untaken: false };
  try {
    return await unlessUntaken(run, found, () => {
      // None should begin it later.
      look.untaken = true;
      return run.terminate('no worker took it');
    });
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (cause instanceof TimeoutFailure || (look.untaken && cause instanceof TerminatedFailure))
      throw new NoWorkerError(run.workflowId);
    throw new FirewallsUnknownError(
      vmObjectId,
      (cause instanceof ApplicationFailure ? cause.type : undefined) ?? 'WorkerLost',
      cause?.message ?? error.message,
    );
  }
}
