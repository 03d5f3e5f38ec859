/**
 * Bearer tokens that are agreed upon beforehand, as `CODEC_TOKEN` has them: a token, or `label:token`, more after a comma or
 * on a further line. The label says in the log who it was. Several at once are how a token is replaced without a pause.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Token {
  label: string;
  value: string;
}

/** Fewer can be guessed by somebody patient. */
const tokenCharsMin = 16;

/** @throws Error that says which token is wrong, by its label or its place, never by its value */
export function parseTokens(text: string): Token[] {
  return text
    .trim()
    .split(/[,\r\n]+/)
    .map((entry, index) => {
      // What RFC 6750 allows in a bearer token; a colon is not among it.
      const [, label, value] = /^\s*(?:([A-Za-z0-9._@-]{1,64}):)?([A-Za-z0-9._~+/-]+=*)\s*$/.exec(entry) ?? [];
      if (value === undefined) throw new Error(`token ${index + 1} must be letters, digits and - . _ ~ + / only`);
      if (value.length < tokenCharsMin) {
        throw new Error(`token ${label ?? index + 1} is ${value.length} characters long; at least ${tokenCharsMin}`);
      }
      return { label: label ?? 'token', value };
    });
}

/** @returns the label of the token that was presented. It takes as long for a wrong one, however much of it is right. */
export function createTokenMatcher(tokens: readonly Token[]): (presented: string) => string | undefined {
  const key = randomBytes(32);
  const digestOf = (value: string) => createHmac('sha256', key).update(value).digest();
  const known = tokens.map(({ label, value }) => ({ label, digest: digestOf(value) }));
  return (presented) => {
    const digest = digestOf(presented);
    // All of them, also after one that fits.
    const fitting = known.filter((token) => timingSafeEqual(token.digest, digest));
    return fitting[0]?.label;
  };
}
