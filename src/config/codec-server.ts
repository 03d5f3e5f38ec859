import { z } from 'zod';
import type { JwtRules } from '../security/codec-server/jwt';
import { parseTokens, type Token } from '../security/codec-server/tokens';
import type { PayloadKeys } from '../security/keys';
import { isKeyPair, isLoopback } from './checks';
import { flag, origins, parsedBy, text, whole } from './kinds';
import { hasKeys, readPayloadKeys } from './payload-keys';
import { readSettings, readText, SettingsError, type Environment } from './settings';

export const codecServerSettings = {
  CODEC_HOST: text.default('127.0.0.1'),
  CODEC_PORT: whole(0, 65_535).default(8088),
  CODEC_TOKEN: parsedBy(parseTokens, 'must be tokens, or label:token, comma-separated').optional(),
  CODEC_TOKEN_FILE: text.optional(),
  CODEC_JWKS_URL: z.url({ protocol: /^https?$/, error: 'must be a URL, https://…' }).optional(),
  CODEC_JWT_ISSUER: text.optional(),
  CODEC_JWT_AUDIENCE: text.optional(),
  CODEC_ORIGINS: origins.default([]),
  CODEC_TLS_CERT_FILE: text.optional(),
  CODEC_TLS_KEY_FILE: text.optional(),
  CODEC_ALLOW_HTTP: flag.default(false),
  /** Temporal accepts messages of up to 4 MiB; in base64 and JSON, one is still smaller than this default. */
  CODEC_BODY_BYTES_MAX: whole(1_024, 64 * 1024 * 1024).default(8 * 1024 * 1024),
};

export interface CodecServerConfig {
  host: string;
  port: number;
  keys: PayloadKeys;
  tokens: readonly Token[];
  jwt: JwtRules | undefined;
  origins: readonly string[];
  /** PEM. Undefined: HTTP. */
  tls: { cert: string; key: string } | undefined;
  bodyBytesMax: number;
}

/** @throws SettingsError */
export function readCodecServerConfig(env: Environment = process.env): Readonly<CodecServerConfig> {
  const problems: string[] = [];
  const settings = readSettings(codecServerSettings, env, problems);
  const keys = readPayloadKeys(env, problems);
  if (!hasKeys(env)) problems.push('PAYLOAD_KEYS: is required: the keys that the workers have (or PAYLOAD_KEYS_FILE)');
  const tokensOfFile = codecTokenFile(env, problems);
  const jwt = jwtRules(env, problems);
  const tls = codecTls(env, problems);
  requireDoors(env, problems);
  if (settings === undefined || keys === undefined || problems.length > 0) throw new SettingsError(problems);
  return Object.freeze({
    host: settings.CODEC_HOST,
    port: settings.CODEC_PORT,
    keys,
    tokens: settings.CODEC_TOKEN ?? tokensOfFile,
    jwt,
    origins: settings.CODEC_ORIGINS,
    tls,
    bodyBytesMax: settings.CODEC_BODY_BYTES_MAX,
  });
}

function codecTokenFile({ CODEC_TOKEN, CODEC_TOKEN_FILE }: Environment, problems: string[]): readonly Token[] {
  if (!CODEC_TOKEN_FILE) return [];
  if (CODEC_TOKEN) problems.push('CODEC_TOKEN: cannot be set together with CODEC_TOKEN_FILE; set one of them');
  const read = readText('CODEC_TOKEN_FILE', CODEC_TOKEN_FILE, problems);
  if (read === undefined) return [];
  try {
    return parseTokens(read);
  } catch (error) {
    problems.push(`CODEC_TOKEN_FILE: must have one token, or label:token, per line: ${(error as Error).message}`);
    return [];
  }
}

/** All three or none: a token that the issuer signed for another service must not be accepted here. */
function jwtRules(
  { CODEC_JWKS_URL, CODEC_JWT_ISSUER, CODEC_JWT_AUDIENCE }: Environment,
  problems: string[],
): JwtRules | undefined {
  if (CODEC_JWKS_URL && URL.canParse(CODEC_JWKS_URL)) {
    const { protocol, hostname } = new URL(CODEC_JWKS_URL);
    if (protocol === 'http:' && !isLoopback(hostname)) {
      problems.push('CODEC_JWKS_URL: must be https: (over http:, an attacker could replace the keys and sign tokens)');
    }
  }
  const together = { CODEC_JWKS_URL, CODEC_JWT_ISSUER, CODEC_JWT_AUDIENCE };
  const missing = Object.entries(together).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === 3) return undefined;
  for (const name of missing) {
    const others = Object.keys(together).filter((other) => other !== name);
    problems.push(`${name}: is required with ${others.join(' and ')}`);
  }
  if (!CODEC_JWKS_URL || !CODEC_JWT_ISSUER || !CODEC_JWT_AUDIENCE) return undefined;
  return { jwksUrl: CODEC_JWKS_URL, issuer: CODEC_JWT_ISSUER, audience: CODEC_JWT_AUDIENCE };
}

function codecTls(
  { CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE }: Environment,
  problems: string[],
): CodecServerConfig['tls'] {
  if (!CODEC_TLS_CERT_FILE && !CODEC_TLS_KEY_FILE) return undefined;
  if (!CODEC_TLS_CERT_FILE || !CODEC_TLS_KEY_FILE) {
    problems.push('CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE: are required together');
    return undefined;
  }
  const cert = readText('CODEC_TLS_CERT_FILE', CODEC_TLS_CERT_FILE, problems);
  const key = readText('CODEC_TLS_KEY_FILE', CODEC_TLS_KEY_FILE, problems);
  if (cert === undefined || key === undefined) return undefined;
  if (!isKeyPair(cert, key)) {
    problems.push('CODEC_TLS_CERT_FILE, CODEC_TLS_KEY_FILE: must be the PEM of a certificate and of its own key');
  }
  return { cert, key };
}

/** Only this machine can connect to a loopback address. Any other address needs authentication, over TLS. */
function requireDoors(env: Environment, problems: string[]): void {
  const host = env['CODEC_HOST']?.trim() || '127.0.0.1';
  if (isLoopback(host)) return;
  const given = (...names: string[]) => names.some((name) => env[name]);
  const why = `is required, because CODEC_HOST=${host} is not a loopback address`;
  if (!given('CODEC_TOKEN', 'CODEC_TOKEN_FILE', 'CODEC_JWKS_URL')) {
    problems.push(`CODEC_TOKEN: ${why} (or CODEC_TOKEN_FILE, or CODEC_JWKS_URL)`);
  }
  if (!given('CODEC_TLS_CERT_FILE', 'CODEC_TLS_KEY_FILE') && env['CODEC_ALLOW_HTTP'] !== 'true') {
    problems.push(`CODEC_TLS_CERT_FILE: ${why} (or CODEC_ALLOW_HTTP=true, behind a proxy that does TLS)`);
  }
}
