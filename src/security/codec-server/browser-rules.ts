/**
 * These rules keep a foreign web page from reading payloads through the browser of a person who visits it.
 *
 * Only pages of the configured origins get an answer that the browser lets them read. Where no token is required, the
 * server must be called by a name of this machine: any other name is that of a page whose owner has pointed its domain
 * at 127.0.0.1 (DNS rebinding).
 */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal';

/** Seconds that a browser may remember the permission. */
const preflightMaxAge = '600';

/**
 * Headers that let the asking page read the answer, also a refusal. Credentials are never allowed, because cookies are
 * not used here.
 * @throws Refusal
 */
export function admitOrigin(
  { headers: { origin } }: IncomingMessage,
  origins: readonly string[],
): Record<string, string> {
  if (origin === undefined) return {};
  if (!origins.includes(origin)) throw new Refusal(403, 'this origin is not allowed', {}, `origin ${origin}`);
  return { 'Access-Control-Allow-Origin': origin };
}

export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': 'content-type, x-namespace, authorization',
  'Access-Control-Max-Age': preflightMaxAge,
};

/** @throws Refusal when the server was not called by a name of this machine */
export function admitLoopbackName({ headers: { host = '' } }: IncomingMessage): void {
  if (/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)) return;
  throw new Refusal(403, 'this host name is not allowed', {}, `host ${host}`);
}
