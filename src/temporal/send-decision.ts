/** Sends one decision to one saga, and says what came of it. */
import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Decided, OneDecision } from '../domain/decide-many';
import { cancelledBySignal, decisionRefused } from '../domain/decisions';
import type { ProgressView } from '../domain/progress';

/** A worker answers within milliseconds, and one that was killed is replaced within seconds. */
const answerWithinMs = 30_000;

/**
 * @param updateId the same for each try: Temporal answers a second one with what the first one came to, also after the
 * saga's end
 * @throws where Temporal itself cannot answer: the same may be sent again
 */
export async function sendDecision(client: Client, decision: OneDecision, updateId: string): Promise<Decided> {
  const handle = client.workflow.getHandle(decision.saga);
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, async () => {
      if (decision.decision === 'cancel') return cancel(handle, decision.body);
      await handle.executeUpdate(decision.decision, { args: [decision.body], updateId });
      return { outcome: 'taken' };
    });
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { outcome: 'unanswered' };
    if (error instanceof WorkflowNotFoundError) return { outcome: 'gone' };
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    return whyNotTaken(error);
  }
}

/**
 * Temporal's cancellation names no question. So the saga is told the one that somebody has read, and takes no decision
 * there any more; where it is at another one, it is left alone.
 */
async function cancel(handle: WorkflowHandle, { by, note, question }: OneDecision['body']): Promise<Decided> {
  await handle.signal(cancelledBySignal, { by, note, question });
  if (question !== undefined) {
    const { waiting } = await handle.query<ProgressView>('progress');
    if (waiting?.id !== question) {
      const { closeTime } = await handle.describe();
      return { outcome: closeTime === undefined ? 'movedOn' : 'gone' };
    }
  }
  await handle.cancel();
  return { outcome: 'taken' };
}

function whyNotTaken({ cause, message }: WorkflowUpdateFailedError): Decided {
  if (!(cause instanceof ApplicationFailure)) return { outcome: 'refused', why: cause?.message ?? message };
  // It ended in the moment in which it would have taken it.
  if (cause.type === 'AcceptedUpdateCompletedWorkflow') return { outcome: 'gone' };
  const { movedOn } = (cause.details?.[0] ?? {}) as { movedOn?: boolean };
  if (cause.type === decisionRefused && movedOn) return { outcome: 'movedOn' };
  return { outcome: 'refused', why: cause.message };
}
