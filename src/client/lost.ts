/** Asks Temporal whether sagas that have no ending in the journal go on. */
import type { Client } from '@temporalio/client';
import type { WorkflowName } from '../domain/identity';
import { waysLost, type Standing } from '../domain/lost';
import { noneIf } from '../domain/none-if';
import { isOutcome } from '../domain/outcomes';
import { requestSchemas, type RequestOf } from '../domain/requests';
import { quoted } from '../temporal/service';
import { ReferenceTakenError, UnknownReferenceError } from './errors';
import { requireSameRequest } from './first-request';
import { withTemporalErrors } from './temporal-errors';
import { latestOf, toRow } from './saga-list';

/**
 * Asks visibility once for all of them. Visibility lags, so each saga that it does not show as running is described.
 *
 * @param workflowIds a hundred at most: they stand in the query
 * @throws NoConnectionError
 */
export async function standingOf(temporal: Client, workflowIds: readonly string[]): Promise<Map<string, Standing>> {
  const standing = new Map<string, Standing>();
  if (workflowIds.length === 0) return standing;
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${quoted(workflowIds)})`;
  await withTemporalErrors(temporal, async () => {
    for await (const run of temporal.workflow.list({ query })) if (toRow(run)) standing.set(run.workflowId, 'open');
  });
  for (const workflowId of workflowIds) {
    if (!standing.has(workflowId)) standing.set(workflowId, await describe(temporal, workflowId));
  }
  return standing;
}

/**
 * How the last run under the id has ended, where it was cancelled or refused before it had the reference. It says
 * nothing about the saga, and a caller that sends the same request again gets that run: only a person starts it again.
 *
 * @param request the saga's; undefined where it cannot be read
 * @returns undefined where the last run is no such run, or had another request: the same request, sent again, is no
 * longer held up by it
 */
export async function untouchedBySame<W extends WorkflowName>(
  temporal: Client,
  workflowId: string,
  workflow: W,
  request: RequestOf[W] | undefined,
): Promise<'cancelled' | 'refused' | undefined> {
  return withTemporalErrors(temporal, async () => {
    const last = toRow(await temporal.workflow.getHandle(workflowId).describe());
    if (last?.state !== 'untouched') return undefined;
    if (request !== undefined) await requireSameRequest(temporal, workflow, request, requestSchemas());
    return last.status === 'CANCELLED' ? 'cancelled' : 'refused';
  }).catch(noneIf(UnknownReferenceError, ReferenceTakenError));
}

async function describe(temporal: Client, workflowId: string): Promise<Standing> {
  const run = await latestOf(temporal, workflowId);
  if (run === undefined) return 'gone';
  if (run.state !== 'lost') return isOutcome(run.state) ? 'ended' : 'open';
  const status = run.status.toLowerCase().replace('_', '-');
  return waysLost.find((way) => way === status) ?? 'failed';
}
