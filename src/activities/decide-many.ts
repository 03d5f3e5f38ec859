/**
 * What a job does outside of itself: it looks who waits, and sends one decision to one saga. None of it calls the
 * provider or the journal, so Temporal repeats what failed: a look changes nothing, and an update with the same id is
 * one decision.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Cursor } from '../domain/dry-list';
import type { Decided, ProbedSaga } from '../domain/job-report';
import { describeProblems, type Problem } from '../domain/problems';
import { findNamed, type Named } from '../temporal/evidence-sagas';
import { lookAtProbe, type ProbeSeen } from '../temporal/job-probe';
import { sendDecision, type OneDecision } from '../temporal/send-decision';
import { ListRefused, listWaiting, type WaitingFilter, type WaitingPage } from '../temporal/waiting-sagas';

export function createDecideManyActivities() {
  return {
    /** @throws ApplicationFailure `InvalidRequest` as {@link listWaiting} refuses */
    async listWaitingSagas(asked: { filter: WaitingFilter; size: number; after?: Cursor }): Promise<WaitingPage> {
      try {
        return await listWaiting(Context.current().client, asked.filter, asked.size, asked.after);
      } catch (error) {
        if (!(error instanceof ListRefused)) throw error;
        throw refused([{ field: error.field, message: error.message }]);
      }
    },

    /**
     * The workflow ids of the lines' sagas. @throws ApplicationFailure `InvalidRequest` with each line that names none,
     * or several
     */
    async findSagasOf(asked: { lines: Named[] }): Promise<string[]> {
      const found = await findNamed(Context.current().client, asked.lines);
      if (found.ok) return found.workflowIds;
      throw refused(found.problems);
    },

    /** One update. A second call with the same `updateId` is the same decision, and has the same answer. */
    sendDecision(decision: OneDecision): Promise<Decided> {
      return sendDecision(Context.current().client, decision);
    },

    /** Asks each of them how it does. */
    lookAtProbe({ sagas }: { sagas: ProbedSaga[] }): Promise<ProbeSeen> {
      return lookAtProbe(Context.current().client, sagas);
    },
  };
}

function refused(problems: Problem[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(describeProblems(problems), 'InvalidRequest', problems);
}
