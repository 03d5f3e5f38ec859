/** Holds input against its schema before anything is started. */
import { decisionHints, decisionNames, decisionSchemas, type DecisionName } from '../domain/decisions';
import type { WorkflowName } from '../domain/identity';
import { describeProblems } from '../domain/problems';
import { requestSchemas, type RequestOf, type RequestSchemas } from '../domain/requests';
import { check, type Checked } from '../domain/validation';
import { DecisionRefusedError, InvalidRequestError } from './errors';

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

/** @throws DecisionRefusedError where a decision is not well-formed */
export function checkDecision(name: DecisionName, body: unknown): void {
  const objection = objectionTo(name, body);
  if (objection !== undefined) throw new DecisionRefusedError(name, objection);
}

/** A sentence when a decision is not well-formed; whether it fits, only the saga knows. */
export function objectionTo(name: DecisionName, body: unknown): string | undefined {
  if (!decisionNames.includes(name)) return `there is no decision ${name}; there are ${decisionNames.join(', ')}`;
  const checked = check<unknown>(decisionSchemas[name](), body);
  if (checked.ok) return undefined;
  return `${name}: ${describeProblems(checked.problems)}. Like ${decisionHints[name].example}`;
}
