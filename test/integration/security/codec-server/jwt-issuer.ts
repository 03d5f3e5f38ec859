/**
 * An identity provider: publishes its keys over HTTP, and signs whatever it is told to. Made by hand, without the
 * library that verifies.
 */
import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { serve } from '../../../support/stand-in';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Of somebody else. */
export const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });

const published = {
  keys: [
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa-1', alg: 'RS256', use: 'sig' },
    { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec-1' },
  ],
};

/** Closed by `closeAll`. */
export async function startIssuer() {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const { url } = await serve({ headers, body: JSON.stringify(published) });
  return { jwksUrl: `${url}/keys`, issuer: 'https://login.example' };
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @param signer makes the signature of the text, or leaves it out */
function token(header: object, claims: object, signer: (text: Buffer) => Buffer): string {
  const text = `${base64url(header)}.${base64url(claims)}`;
  return `${text}.${signer(Buffer.from(text)).toString('base64url')}`;
}

export const rs256 = (claims: object, key: KeyObject = rsa.privateKey, kid = 'rsa-1') =>
  token({ alg: 'RS256', kid, typ: 'JWT' }, claims, (text) => sign('sha256', text, key));

export const es256 = (claims: object) =>
  token({ alg: 'ES256', kid: 'ec-1' }, claims, (text) =>
    sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
  );

export const unsigned = (claims: object) => token({ alg: 'none', kid: 'rsa-1' }, claims, () => Buffer.alloc(0));

/** The public key as if it were a shared secret, in each form in which a careless library might have it. */
export const hs256WithPublicKey = (claims: object) =>
  [
    rsa.publicKey.export({ type: 'spki', format: 'pem' }),
    rsa.publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(published.keys[0]),
  ].map((secret) =>
    token({ alg: 'HS256', kid: 'rsa-1' }, claims, (text) => createHmac('sha256', secret).update(text).digest()),
  );
