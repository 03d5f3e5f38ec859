/**
 * Where there are keys, a run believes what comes unsealed only from people: its request, which it judges itself, a
 * decision, a cancellation's words. Whoever reaches Temporal's API can answer for an activity, signal and start runs.
 *
 * An answer that is not believed is a call that was lost: it is made again where a lost call is.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { log, type ActivityOptions, type WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { cancelledBySignal } from '../domain/decisions';
import { believed, isUnsealed, notBelieved } from '../domain/unsealed';

interface Call {
  activityType: string;
  options: Pick<ActivityOptions, 'retry'>;
}

async function untilBelieved<I extends Call>(input: I, call: (input: I) => Promise<unknown>): Promise<unknown> {
  const { activityType, options } = input;
  const refuse = () => {
    log.warn('an answer is not believed', { activityType });
    const cause = ApplicationFailure.nonRetryable(notBelieved, 'NotBelieved');
    return new ActivityFailure(notBelieved, activityType, undefined, 'NON_RETRYABLE_FAILURE', undefined, cause);
  };
  for (;;) {
    try {
      return believed(await call(input), refuse);
    } catch (error) {
      const cause = error instanceof ActivityFailure ? error.cause : undefined;
      const isLost = cause instanceof ApplicationFailure && cause.type === 'NotBelieved';
      if (!isLost || options.retry?.maximumAttempts === 1) throw error;
    }
  }
}

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      execute(input, next) {
        // Only runs give another one more than a request.
        if (!input.args.slice(1).some(isUnsealed)) return next(input);
        return Promise.reject(
          ApplicationFailure.nonRetryable(`what it is to go on with: ${notBelieved}`, 'InvalidRequest'),
        );
      },
      handleSignal(input, next) {
        if (input.signalName === cancelledBySignal || !input.args.some(isUnsealed)) return next(input);
        log.warn('a signal is not believed', { signal: input.signalName });
        return Promise.resolve();
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => untilBelieved(input, next),
      scheduleLocalActivity: (input, next) => untilBelieved(input, next),
    },
  ],
});
