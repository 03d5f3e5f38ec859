/** Ids, as the document has them (int) and as lenient readings of undocumented answers take them. */

/** Integers from 1 up to 2^53 - 1: past that, JSON has already changed the number. */
export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** An id, or the decimal string that would print as one (no sign, no leading zero, no space); else undefined. */
export function readId(value: unknown): number | undefined {
  if (isId(value)) return value;
  if (typeof value !== 'string' || !/^[1-9]\d{0,15}$/.test(value)) return undefined;
  const id = Number(value);
  return isId(id) ? id : undefined;
}

/** Every element's id, duplicates removed and order kept; undefined where any element has none. */
export function readIds(values: readonly unknown[], read: (value: unknown) => number | undefined = readId) {
  const ids = new Set<number>();
  for (const value of values) {
    const id = read(value);
    if (id === undefined) return undefined;
    ids.add(id);
  }
  return [...ids];
}
