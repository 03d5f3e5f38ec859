/** What Temporal's errors say on the wire. Client, worker and activities read it. */
import { isGrpcServiceError } from '@temporalio/client';

/** The gRPC codes that make a difference here, by their names in the protocol. */
export const grpcCodes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export function grpcCodeOf(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}

/** For `.catch`: nothing where there is none; any other error is thrown on. */
export function noneIfNotFound(error: unknown): undefined {
  if (grpcCodeOf(error) !== grpcCodes.notFound) throw error;
}

/** The message as the server wrote it. A connection of the worker's kind has it in the error's own message. */
export function grpcDetailsOf(error: unknown): string {
  if (isGrpcServiceError(error)) return error.details === '' ? error.message : error.details;
  return error instanceof Error && error.cause !== undefined ? grpcDetailsOf(error.cause) : '';
}
