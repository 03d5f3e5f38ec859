/** Authenticates a caller: by an agreed token, or by a token that the identity provider signed for a person. */
import { createJwtVerifier, KeysUnavailable, TokenRefused, type JwtRules } from './jwt';
import { Refusal } from './refusal';
import { createTokenMatcher, type Token } from './tokens';

/** @returns who the caller is, for the log; rejects with a {@link Refusal} */
export type Authenticate = (authorization: string | undefined) => Promise<string>;

export interface AuthenticationOptions {
  tokens: readonly Token[];
  jwt: JwtRules | undefined;
}

/** @returns undefined when neither tokens nor an identity provider are configured */
export async function createAuthentication({ tokens, jwt }: AuthenticationOptions): Promise<Authenticate | undefined> {
  if (tokens.length === 0 && jwt === undefined) return undefined;
  const labelOf = createTokenMatcher(tokens);
  const subjectOf = jwt && (await createJwtVerifier(jwt));
  return async (authorization) => {
    const [, presented] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '') ?? [];
    if (presented === undefined) throw unauthorized(authorization ? 'not a bearer token' : 'no token');
    const label = labelOf(presented);
    if (label !== undefined) return label;
    if (subjectOf === undefined) throw unauthorized('unknown token');
    try {
      return await subjectOf(presented);
    } catch (error) {
      if (error instanceof TokenRefused) throw unauthorized(error.message);
      if (!(error instanceof KeysUnavailable)) throw error;
      throw new Refusal(
        503,
        'the identity provider’s keys cannot be read',
        {},
        `CODEC_JWKS_URL cannot be read: ${error.message}`,
      );
    }
  };
}

/** Only the log says what is wrong with a token: an attacker must not learn it. */
function unauthorized(reason: string): Refusal {
  return new Refusal(401, 'unauthorized', { 'WWW-Authenticate': 'Bearer' }, reason);
}
