/** Every call of the client to Temporal goes through here, so that what can go wrong with it has one name. */
import { isGrpcDeadlineError, type Client, type Connection } from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { searchAttributeNames } from '../domain/identity';
import { grpcCodeOf, grpcCodes, grpcDetailsOf, WrongFilter } from '../temporal/service';
import { InvalidRequestError, NoConnectionError, SearchAttributesMissingError, UnknownReferenceError } from './errors';

/**
 * @throws NoConnectionError, UnknownReferenceError, SearchAttributesMissingError; InvalidRequestError for a filter that
 * Temporal does not understand; any other error as it is
 */
export async function withTemporalErrors<T>(temporal: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw named(temporal, error);
  }
}

/** @returns what {@link withTemporalErrors} throws instead */
export function named(temporal: Client, error: unknown): unknown {
  if (error instanceof WorkflowNotFoundError) return new UnknownReferenceError(error.workflowId);
  if (error instanceof WrongFilter) return new InvalidRequestError([{ field: 'where', message: error.message }]);
  const { namespace } = temporal.options;
  if (lacksSearchAttributes(error)) return new SearchAttributesMissingError(namespace);
  const why = whyUnreachable(error, namespace);
  return why === undefined ? error : new NoConnectionError(addressOf(temporal), why, { cause: error });
}

/** Temporal refused a start or a query because the namespace does not know our search attributes. */
function lacksSearchAttributes(error: unknown): boolean {
  if (grpcCodeOf(error) !== grpcCodes.invalidArgument) return false;
  const details = grpcDetailsOf(error);
  return Object.values(searchAttributeNames).some((name) => details.includes(name));
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
