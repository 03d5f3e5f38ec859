/**
 * What stands before every call that cannot be undone: is this surely the first run of its reference to make it?
 *
 * Three ways lead to a second run: an operator's *Reset*, a retry policy on the workflow, and a start of the same workflow
 * id after the first run has closed (the client has Temporal forbid it, and says so; the Web UI and other SDKs do not). In each, an earlier run may
 * have placed the order, so the call is refused with `UnknownOutcome` until a person has said, in this very run, that
 * nothing was placed.
 *
 * The run is compared as the activity's own task names it, not as the arguments do: a reset copies the scheduled event of
 * an activity in flight, arguments included, and sends it again under the new run.
 */
import { Context } from '@temporalio/activity';
import { OwnFailure } from './translate-failure';

/** What the workflow knows of its runs. */
export interface RunGuard {
  firstRunId: string;
  /** True where Temporal itself would have refused the start if the workflow id had been used before. */
  startedOnce?: boolean;
  /** The run in which a person said that no earlier run placed anything; it holds for that run only. */
  clearedRunId?: string;
}

export async function refuseSecondRun({ firstRunId, startedOnce, clearedRunId }: RunGuard): Promise<void> {
  const { workflowId, runId } = currentRun();
  if (clearedRunId === runId) return;
  if (runId !== firstRunId) {
    throw new OwnFailure(
      'UnknownOutcome',
      'this run came from a reset (or a retry) of an earlier one, which may have placed it already; nothing was sent now',
      { why: 'reset', runId },
    );
  }
  if (!startedOnce && (await hasEarlierRun(workflowId, runId))) {
    throw new OwnFailure(
      'UnknownOutcome',
      'this reference was run before, and that run may have placed it already; nothing was sent now',
      { why: 'started-again', runId },
    );
  }
}

/** The run that an activity works for, as its own task names it. */
export function currentRun(): { workflowId: string; runId: string } {
  const { workflowExecution } = Context.current().info;
  if (workflowExecution === undefined) throw new Error('an activity of a saga runs for a workflow');
  return workflowExecution;
}

/**
 * True of every run, and said only for the server's sake: it adds `IS NULL` where a query does not name the division, and
 * SQLite then reads the whole namespace by that column's index instead of the one run by its workflow id's.
 */
const inAnyDivision = '(TemporalNamespaceDivision IS NULL OR TemporalNamespaceDivision IS NOT NULL)';

async function hasEarlierRun(workflowId: string, runId: string): Promise<boolean> {
  try {
    const query = `WorkflowId = '${workflowId}' AND ${inAnyDivision}`;
    const runs = Context.current().client.workflow.list({ query, pageSize: 2 });
    for await (const run of runs) if (run.runId !== runId) return true;
    return false;
  } catch (error) {
    throw new OwnFailure('NotSent', `earlier runs of this reference could not be looked up: ${String(error)}`);
  }
}
