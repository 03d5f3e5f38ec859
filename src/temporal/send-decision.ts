/** Sends one decision to one saga as an update, and says what came of it. */
import { WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { decisionRefused, type DecisionName } from '../domain/decisions';
import type { Decided } from '../domain/job-report';

/** A worker answers within milliseconds, and one that was killed is replaced within seconds. */
const answerWithinMs = 30_000;

export interface OneDecision {
  workflowId: string;
  decision: DecisionName;
  body: Record<string, unknown>;
  /**
   * The same for each try: Temporal answers a second one with what the first one came to, also after the saga's end.
   */
  updateId: string;
}

/** @throws where Temporal itself cannot answer: the same may be sent again */
export async function sendDecision(
  client: Client,
  { workflowId, decision, body, updateId }: OneDecision,
): Promise<Decided> {
  try {
    await client.withDeadline(Date.now() + answerWithinMs, () =>
      client.workflow.getHandle(workflowId).executeUpdate(decision, { args: [body], updateId }),
    );
    return { outcome: 'taken' };
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { outcome: 'unanswered' };
    if (error instanceof WorkflowNotFoundError) return { outcome: 'gone' };
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    return whyNotTaken(error);
  }
}

function whyNotTaken({ cause, message }: WorkflowUpdateFailedError): Decided {
  if (!(cause instanceof ApplicationFailure)) return { outcome: 'refused', why: cause?.message ?? message };
  // It ended in the moment in which it would have taken it.
  if (cause.type === 'AcceptedUpdateCompletedWorkflow') return { outcome: 'gone' };
  const { movedOn } = (cause.details?.[0] ?? {}) as { movedOn?: boolean };
  if (cause.type === decisionRefused && movedOn) return { outcome: 'movedOn' };
  return { outcome: 'refused', why: cause.message };
}
