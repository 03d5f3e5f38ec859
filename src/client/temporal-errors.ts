/** Every call of the client to Temporal goes through here, so that what can go wrong with it has one name. */
import { setTimeout as pause } from 'node:timers/promises';
import { isGrpcDeadlineError, type Client, type Connection } from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { sagaAttributes } from '../temporal/search-attributes';
import { DecryptionError } from '../security/payload-codec';
import { grpcCodeOf, grpcCodes, grpcDetailsOf, WrongFilter } from '../temporal/service';
import {
  InvalidRequestError,
  NoConnectionError,
  OrderSagaError,
  PayloadUnreadableError,
  SearchAttributesMissingError,
  UnknownReferenceError,
} from './errors';

/**
 * @throws NoConnectionError, UnknownReferenceError, PayloadUnreadableError, SearchAttributesMissingError; InvalidRequestError for a filter that
 * Temporal does not understand; any other error as it is
 */
export async function withTemporalErrors<T>(temporal: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw named(temporal, error);
  }
}

/** Where Temporal is away, it is asked again after this time. */
const awayMs = 1_000;

/**
 * As {@link withTemporalErrors}, for a call that waits: it is made again for as long as no Temporal answers, until the
 * time or the signal of `withDeadline` and `withAbortSignal` around it.
 *
 * @param onCut is told once that no Temporal answers
 */
export async function throughCuts<T>(
  temporal: Client,
  call: () => Promise<T>,
  { signal, onCut }: { signal?: AbortSignal; onCut?: (why: string) => void } = {},
): Promise<T> {
  const { callContextStorage: around } = temporal.connection as Partial<Connection>;
  const { deadline = Infinity, abortSignal } = around?.getStore() ?? {};
  for (let isTold = false; ; isTold = true) {
    try {
      return await withTemporalErrors(temporal, call);
    } catch (error) {
      const isOver = [signal, abortSignal].some((one) => one?.aborted) || Date.now() >= Number(deadline);
      if (isOver || !(error instanceof NoConnectionError && isCut(error))) throw error;
      if (!isTold) onCut?.(error.message);
      await pause(awayMs, undefined, { signal });
    }
  }
}

/** What passes by itself; credentials that are refused, or a namespace that is not there, do not. */
function isCut({ cause }: NoConnectionError): boolean {
  const { unavailable, deadlineExceeded, internal, cancelled } = grpcCodes;
  const codes: (number | undefined)[] = [unavailable, deadlineExceeded, internal, cancelled];
  return codes.includes(grpcCodeOf(cause)) && !/certificate|SSL alert/i.test(grpcDetailsOf(cause));
}

/** @returns what {@link withTemporalErrors} throws instead */
export function named(temporal: Client, error: unknown): unknown {
  if (error instanceof OrderSagaError) return error;
  if (error instanceof WorkflowNotFoundError) return new UnknownReferenceError(error.workflowId);
  if (error instanceof WrongFilter) return new InvalidRequestError([{ field: 'where', message: error.message }]);
  if (error instanceof DecryptionError) return new PayloadUnreadableError(error.message);
  const { namespace } = temporal.options;
  if (lacksSearchAttributes(error)) return new SearchAttributesMissingError(namespace);
  const why = whyUnreachable(error, namespace);
  return why === undefined ? error : new NoConnectionError(addressOf(temporal), why, { cause: error });
}

/** Temporal refused a start or a query because the namespace does not know our search attributes. */
function lacksSearchAttributes(error: unknown): boolean {
  if (grpcCodeOf(error) !== grpcCodes.invalidArgument) return false;
  const details = grpcDetailsOf(error);
  return Object.values(sagaAttributes).some(({ name }) => details.includes(name));
}

/** A sentence; undefined when the error is not about the connection. */
export function whyUnreachable(error: unknown, namespace: string): string | undefined {
  if (error instanceof NamespaceNotFoundError) return `it has no namespace ${namespace}`;
  if (isGrpcDeadlineError(error)) return 'it did not answer in time';
  const { unavailable, permissionDenied, unauthenticated, internal, cancelled } = grpcCodes;
  const code = grpcCodeOf(error);
  if (code === unavailable) return 'no Temporal server answers there';
  if (code === permissionDenied || code === unauthenticated) return 'it refuses these credentials';
  // It was stopped in the middle of the call: the stream was reset, or the call cancelled on its side.
  return code === internal || code === cancelled ? 'it broke off the call' : undefined;
}

function addressOf(temporal: Client): string {
  // A connection of the worker's kind does not say its address.
  const { options } = temporal.connection as Partial<Pick<Connection, 'options'>>;
  return options?.address ?? 'the configured address';
}
