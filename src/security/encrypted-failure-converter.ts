/** The same, with a failure's message and stack trace in a payload of their own, which is encrypted. */
import { WellFormedFailures } from './failure-converter';

export const failureConverter = new WellFormedFailures({ encodeCommonAttributes: true });
