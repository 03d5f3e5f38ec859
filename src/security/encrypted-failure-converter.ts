/**
 * The same, with message and stack trace of a failure in a payload of their own, which is encrypted like all others.
 */
import { WellFormedFailures } from './failure-converter';

export const failureConverter = new WellFormedFailures({ encodeCommonAttributes: true });
