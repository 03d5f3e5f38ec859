/** Asks Temporal whether sagas that have no ending in the journal go on. */
import type { Client } from '@temporalio/client';
import { waysLost, type Standing } from '../domain/lost';
import { isOutcome } from '../domain/outcomes';
import { listRuns, quoted } from '../temporal/service';
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
    for await (const run of listRuns(temporal, query)) if (toRow(run)) standing.set(run.workflowId, 'open');
  });
  for (const workflowId of workflowIds) {
    if (!standing.has(workflowId)) standing.set(workflowId, await describe(temporal, workflowId));
  }
  return standing;
}

async function describe(temporal: Client, workflowId: string): Promise<Standing> {
  const run = await latestOf(temporal, workflowId);
  if (run === undefined) return 'gone';
  if (run.state !== 'lost') return isOutcome(run.state) ? 'ended' : 'open';
  const status = run.status.toLowerCase().replace('_', '-');
  return waysLost.find((way) => way === status) ?? 'failed';
}
