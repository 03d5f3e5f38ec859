/** The saga for which an activity works, read from its own task. */
import type { Info } from '@temporalio/activity';
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

export function sagaOf({ workflowExecution, activityType }: Info): Caller {
  const named = workflowExecution && readWorkflowId(workflowExecution.workflowId);
  if (workflowExecution === undefined || named === undefined) throw new Error('only a saga can call this activity');
  const { workflow, reference } = named;
  return {
    saga: { workflow: workflow === 'cleanCart' ? 'provisionServers' : workflow, reference },
    run: workflowExecution.runId,
    workflow,
    activity: activityType,
  };
}
