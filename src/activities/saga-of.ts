/** The saga for which an activity works, read from its own task. */
import { Context } from '@temporalio/activity';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import type { SagaKey } from '../journal/rows';

export interface Caller {
  /** Whose effects these are: a clean-up works on the provisioning of its reference. */
  saga: SagaKey;
  run: string;
  /** The run's own workflow. */
  workflow: WorkflowName;
  activity: string;
}

export function sagaOf(): Caller {
  const { workflowExecution, activityType } = Context.current().info;
  const named = workflowExecution && readWorkflowId(workflowExecution.workflowId);
  if (workflowExecution === undefined || named === undefined) throw new Error('only a saga can call this activity');
  const { workflow, reference } = named;
  const saga = { workflow: workflow === 'cleanCart' ? ('provisionServers' as const) : workflow, reference };
  return { saga, run: workflowExecution.runId, workflow, activity: activityType };
}

/** For which saga a call of the provider is made: its workflow id, undefined outside of an activity. */
export function sagaOfCall(): string | undefined {
  try {
    return Context.current().info.workflowExecution?.workflowId;
  } catch {
    return undefined;
  }
}
