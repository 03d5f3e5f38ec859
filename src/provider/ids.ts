/** Ids: as the document has them (int), and as they may stand in undocumented answers. */

/** Integers from 1 to 2^53 - 1: JSON.parse does not keep larger ones exact. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** An id, or a decimal string of one (no sign, no leading zero, no space); else undefined. */
export function readId(value: unknown): number | undefined {
  if (isId(value)) return value;
  if (typeof value !== 'string' || !/^[1-9]\d{0,15}$/.test(value)) return undefined;
  const id = Number(value);
  return isId(id) ? id : undefined;
}

/** The id of each element, in order; undefined where one has none, or has another one's: then it is no list of ids. */
export function readIds(values: readonly unknown[], read: (value: unknown) => number | undefined = readId) {
  const ids = new Set<number>();
  for (const value of values) {
    const id = read(value);
    if (id === undefined || ids.has(id)) return undefined;
    ids.add(id);
  }
  return [...ids];
}
