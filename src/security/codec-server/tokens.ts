/**
 * Bearer tokens that are agreed upon beforehand, as `CODEC_TOKEN` has them: tokens, or `label:token`, separated by
 * commas or lines. The log names a caller by its label. With several tokens at once, one can be replaced without a
 * pause.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Token {
  label: string;
  value: string;
}

/** A shorter token could be guessed. */
const tokenCharsMin = 16;

/** @throws Error that names the wrong token by its label or position, never by its value */
export function parseTokens(text: string): Token[] {
  return text
    .trim()
    .split(/[,\r\n]+/)
    .map((entry, index) => {
      // The characters that RFC 6750 allows in a bearer token, which has no colon.
      const [, label, value] = /^\s*(?:([A-Za-z0-9._@-]{1,64}):)?([A-Za-z0-9._~+/-]+=*)\s*$/.exec(entry) ?? [];
      if (value === undefined) throw new Error(`token ${index + 1} must be letters, digits and - . _ ~ + / only`);
      if (value.length < tokenCharsMin) {
        throw new Error(`token ${label ?? index + 1} is ${value.length} characters long; at least ${tokenCharsMin}`);
      }
      return { label: label ?? 'token', value };
    });
}

/** @returns the label of the presented token. The time does not depend on how much of a wrong token is right. */
export function createTokenMatcher(tokens: readonly Token[]): (presented: string) => string | undefined {
  const key = randomBytes(32);
  const digestOf = (value: string) => createHmac('sha256', key).update(value).digest();
  const known = tokens.map(({ label, value }) => ({ label, digest: digestOf(value) }));
  return (presented) => {
    const digest = digestOf(presented);
    // Compares with all of them, also after a match.
    const fitting = known.filter((token) => timingSafeEqual(token.digest, digest));
    return fitting[0]?.label;
  };
}
