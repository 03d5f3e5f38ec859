/** What Temporal knows of the hold. It is asked once for each saga that begins; nothing of the answer is kept. */
import { Context } from '@temporalio/activity';
import { holdWorkflow, readHoldWords, type Hold } from '../domain/hold';
import { searchAttributeNames } from '../domain/identity';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { OwnFailure } from './translate-failure';

type Client = Context['client'];

const answerWithinMs = 2_500;

/** How many held sagas one look returns: their ids fit an activity's answer many times over. */
const heldMax = 500;

export interface Held {
  /** The run that is the hold, where it is on. */
  holdRun?: string;
  workflowIds: string[];
}

export function createHoldActivities() {
  return {
    /** Which sagas are held. A change may take a second to show: a caller that wants to miss none asks again. */
    async listHeld(): Promise<Held> {
      const { client } = Context.current();
      const query = `ExecutionStatus = 'Running' AND ${searchAttributeNames.state} = 'held'`;
      const workflowIds: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query, pageSize: heldMax })) {
        workflowIds.push(workflowId);
        if (workflowIds.length === heldMax) break;
      }
      // Read last: a saga that a new hold holds is then not taken for one of the hold that was released.
      const hold = await readHold(client);
      return { ...(hold ? { holdRun: hold.runId } : {}), workflowIds };
    },
  };
}

/** @returns undefined where new sagas may begin. @throws OwnFailure `TemporalUnavailable` where Temporal does not answer */
export async function whoHolds(): Promise<Hold | undefined> {
  const { client } = Context.current();
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, () => readHold(client));
  } catch {
    throw new OwnFailure('TemporalUnavailable', 'Temporal could not say whether new sagas are held; nothing was sent');
  }
}

async function readHold(client: Client): Promise<Hold | undefined> {
  try {
    const { status, startTime, runId, memo } = await client.workflow.getHandle(holdWorkflow).describe();
    if (status.name !== 'RUNNING' && status.name !== 'PAUSED') return undefined;
    return { since: startTime.toISOString(), runId, ...readHoldWords(memo) };
  } catch (error) {
    if (grpcCodeOf(error) === grpcCodes.notFound || (error as Error).name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}
