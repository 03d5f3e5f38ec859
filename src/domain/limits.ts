/**
 * Temporal ends a saga that reaches one of its limits, or the saga stands still for ever, with servers bought. So all
 * input is checked against bounds well below, before the schemas: beyond them it must not be checked field by field.
 */
import { nameOfField, type Problem } from './problems';

/** Naming what is wrong with each value takes the time and the memory of a workflow task, and it has little of both. */
const valuesMax = 20_000;
const levelsMax = 32;

/** The result names each server, and Temporal takes a result of 2 MiB. */
export const serversMax = 10_000;

/** Cart items, firewalls, and servers that get some: each has steps. So many fit: src/saga/history-left.ts. */
export const stepsMax = 200;

/** Entries of a list, or characters of a text, by the field's name. Texts are repeated in questions and reports. */
const lengthsMax: Readonly<Record<string, number>> = {
  items: stepsMax,
  resources: stepsMax,
  firewalls: stepsMax,
  assign: stepsMax,
  unassign: stepsMax,
  exactly: stepsMax,
  vmObjectIds: serversMax,
  label: 1_000,
  currency: 100,
  by: 200,
  orderId: 200,
  notAfter: 64,
  note: 4_000,
  reason: 4_000,
};

/** Words of people: half a character in them is written as an unknown one. Elsewhere it would be bought, or never typed. */
const words = ['by', 'note', 'reason'];

/** @returns what exceeds the limits, by field; the schema checks the rest */
export function beyondLimits(input: unknown): Problem[] {
  const shapeless = beyondShape(input);
  return shapeless ? [shapeless] : inside(input, []);
}

function beyondShape(input: unknown): Problem | undefined {
  let level = [input];
  for (let levels = 0, values = 0; level.length > 0; levels += 1) {
    values += level.length;
    if (values > valuesMax) return { field: '', message: `must not hold more than ${valuesMax} values` };
    if (levels > levelsMax) return { field: '', message: `must not be nested deeper than ${levelsMax} levels` };
    level = level.flatMap((value) => (isObject(value) ? (Object.values(value) as unknown[]) : []));
  }
  return undefined;
}

function inside(value: unknown, path: readonly PropertyKey[]): Problem[] {
  if (typeof value === 'string') {
    if (value.isWellFormed() || words.includes(String(path.at(-1)))) return [];
    return [{ field: nameOfField(path), message: 'has half a character: the text was cut in the middle of one' }];
  }
  if (!isObject(value)) return isJson(value) ? [] : [{ field: nameOfField(path), message: 'is not JSON' }];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    // zod leaves it out without a word.
    if (key === '__proto__') return [{ field: nameOfField(at), message: 'cannot be the name of a field' }];
    const max = Object.hasOwn(lengthsMax, key) ? lengthsMax[key] : undefined;
    const unit = typeof inner === 'string' ? 'characters' : 'entries';
    const isLong = (typeof inner === 'string' || Array.isArray(inner)) && max !== undefined && inner.length > max;
    if (!isLong) return inside(inner, at);
    return [{ field: nameOfField(at), message: `must not have more than ${max} ${unit}` }];
  });
}

/** Input that came through Temporal always is. Other values would be refused or changed on the way there. */
function isJson(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : !['bigint', 'function', 'symbol'].includes(typeof value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
