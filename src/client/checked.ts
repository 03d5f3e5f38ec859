/** Holds input against its schema before anything is started. */
import type { WorkflowName } from '../domain/identity';
import { requestSchemas, type RequestOf, type RequestSchemas } from '../domain/requests';
import { check, type Checked } from '../domain/validation';
import { InvalidRequestError } from './errors';

/** @throws InvalidRequestError with every wrong field */
export function valueOf<T>(read: Checked<T>): T {
  if (read.ok) return read.value;
  throw new InvalidRequestError(read.problems);
}

/** @throws InvalidRequestError with every wrong field */
export function checkRequest<W extends WorkflowName>(
  workflow: W,
  request: unknown,
  schemas: RequestSchemas = requestSchemas(),
): RequestOf[W] {
  return valueOf(check(schemas[workflow](), request));
}

/** @throws InvalidRequestError */
export function checkReference(reference: string): string {
  return checkRequest('cleanCart', { reference }).reference;
}
