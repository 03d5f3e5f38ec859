/** A look at a server's firewalls: a worker makes it, because the client cannot call the provider. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { firewallsOfSchema, lookIdOf, type ServerFirewalls } from '../domain/firewalls-of';
import { check } from '../domain/validation';
import { valueOf } from './checked';
import { FirewallsUnknownError, NoWorkerError } from './errors';
import { withTemporalErrors } from './temporal-errors';

/** Longer than the longest call. A look that no worker takes ends by itself: it is not a saga. */
const lookWithinMs = 60_000;

/** As long as for a query: a running worker takes it within milliseconds. */
const takenWithinMs = 10_000;

/** @throws InvalidRequestError, FirewallsUnknownError, NoWorkerError, NoConnectionError */
export async function lookAtFirewalls(
  temporal: Client,
  taskQueue: string,
  vmObjectId: number,
): Promise<ServerFirewalls> {
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
  const silence = new AbortController();
  try {
    void pause(takenWithinMs, undefined, { signal: silence.signal })
      .then(async () => {
        // Started, and its first task scheduled: no worker has begun it, and none should begin it later.
        if ((await run.describe()).historyLength > 2) return;
        look.untaken = true;
        await run.terminate('no worker took it');
      })
      .catch(() => undefined);
    return await found;
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
  } finally {
    silence.abort();
  }
}
