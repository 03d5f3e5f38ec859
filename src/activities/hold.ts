/** What Temporal knows of the hold. It is asked once for each saga that begins; nothing of the answer is kept. */
import { Context } from '@temporalio/activity';
import type { Hold } from '../domain/hold';
import { searchAttributeNames } from '../domain/identity';
import { lastSignOf, signOf, type ProbeSign, type ProbeSigns } from '../domain/hold-probe';
import type { ProgressView } from '../domain/progress';
import { lookAtHold } from '../temporal/hold';
import { OwnFailure } from './translate-failure';

type Client = Context['client'];

const answerWithinMs = 2_500;

/** How many held sagas one look returns: their ids fit an activity's answer many times over. */
const heldMax = 500;

/** So many sagas of a probe are asked at once. */
const askedAtOnce = 20;

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
      const found = await lookAtHold(client);
      return { ...(found ? { holdRun: found.hold.runId } : {}), workflowIds };
    },

    /**
     * What has become of sagas that were let go, as they tell themselves. It changes nothing. A saga that does not answer in time says
     * nothing of the provider.
     *
     * @param input `last`: the time of the probe is over, so none is left open
     */
    async readProbes({ workflowIds, last }: { workflowIds: readonly string[]; last: boolean }): Promise<ProbeSigns> {
      const { client } = Context.current();
      const signs: ProbeSigns = { answered: 0, unanswered: 0, silent: 0, open: 0 };
      for (let from = 0; from < workflowIds.length; from += askedAtOnce) {
        const some = workflowIds.slice(from, from + askedAtOnce);
        for (const sign of await Promise.all(some.map((id) => readSign(client, id, last)))) signs[sign] += 1;
      }
      return signs;
    },
  };
}

async function readSign(client: Client, workflowId: string, last: boolean): Promise<ProbeSign> {
  try {
    const progress = await client.withDeadline(Date.now() + answerWithinMs, () =>
      client.workflow.getHandle(workflowId).query<ProgressView>('progress'),
    );
    return last ? lastSignOf(progress) : signOf(progress);
  } catch {
    return last ? 'silent' : 'open';
  }
}

/**
 * The hold that this saga has to wait for. One that a probe lets go has none.
 *
 * @returns undefined where it may begin. @throws OwnFailure `TemporalUnavailable` where Temporal does not answer
 */
export async function whoHolds(): Promise<Hold | undefined> {
  const { client, info } = Context.current();
  try {
    const found = await client.withDeadline(Date.now() + answerWithinMs, () => lookAtHold(client));
    const workflowId = info.workflowExecution?.workflowId ?? '';
    return found?.letGo.includes(workflowId) ? undefined : found?.hold;
  } catch {
    throw new OwnFailure('TemporalUnavailable', 'Temporal could not say whether new sagas are held; nothing was sent');
  }
}
