import { z } from 'zod';
import { parseTokens, type Token } from '../security/codec-server/authentication';
import { hasKeys, isKeyPair, isLoopback, readPayloadKeys, requireHttps } from './checks';
import { flag, listenAddress, origins, text } from './kinds';
import { from, readSettings, readText, requireTogether, SettingsError, textOrFile, type Environment } from './settings';

export const codecServerSettings = z.object({
  address: from('CODEC_ADDRESS', listenAddress(0).default({ host: '127.0.0.1', port: 8088 })),
  origins: from('CODEC_ORIGINS', origins.default([])),
  allowHttp: from('CODEC_ALLOW_HTTP', flag.default(false)),
  jwt: z.object({
    jwksUrl: from('CODEC_JWKS_URL', z.url({ protocol: /^https?$/, error: 'must be a URL, https://…' }).optional()),
    issuer: from('CODEC_JWT_ISSUER', text.optional()),
    audience: from('CODEC_JWT_AUDIENCE', text.optional()),
  }),
});

export type CodecServerConfig = ReturnType<typeof readCodecServerConfig>;

/** @throws SettingsError */
export function readCodecServerConfig(env: Environment = process.env) {
  const problems: string[] = [];
  const settings = readSettings(codecServerSettings, env, problems);
  const keys = readPayloadKeys(env, problems);
  if (!hasKeys(env)) problems.push('PAYLOAD_KEYS: is required: the keys that the workers have (or PAYLOAD_KEYS_FILE)');
  const tokens = readTokens(env, problems);
  const overHttp = 'over http:, an attacker could replace the keys and sign tokens';
  requireHttps('CODEC_JWKS_URL', env['CODEC_JWKS_URL'] ?? '', overHttp, problems);
  // A token that the issuer signed for another service must not be accepted here.
  requireTogether(['CODEC_JWKS_URL', 'CODEC_JWT_ISSUER', 'CODEC_JWT_AUDIENCE'], env, problems);
  const tls = readTls(env, problems);
  if (settings) requireAuthAndTls(settings, env, problems);
  if (settings === undefined || keys === undefined || problems.length > 0) throw new SettingsError(problems);
  const { jwksUrl, issuer, audience } = settings.jwt;
  const jwt = jwksUrl && issuer && audience ? { jwksUrl, issuer, audience } : undefined;
  return Object.freeze({ ...settings.address, keys, tokens, jwt, origins: settings.origins, tls });
}

function readTokens(env: Environment, problems: string[]): readonly Token[] {
  const given = textOrFile('CODEC_TOKEN', env, problems);
  if (given === undefined) return [];
  try {
    return parseTokens(given.text);
  } catch (error) {
    const expected = 'must be tokens, or label:token, comma-separated or one per line';
    problems.push(`${given.name}: ${expected}: ${(error as Error).message}`);
    return [];
  }
}

/** PEM. @returns undefined for HTTP */
function readTls(env: Environment, problems: string[]): { cert: string; key: string } | undefined {
  const names = ['CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE'] as const;
  requireTogether(names, env, problems);
  const [cert, key] = names.map((name) => (env[name] ? readText(name, env[name], problems) : undefined));
  if (cert === undefined || key === undefined) return undefined;
  if (!isKeyPair(cert, key)) problems.push(`${names.join(', ')}: must be the PEM of a certificate and of its own key`);
  return { cert, key };
}

/** Only this machine can connect to a loopback address. Any other address needs authentication, over TLS. */
function requireAuthAndTls(
  { address: { host }, allowHttp }: z.output<typeof codecServerSettings>,
  env: Environment,
  problems: string[],
): void {
  if (isLoopback(host)) return;
  const given = (...names: string[]) => names.some((name) => env[name]);
  const why = `is required, because CODEC_ADDRESS is not a loopback address`;
  if (!given('CODEC_TOKEN', 'CODEC_TOKEN_FILE', 'CODEC_JWKS_URL')) {
    problems.push(`CODEC_TOKEN: ${why} (or CODEC_TOKEN_FILE, or CODEC_JWKS_URL)`);
  }
  if (!given('CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE') && !allowHttp) {
    problems.push(`CODEC_TLS_CERT_FILE: ${why} (or CODEC_ALLOW_HTTP=true, behind a proxy that does TLS)`);
  }
}
