/**
 * Verifies tokens that an identity provider signed for a person, as the Web UI passes them on, by the provider's
 * published keys. The keys are fetched when they are needed and kept for minutes.
 */
export interface JwtRules {
  jwksUrl: string;
  /** `iss` must be this, and `aud` this or a list with it: a token for another service is refused. */
  issuer: string;
  audience: string;
}

/** The token is not valid. */
export class TokenRefused extends Error {}

/** No token can be verified: the provider's keys cannot be read. */
export class KeysUnavailable extends Error {}

/** All asymmetric: with a shared secret, each program that can verify a token can also make one. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Allows for the difference of two clocks that NTP sets. */
const clockToleranceSeconds = 5;
const keysTimeoutMs = 5_000;

const keysAreMissing = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JWK_INVALID', 'ERR_JOSE_GENERIC'];

/** @returns the subject of a token; rejects with {@link TokenRefused} or {@link KeysUnavailable} */
export async function createJwtVerifier({
  jwksUrl,
  issuer,
  audience,
}: JwtRules): Promise<(token: string) => Promise<string>> {
  // This is an ES module only; a CommonJS module can load it in no other way.
  const { createRemoteJWKSet, errors, jwtVerify } = await import('jose');
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: keysTimeoutMs });
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        issuer,
        audience,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['sub', 'exp'],
      });
      // The library checks that it is there, but not that it is a text with content.
      if (typeof payload.sub !== 'string' || payload.sub === '') throw new TokenRefused('no subject');
      return payload.sub;
    } catch (error) {
      if (error instanceof TokenRefused) throw error;
      if (!(error instanceof errors.JOSEError) || keysAreMissing.includes(error.code)) {
        throw new KeysUnavailable(error instanceof Error ? error.message : String(error));
      }
      throw new TokenRefused(error.code);
    }
  };
}
