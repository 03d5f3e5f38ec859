import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { couldNotLook, sweepReportSchema } from '../domain/reconcile';

/** @returns undefined where the sweep was ended from outside, or refused its request */
export async function reportOf({ workflow }: Pick<Client, 'workflow'>, workflowId: string, runId: string) {
  const result: unknown = await workflow.result(workflowId, runId).catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    return cause instanceof ApplicationFailure && cause.type === couldNotLook ? cause.details?.[0] : undefined;
  });
  return sweepReportSchema().safeParse(result).data;
}
