/**
 * As `failure-converter.ts`, with a failure's message and stack trace in a payload of their own, which is encrypted.
 *
 * What an activity failed with comes from a worker only if it is encrypted: Temporal itself, whose failures are not,
 * tells of time that ran out and the like, and never of a failure of our code.
 */
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type ProtoFailure,
  type SerializationContext,
} from '@temporalio/common';
import { decisionRefused } from '../domain/decisions';
import { isForeign, notBelieved, ofCall } from '../domain/unsealed';
import { WellFormedFailures } from './failure-converter';

class SealedFailures extends WellFormedFailures {
  /** A decision that is refused is no event: the Web UI shows the reason to whoever has sent it, and decrypts nothing. */
  override errorToFailure(...given: Parameters<WellFormedFailures['errorToFailure']>): ProtoFailure {
    const [error, , context] = given;
    const failure = sealedFor(super.errorToFailure(...given), (payload) => ofCall(payload, 'failure', context));
    const isRefusal = error instanceof ApplicationFailure && error.type === decisionRefused;
    return isRefusal ? { ...failure, message: error.message.toWellFormed() } : failure;
  }

  override failureToError(failure: ProtoFailure, converter: PayloadConverter, context?: SerializationContext): Error {
    if (context?.type !== 'activity' || !failure.applicationFailureInfo)
      return super.failureToError(failure, converter, context);
    const { encodedAttributes, applicationFailureInfo } = failure;
    const payloads = [encodedAttributes, ...(applicationFailureInfo.details?.payloads ?? [])];
    const believes = payloads.every((payload) => payload && !isForeign(payload, 'failure', context));
    return super.failureToError(believes ? failure : forged, defaultPayloadConverter, context);
  }
}

const forged: ProtoFailure = {
  message: notBelieved,
  applicationFailureInfo: { type: 'NotBelieved', nonRetryable: true },
};

function sealedFor(failure: ProtoFailure, seal: (payload: Payload) => Payload): ProtoFailure {
  const { encodedAttributes, applicationFailureInfo } = failure;
  const payloads = applicationFailureInfo?.details?.payloads;
  return {
    ...failure,
    encodedAttributes: encodedAttributes && seal(encodedAttributes),
    applicationFailureInfo: payloads
      ? { ...applicationFailureInfo, details: { payloads: payloads.map(seal) } }
      : applicationFailureInfo,
  };
}

export const failureConverter = new SealedFailures({ encodeCommonAttributes: true });
