import { z } from 'zod';
import { isLoopback } from '../domain/loopback';
import { hasKeys, isKeyPair, requireHttps } from './checks';
import { clientSettings } from './client';
import { readerOf } from './environment';
import { callerTokens, fileText, flag, listenAddress, origins, text } from './parsers';
import { from, fromTextOrFile, readSettings, requireTogether, type Environment } from './settings';

export const codecServerSettings = z.object({
  address: from('CODEC_ADDRESS', listenAddress(0).default({ host: '127.0.0.1', port: 8088 })),
  keys: clientSettings.shape.payloadKeys,
  tokens: fromTextOrFile('CODEC_TOKEN', callerTokens.default([])),
  tls: z.object({
    cert: from('CODEC_TLS_CERT_FILE', fileText.optional()),
    key: from('CODEC_TLS_KEY_FILE', fileText.optional()),
  }),
  origins: from('CODEC_ORIGINS', origins.default([])),
  allowHttp: from('CODEC_ALLOW_HTTP', flag.default(false)),
  jwt: z.object({
    jwksUrl: from('CODEC_JWKS_URL', z.url({ protocol: /^https?$/, error: 'must be a URL, https://…' }).optional()),
    issuer: from('CODEC_JWT_ISSUER', text.optional()),
    audience: from('CODEC_JWT_AUDIENCE', text.optional()),
  }),
});

export const readCodecServerConfig = readerOf((env, problems) => {
  const settings = readSettings(codecServerSettings, env, problems);
  if (!hasKeys(env)) problems.push('PAYLOAD_KEYS: is required: the keys that the workers have (or PAYLOAD_KEYS_FILE)');
  const overHttp = 'over http:, an attacker could replace the keys and sign tokens';
  requireHttps('CODEC_JWKS_URL', env['CODEC_JWKS_URL'] ?? '', overHttp, problems);
  // A token that the issuer signed for another service must not be accepted here.
  requireTogether(['CODEC_JWKS_URL', 'CODEC_JWT_ISSUER', 'CODEC_JWT_AUDIENCE'], env, problems);
  requireTogether(tlsFiles, env, problems);
  requireAuthAndTls(env, problems);
  const { cert, key } = settings?.tls ?? {};
  const tls = cert === undefined || key === undefined ? undefined : { cert, key };
  if (tls && !isKeyPair(tls.cert, tls.key))
    problems.push(`${tlsFiles.join(', ')}: must be the PEM of a certificate and of its own key`);
  if (settings?.keys === undefined) return undefined;
  const { address, keys, tokens, origins } = settings;
  const { jwksUrl, issuer, audience } = settings.jwt;
  const jwt = jwksUrl && issuer && audience ? { jwksUrl, issuer, audience } : undefined;
  return { ...address, keys, tokens, jwt, origins, tls };
});

const tlsFiles = ['CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE'] as const;

/** Only this machine can connect to a loopback address. Any other address needs authentication, over TLS. */
function requireAuthAndTls(env: Environment, problems: string[]): void {
  const { data: address } = codecServerSettings.shape.address.safeParse(env['CODEC_ADDRESS'] || undefined);
  if (address === undefined || isLoopback(address.host)) return;
  const isGiven = (...names: string[]) => names.some((name) => env[name]);
  const why = `is required, because CODEC_ADDRESS is not a loopback address`;
  if (!isGiven('CODEC_TOKEN', 'CODEC_TOKEN_FILE', 'CODEC_JWKS_URL')) {
    problems.push(`CODEC_TOKEN: ${why} (or CODEC_TOKEN_FILE, or CODEC_JWKS_URL)`);
  }
  if (!isGiven(...tlsFiles) && env['CODEC_ALLOW_HTTP'] !== 'true') {
    problems.push(`CODEC_TLS_CERT_FILE: ${why} (or CODEC_ALLOW_HTTP=true, behind a proxy that does TLS)`);
  }
}
