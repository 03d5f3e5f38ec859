/**
 * JSON pointers (RFC 6901) to object ids in answers whose shape is not documented. One extension: a segment `*` stands
 * for every element of an array, so that `servers`, `*`, `object_id` finds the ids of all servers. On an object, `*` is
 * an ordinary key.
 */
import { jsonPointer } from '../domain/profile';
import { readIds } from './ids';

/** As {@link idsAt}; undefined where an element at the last `*` of the pointer has none. */
export function allIdsAt(pointer: string, response: unknown): number[] | undefined {
  const segments = segmentsOf(pointer);
  const upTo = segments.lastIndexOf('*') + 1;
  const all = resolve(segments.slice(0, upTo), response).map((element) =>
    readIds(resolve(segments.slice(upTo), element).flat()),
  );
  return all.some((ids) => !ids?.length) ? undefined : [...new Set(all.flatMap((ids) => ids ?? []))];
}

/**
 * The ids that the pointer finds: an integer, a decimal string of one, or an array of these. Without duplicates, in their
 * order. A value that is missing or not an id, and an invalid pointer, add nothing.
 */
export function idsAt(pointer: string, response: unknown): number[] {
  return [...new Set(valuesAt(pointer, response).flatMap((found) => readIds([found].flat()) ?? []))];
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

/** The values that a pointer finds; none for an invalid pointer. */
export function valuesAt(pointer: string, response: unknown): unknown[] {
  return jsonPointer.test(pointer) ? resolve(segmentsOf(pointer), response) : [];
}

export function segmentsOf(pointer: string): string[] {
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
export function step(value: unknown, segment: string): unknown[] {
  if (Array.isArray(value)) {
    if (segment === '*') return value as unknown[];
    return /^(?:0|[1-9]\d*)$/.test(segment) && Number(segment) < value.length ? [value[Number(segment)]] : [];
  }
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, segment)) return [];
  return [(value as Record<string, unknown>)[segment]];
}
