/** Texts of others in the markdown that the Web UI shows: a customer's label, a person's note, the provider's words. */

/**
 * In one line, and as the plain text that it is: no link, no picture, no emphasis, no HTML. Addresses and mail addresses
 * are not made links either.
 *
 * @param charsMax of the text, without what is added
 */
export function plainMarkdown(text: string, charsMax: number): string {
  return cutWell(text.replace(/\s+/g, ' ').trim(), charsMax)
    .replace(/[\\`*_[\]<>&~|#!@]/g, '\\$&')
    .replace(/:\/\//g, ':\\/\\/')
    .replace(/\b(www|mailto)([.:])/gi, '$1\\$2');
}

/** At most so many UTF-16 units, never with half a character at the end. */
export function cutWell(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
