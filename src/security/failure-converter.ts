/**
 * Makes a failure fit what Temporal stores. Messages and stack traces are the only texts that reach it outside payloads:
 * half a character in them (a text that somebody has cut) cannot be written as UTF-8, and would end the worker.
 *
 * Loaded by its path: into workflows when they are bundled, into worker and client when they start.
 */
import { DefaultFailureConverter, type ProtoFailure } from '@temporalio/common';

export class WellFormedFailures extends DefaultFailureConverter {
  override errorToFailureInner(...given: Parameters<DefaultFailureConverter['errorToFailureInner']>): ProtoFailure {
    const failure = super.errorToFailureInner(...given);
    const { message, stackTrace } = failure;
    return {
      ...failure,
      ...(typeof message === 'string' ? { message: wellFormed(message) } : {}),
      ...(typeof stackTrace === 'string' ? { stackTrace: wellFormed(stackTrace) } : {}),
    };
  }
}

/** Half a character becomes the sign for an unknown one. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

export const failureConverter = new WellFormedFailures();
