/**
 * Puts the message and the stack trace of a failure into a payload of their own, which is encrypted like all others.
 * Loaded by its path: into workflows when they are bundled, into worker and client when they start.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
