/** Parts of a list filter of Temporal's visibility, and what it finds. */
import type { Client } from '@temporalio/client';
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

/** Temporal does not understand the filter: why. */
export class WrongFilter extends Error {
  override readonly name = 'WrongFilter';
}

/** The most that a server takes as it is shipped. */
export const rowsAtOnce = 1_000;

/**
 * The runs that fit, in the order of visibility: a start or a change may take a moment to show.
 *
 * @param where the part of the query that a person has written
 * @throws WrongFilter
 */
export async function* runsThatFit(client: Client, query: string, where: string | undefined, pageSize = rowsAtOnce) {
  try {
    yield* client.workflow.list({ query, pageSize });
  } catch (error) {
    if (where === undefined || grpcCodeOf(error) !== grpcCodes.invalidArgument) throw error;
    throw new WrongFilter(`Temporal does not understand it: ${grpcDetailsOf(error).replace(/\.$/, '')}`);
  }
}
