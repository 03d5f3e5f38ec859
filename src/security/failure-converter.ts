/**
 * Failures whose message and stack trace are a payload of their own, and so are encrypted like all others. Loaded by its
 * path: into workflows when they are bundled, into worker and client when they start.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
