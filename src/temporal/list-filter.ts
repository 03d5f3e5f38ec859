/** Parts of a list filter of Temporal's visibility. */
import { searchAttributeNames } from '../domain/identity';
import { grpcCodeOf, grpcCodes, grpcDetailsOf } from './grpc';

/** @param names of ours: none has a quote in it */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

type Attribute = 'state' | 'step' | 'account' | 'failure' | 'metadata';

/** @param value of anybody's; undefined or empty: that it has none */
export function is(name: Attribute, value: string | undefined): string {
  const attribute = searchAttributeNames[name];
  return value === undefined || value === '' ? `${attribute} IS NULL` : `${attribute} = ${text(value)}`;
}

/** @param step with `*` at its end: each that begins so */
export function isStep(step: string): string {
  return step.endsWith('*') ? `${searchAttributeNames.step} STARTS_WITH ${text(step.slice(0, -1))}` : is('step', step);
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** Why Temporal does not understand a filter; undefined where it failed for another reason. */
export function misunderstood(error: unknown): string | undefined {
  if (grpcCodeOf(error) !== grpcCodes.invalidArgument) return undefined;
  return `Temporal does not understand it: ${grpcDetailsOf(error).replace(/\.$/, '')}`;
}
