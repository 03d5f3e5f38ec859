/** Parts of a list filter of Temporal's visibility. */

/** @param names of ours: none has a quote in it */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}
