/** The reason of Temporal's cancellation of this run, which the SDK hands to no workflow: it names the words that belong to it. */
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

let reason: string | undefined;

export const cancelReason = (): string | undefined => reason;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate(input, next) {
        for (const { cancelWorkflow } of input.activation.jobs ?? []) reason ??= cancelWorkflow?.reason ?? undefined;
        next(input);
      },
    },
  ],
});
