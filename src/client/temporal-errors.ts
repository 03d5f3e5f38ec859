/** Every call of the client to Temporal goes through here, so that a missing connection has one name. */
import { isGrpcDeadlineError, type Client, type Connection } from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { NoConnectionError, UnknownReferenceError } from './errors';

/** @throws NoConnectionError, UnknownReferenceError; any other error as it is */
export async function withTemporalErrors<T>(temporal: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new UnknownReferenceError(error.workflowId);
    const why = whyUnreachable(error, temporal.options.namespace);
    if (why === undefined) throw error;
    throw new NoConnectionError(addressOf(temporal), why, { cause: error });
  }
}

/** A sentence; undefined when the error is not about the connection. */
export function whyUnreachable(error: unknown, namespace: string): string | undefined {
  if (error instanceof NamespaceNotFoundError) return `it has no namespace ${namespace}`;
  if (isGrpcDeadlineError(error)) return 'it did not answer in time';
  switch (grpcCodeOf(error)) {
    case grpcCodes.unavailable:
      return 'no Temporal server answers there';
    case grpcCodes.permissionDenied:
    case grpcCodes.unauthenticated:
      return 'it refuses these credentials';
    // It was stopped in the middle of the call: the stream was reset, or the call cancelled on its side.
    case grpcCodes.internal:
    case grpcCodes.cancelled:
      return 'it broke off the call';
    default:
      return undefined;
  }
}

function addressOf(temporal: Client): string {
  // A connection of the worker's kind does not say its address.
  const { options } = temporal.connection as Partial<Pick<Connection, 'options'>>;
  return options?.address ?? 'the configured address';
}
