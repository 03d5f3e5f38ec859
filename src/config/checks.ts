/** Checks of certificates and keys: only TLS and encrypted data leave this machine, unless the operator allows more. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { isLoopback } from '../domain/loopback';
import { tryOr } from '../domain/ignore-errors';
import type { Environment } from './settings';

/** A certificate is renewed days before the old one ends. */
export const lookForRenewalMs = 10_000;

export function isCertificate(pem: string | Uint8Array): boolean {
  return tryOr(() => new X509Certificate(pem).raw.length > 0, false);
}

export function isKeyPair(cert: string | Buffer, key: string | Buffer): boolean {
  return tryOr(() => Boolean(createSecureContext({ cert, key })), false);
}

/** Only TLS leads to another machine. An address that is no URL has its own message. */
export function requireHttps(name: string, url: string, why: string, problems: string[]): void {
  if (!URL.canParse(url)) return;
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) problems.push(`${name}: must be https: (${why})`);
}

/** Some are given, right or wrong. */
export function hasKeys({ PAYLOAD_KEYS, PAYLOAD_KEYS_FILE }: Environment): boolean {
  return Boolean(PAYLOAD_KEYS || PAYLOAD_KEYS_FILE);
}

/** Unencrypted data stays on this machine, unless the operator allows more. */
export function requireKeys(where: 'Temporal server' | 'journal', host: string, env: Environment, problems: string[]) {
  if (hasKeys(env) || env['PAYLOAD_ENCRYPTION'] === 'off' || isLoopback(host)) return;
  problems.push(
    `PAYLOAD_KEYS: is required for a ${where} that is not on this machine ` +
      '(or set PAYLOAD_ENCRYPTION=off: passwords are then stored there unencrypted)',
  );
}
