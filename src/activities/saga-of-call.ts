/** For which saga a call of the provider is made, where an activity makes it. */
import { Context } from '@temporalio/activity';

/** @returns its workflow id; undefined outside of an activity */
export function sagaOfCall(): string | undefined {
  try {
    return Context.current().info.workflowExecution?.workflowId;
  } catch {
    return undefined;
  }
}
