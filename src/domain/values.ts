/** Values from outside. */

/** A value as somebody wrote it: editors begin a file with a byte order mark, and `echo` ends a value with a line break. */
export function withoutMarks(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
}

/** For a name or a reason that somebody gives: not only blanks, nor what nobody sees. */
export function isFilled(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** A JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a larger amount of money hundredths are lost. */
export const amountMax = Number.MAX_SAFE_INTEGER / 100;
