/**
 * JSON pointers (RFC 6901) to object ids in answers whose shape is not documented. One extension: a segment `*` stands
 * for every element of an array, so that `servers`, `*`, `object_id` finds the ids of all servers. On an object, `*` is
 * an ordinary key.
 */
import { readIds } from './ids';

/**
 * The ids that the pointer finds: an integer, a decimal string of one, or an array of these. Undefined where it leads to
 * none, where an element on its way has none, and where an id stands there twice.
 */
export function idsAt(pointer: string, response: unknown): number[] | undefined {
  const found = foundAt(segmentsOf(pointer), response, true);
  return found && readIds(found.flat());
}

/** True if the pointer leads to something, in every element on its way, and all of it fits. */
export function allFitAt(pointer: string, response: unknown, fits: (value: unknown) => boolean): boolean {
  return foundAt(segmentsOf(pointer), response, false)?.every(fits) ?? false;
}

/** @returns undefined where a segment leads nowhere; an empty list may have no elements to lead to */
function foundAt([segment, ...rest]: readonly string[], value: unknown, mayBeEmpty: boolean): unknown[] | undefined {
  if (segment === undefined) return [value];
  const next = step(value, segment);
  if (next.length === 0 && !(mayBeEmpty && segment === '*' && Array.isArray(value))) return undefined;
  const all = next.map((one) => foundAt(rest, one, mayBeEmpty));
  return all.includes(undefined) ? undefined : all.flatMap((found) => found ?? []);
}

/** The shortest first: pointers at which a document has what fits, with `*` for the elements of an array. */
export function pointersTo(fits: (value: unknown) => boolean, document: unknown, at = ''): string[] {
  const found = childrenOf(document).flatMap(([segment, value]) => {
    const pointer = `${at}/${segment}`;
    return fits(value) ? [pointer] : pointersTo(fits, value, pointer);
  });
  return [...new Set(found)].sort((one, other) => one.length - other.length);
}

function childrenOf(value: unknown): (readonly [segment: string, value: unknown])[] {
  if (Array.isArray(value)) return value.map((element) => ['*', element]);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).map(([key, child]) => [key.replaceAll('~', '~0').replaceAll('/', '~1'), child]);
}

/** For each element that both pointers lead through: what the one and what the other finds in it. */
export function pairsAt(one: string, other: string, document: unknown): (readonly [unknown[], unknown[]])[] {
  const [first, second] = [segmentsOf(one), segmentsOf(other)];
  const parting = first.findIndex((segment, index) => segment !== second[index]);
  const shared = first.slice(0, parting).lastIndexOf('*') + 1;
  return resolve(first.slice(0, shared), document).map((element) => [
    resolve(first.slice(shared), element),
    resolve(second.slice(shared), element),
  ]);
}

/** The values that a pointer finds. */
export function valuesAt(pointer: string, response: unknown): unknown[] {
  return resolve(segmentsOf(pointer), response);
}

function segmentsOf(pointer: string): string[] {
  // `~1` first: in the other order, `~01` (the key `~1`) would become a slash.
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function resolve(segments: readonly string[], document: unknown): unknown[] {
  return segments.reduce<unknown[]>((found, segment) => found.flatMap((value) => step(value, segment)), [document]);
}

/** The values one segment further, in a list, so that an array among them stays one value. */
function step(value: unknown, segment: string): unknown[] {
  if (Array.isArray(value)) {
    if (segment === '*') return value as unknown[];
    return /^(?:0|[1-9]\d*)$/.test(segment) && Number(segment) < value.length ? [value[Number(segment)]] : [];
  }
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, segment)) return [];
  return [(value as Record<string, unknown>)[segment]];
}
