/** What the histories of all runs prove, such as calls that were lost with their worker. Each is replayed as well. */
import type { Client } from '@temporalio/client';
import type { temporal as protocol } from '@temporalio/proto';
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
  /** How often a saga was told that its turn has come. */
  turns: 0,
  /** What does not replay, and tasks that broke, in sentences. */
  broken: [] as string[],
  /** Their workflow ids. */
  suspects: new Set<string>(),
});

export type Testimony = ReturnType<typeof nothingHeard>;

export async function hearHistories(temporal: Client, bundlePath: string): Promise<Testimony> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const testimony = nothingHeard();
  const replays = Worker.runReplayHistories(
    { workflowBundle: { codePath: bundlePath } },
    histories(temporal, testimony),
  );
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
  for (const event of events) {
    const broken = brokenTask(event);
    if (broken !== undefined) testimony.broken.push(`${workflowId}: a workflow task failed: ${broken}`);
    if (event.activityTaskTimedOutEventAttributes) testimony.lostCalls += 1;
    const { type } = event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo ?? {};
    if (type === 'JournalUnavailable') testimony.journalFailures += 1;
    if (event.workflowExecutionSignaledEventAttributes?.signalName === turnSignal) testimony.turns += 1;
  }
}
