/** For which saga a call of the provider is made, where an activity makes it. */
import { Context } from '@temporalio/activity';

export interface CallOrigin {
  /** The workflow id. */
  saga?: string;
  /** Where the saga was started with one: the account is the key by which accounts take turns. */
  account?: string;
}

export function originOfCall(): CallOrigin {
  try {
    const { workflowExecution, priority } = Context.current().info;
    return {
      ...(workflowExecution ? { saga: workflowExecution.workflowId } : {}),
      ...(priority?.fairnessKey ? { account: priority.fairnessKey } : {}),
    };
  } catch {
    // Not within an activity.
    return {};
  }
}
