/** Authenticates a caller: by an agreed token, or by one that an identity provider has signed for a person. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';

export interface AuthenticationOptions {
  tokens: readonly Token[];
  jwt: JwtRules | undefined;
}

interface JwtRules {
  jwksUrl: string;
  /** `iss` must be this, and `aud` this or a list with it: a token for another service is refused. */
  issuer: string;
  audience: string;
}

/** @returns who the caller is, for the log; rejects with an HTTPException, whose cause is for the log only */
export type Authenticate = (authorization: string | undefined) => Promise<string>;

/** @returns undefined when neither tokens nor an identity provider are configured */
export async function createAuthentication({ tokens, jwt }: AuthenticationOptions): Promise<Authenticate | undefined> {
  if (tokens.length === 0 && jwt === undefined) return undefined;
  const key = randomBytes(32);
  const digestOf = (value: string) => createHmac('sha256', key).update(value).digest();
  const known = tokens.map(({ label, value }) => ({ label, digest: digestOf(value) }));
  const subjectOf = jwt && (await createJwtVerifier(jwt));
  return async (authorization = '') => {
    const [, presented] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization) ?? [];
    if (presented === undefined) throw unauthorized(authorization ? 'not a bearer token' : 'no token');
    const digest = digestOf(presented);
    // With all of them, also after a match: the time does not depend on how much of a wrong token is right.
    const [fitting] = known.filter((token) => timingSafeEqual(token.digest, digest));
    const subject = fitting?.label ?? (await subjectOf?.(presented));
    if (subject === undefined) throw unauthorized('unknown token');
    return subject;
  };
}

/** Only the log says what is wrong with a token: an attacker must not learn it. */
function unauthorized(cause: string): HTTPException {
  return new HTTPException(401, { message: 'unauthorized', cause });
}

/** All asymmetric: with a shared secret, each program that can verify a token can also make one. */
const algorithms = [
  ...['RS', 'PS', 'ES'].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]),
  'EdDSA',
  'Ed25519',
];
/** Allows for the difference of two clocks that NTP sets. */
const clockToleranceSeconds = 5;
const keysTimeoutMs = 5_000;

const keysAreMissing = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JWK_INVALID', 'ERR_JOSE_GENERIC'];

/** @returns the subject of a token */
async function createJwtVerifier({ jwksUrl, issuer, audience }: JwtRules): Promise<(token: string) => Promise<string>> {
  // This is an ES module only; a CommonJS module can load it in no other way.
  const { createRemoteJWKSet, errors, jwtVerify } = await import('jose');
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: keysTimeoutMs });
  const rules = { algorithms, issuer, audience, clockTolerance: clockToleranceSeconds, requiredClaims: ['sub', 'exp'] };
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, rules).catch((error: unknown) => {
      if (error instanceof errors.JOSEError && !keysAreMissing.includes(error.code)) throw unauthorized(error.code);
      const why = error instanceof Error ? error.message : String(error);
      const message = 'the identity provider’s keys cannot be read';
      throw new HTTPException(503, { message, cause: `CODEC_JWKS_URL cannot be read: ${why}` });
    });
    // The library checks that it is there, but not that it is a text with content.
    if (typeof payload.sub !== 'string' || payload.sub === '') throw unauthorized('no subject');
    return payload.sub;
  };
}

/** One that is agreed upon beforehand. The log names a caller by its label. */
export interface Token {
  label: string;
  value: string;
}

/** A shorter token could be guessed. */
const tokenCharsMin = 16;

/** @param text `token` or `label:token`, by commas or lines. @throws Error that names no value, but label or place */
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
