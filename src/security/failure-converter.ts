/**
 * Messages and stack traces reach Temporal outside of payloads: half a character in them, which is no UTF-8, would end
 * the worker. Loaded by its path: into workflows when they are bundled, into worker and client when they start.
 */
import { DefaultFailureConverter, type ProtoFailure } from '@temporalio/common';

export class WellFormedFailures extends DefaultFailureConverter {
  override errorToFailureInner(...given: Parameters<DefaultFailureConverter['errorToFailureInner']>): ProtoFailure {
    const failure = super.errorToFailureInner(...given);
    const { message, stackTrace } = failure;
    return { ...failure, message: message?.toWellFormed(), stackTrace: stackTrace?.toWellFormed() };
  }
}

export const failureConverter = new WellFormedFailures();
