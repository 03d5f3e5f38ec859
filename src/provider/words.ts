/** How words in undocumented answers are compared: interfaces spell one name in many ways. */

/** Without case, spaces, `_` and `-`. */
export const bare = (word: unknown): string =>
  String(word)
    .toLowerCase()
    .replace(/[\s_-]/g, '');

export const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
