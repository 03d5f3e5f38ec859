/** The histories of all runs tell more, such as calls that were lost with their worker. Each is replayed as well. */
import type { Client } from '@temporalio/client';
import { temporal as protocol } from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { WorkflowNotFoundError } from '@temporalio/common';
import { turnSignal } from '../../../../src/domain/turns';
import { grpcCodeOf, grpcCodes } from '../../../../src/temporal/service';
import { brokenTask } from '../../../support/events';

type HistoryEvent = protocol.api.history.v1.IHistoryEvent;

const nothingHeard = () => ({
  replayed: 0,
  lostCalls: 0,
  /** Activities that ended so, beside local ones. */
  journalFailures: 0,
  turns: 0,
  /** Workflow tasks that the server failed as it did not know our search attributes, and that were done in the end. */
  doneAgain: 0,
  broken: [] as string[],
  suspects: new Set<string>(),
});

export type Testimony = ReturnType<typeof nothingHeard>;

export async function hearHistories(temporal: Client, codePath: string): Promise<Testimony> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const testimony = nothingHeard();
  const replays = Worker.runReplayHistories({ workflowBundle: { codePath } }, histories(temporal, testimony));
  for await (const { workflowId, error } of replays) {
    if (error) {
      testimony.broken.push(`the history of ${workflowId} does not replay: ${error.message}`);
      testimony.suspects.add(workflowId);
    } else testimony.replayed += 1;
  }
  return testimony;
}

async function* histories(temporal: Client, testimony: Testimony) {
  for await (const { workflowId, runId } of temporal.workflow.list()) {
    const history = await historyOf(temporal, workflowId, runId);
    if (history === undefined) continue;
    hear(testimony, history.events ?? [], workflowId);
    yield { workflowId, history };
  }
}

/** @returns undefined for a run that was deleted, and is in the list still */
export async function historyOf(temporal: Client, workflowId: string, runId: string) {
  try {
    return await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || grpcCodeOf(error) === grpcCodes.notFound) return undefined;
    throw error;
  }
}

function hear(testimony: Testimony, events: HistoryEvent[], workflowId: string): void {
  for (const [place, event] of events.entries()) {
    const broken = brokenTask(event);
    if (isDoneAgain(event, events.slice(place))) testimony.doneAgain += 1;
    else if (broken !== undefined) testimony.broken.push(`${workflowId}: a workflow task failed: ${broken}`);
    if (event.activityTaskTimedOutEventAttributes) testimony.lostCalls += 1;
    const { type } = event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo ?? {};
    if (type === 'JournalUnavailable') testimony.journalFailures += 1;
    if (event.workflowExecutionSignaledEventAttributes?.signalName === turnSignal) testimony.turns += 1;
  }
}

/**
 * A server that cannot read which search attributes there are, or came back with nothing and has just been told of
 * them, refuses ours as unknown and hands the task out again. No promise is broken as long as a later task is done.
 */
function isDoneAgain({ workflowTaskFailedEventAttributes: failed }: HistoryEvent, later: HistoryEvent[]): boolean {
  const { WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES: badAttributes } =
    protocol.api.enums.v1.WorkflowTaskFailedCause;
  return failed?.cause === badAttributes && later.some((event) => event.workflowTaskCompletedEventAttributes);
}
