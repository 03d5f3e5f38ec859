/** Texts of others in the markdown that the Web UI shows: a customer's label, a person's note, the provider's words. */

/** Signs that turn the direction of all that follows, up to the end of the line. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * In one line, and as the plain text that it is: no link, no picture, no emphasis, no HTML. Addresses and mail addresses
 * are not made links either.
 *
 * @param charsMax of the text, without what is added
 */
export function plainMarkdown(text: string, charsMax: number): string {
  return cutWell(text.replace(turning, '').replace(/\s+/g, ' ').trim(), charsMax)
    .replace(/[\\`*_[\]<>&~|#!@]/g, '\\$&')
    .replace(/:\/\//g, ':\\/\\/')
    .replace(/(www|mailto)([.:])/gi, '$1\\$2');
}

/** At most so many UTF-16 units, never with half a character in it. */
export function cutWell(text: string, charsMax: number): string {
  const whole = text.toWellFormed();
  return whole.length <= charsMax ? whole : `${whole.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
