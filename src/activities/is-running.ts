/** Whether Temporal has a run of a workflow that goes on. */
import { Context } from '@temporalio/activity';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { OwnFailure } from './translate-failure';

/** Whether a run of this workflow id goes on, and may do more. A run that Temporal has forgotten does not. */
export async function isRunning(workflowId: string): Promise<boolean> {
  try {
    const { status } = await Context.current().client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (isNotFound(error)) return false;
    throw new OwnFailure('TemporalUnavailable', `Temporal could not say whether ${workflowId} is running`);
  }
}

export function isNotFound(error: unknown): boolean {
  return grpcCodeOf(error) === grpcCodes.notFound || (error as Error).name === 'WorkflowNotFoundError';
}
