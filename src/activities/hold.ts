/** What Temporal knows of the hold. It is asked once for each saga that begins; nothing of the answer is kept. */
import { Context } from '@temporalio/activity';
import type { Cursor } from '../domain/dry-list';
import type { Hold } from '../domain/hold';
import { lastSignOf, signOf, type ProbeSign, type ProbeSigns } from '../domain/hold-probe';
import type { ProgressView } from '../domain/progress';
import { lookAtHold } from '../temporal/hold';
import { pageOfWaiting } from '../temporal/waiting-sagas';
import { OwnFailure } from './translate-failure';

type Client = Context['client'];

const answerWithinMs = 2_500;

/** How many held sagas one page has at most: their ids fit an activity's answer many times over. */
const heldMax = 500;

/** So many sagas of a probe are asked at once. */
const askedAtOnce = 20;

export interface Held {
  /** The run that is the hold, where it is on. */
  holdRun?: string;
  workflowIds: string[];
  /** The last one of the page, where more may be behind it. */
  last?: Cursor;
}

export function createHoldActivities() {
  return {
    /**
     * A page of the sagas that are held, those that have waited longest first. A change may take a second to show: a
     * caller that wants to miss none asks again.
     */
    async listHeld({ limit = heldMax, after }: { limit?: number; after?: Cursor } = {}): Promise<Held> {
      const { client } = Context.current();
      const { sagas, more } = await pageOfWaiting(client, { kinds: ['held'] }, Math.min(limit, heldMax), after);
      const last = more > 0 ? sagas.at(-1) : undefined;
      // Read last: a saga that a new hold holds is then not taken for one of the hold that was released.
      const found = await lookAtHold(client);
      return {
        ...(found ? { holdRun: found.hold.runId } : {}),
        workflowIds: sagas.map(({ workflowId }) => workflowId),
        ...(last ? { last: { since: last.since, workflowId: last.workflowId } } : {}),
      };
    },

    /**
     * What has become of sagas that were let go, as they tell themselves. It changes nothing. A saga that does not
     * answer in time says nothing of the provider.
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
