/** Each call of an activity works for a saga, and its failure gets a name. */
import { Context } from '@temporalio/activity';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import type { Journal } from '../journal/journal';
import type { SagaKey } from '../journal/rows';
import type { Sender } from '../notifications/sender';
import type { ProviderClient } from '../provider/client';
import type { SecretResolver } from '../security/secret-resolver';
import type { ActivitySettings, CallKind } from './settings';
import { translateFailure, type RetryState } from './translate-failure';

export interface Needs {
  provider: ProviderClient;
  journal: Journal;
  secrets: SecretResolver;
  sender: Sender;
  settings: ActivitySettings;
}

/** The workflow adds it to the call's own arguments. */
export interface CallContext {
  retry?: RetryState | undefined;
}

/** Makes an activity of what it does: a failure of it gets a name, by its kind. */
export type ActivityOf = <I, T>(
  kind: CallKind,
  act: (input: I) => Promise<T>,
) => (input: I & CallContext) => Promise<T>;

export function createActivityOf(settings: ActivitySettings): ActivityOf {
  return (kind, act) => async (input) => {
    try {
      return await act(input);
    } catch (error) {
      throw translateFailure(error, kind, input.retry, settings);
    }
  };
}

/** Characters of a provider's answer that are kept in an outcome. */
const keptCharsMax = 16_384;

/**
 * An answer of undocumented format, unchanged, with its secrets; one that is too long for a history is cut to an
 * excerpt.
 */
export function rawResponse(response: unknown): unknown {
  const json = JSON.stringify(response ?? null);
  return json.length <= keptCharsMax
    ? response
    : { truncated: true, excerpt: json.slice(0, keptCharsMax).replace(/[\uD800-\uDBFF]$/, '') };
}

export interface Caller {
  /** Whose effects these are: a clean-up works on the provisioning of its reference. */
  saga: SagaKey;
  run: string;
  /** The run's own workflow. */
  workflow: WorkflowName;
  activity: string;
}

/** Read from the activity's own task. */
export function sagaOf(): Caller {
  const { workflowExecution, activityType } = Context.current().info;
  const named = workflowExecution && readWorkflowId(workflowExecution.workflowId);
  if (workflowExecution === undefined || named === undefined) throw new Error('only a saga can call this activity');
  const { workflow, reference } = named;
  const saga = { workflow: workflow === 'cleanCart' ? ('provisionServers' as const) : workflow, reference };
  return { saga, run: workflowExecution.runId, workflow, activity: activityType };
}
