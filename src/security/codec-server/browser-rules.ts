/**
 * What keeps a web page that somebody happens to visit from reading payloads through that person's browser.
 *
 * Only pages of the named origins get an answer that the browser lets them read. Where nobody is asked for a token, the
 * name by which the server was called must be one of this machine's: another name that leads here is a page whose owner
 * has pointed its own domain at 127.0.0.1.
 */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal';

/** Seconds that a browser may remember the permission. */
const preflightMaxAge = '600';

/**
 * Headers that let the asking page read the answer, whatever it says. Cookies are nobody's way in here, so that
 * credentials are never allowed.
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

/** @throws Refusal when it was not called by a name of this machine */
export function admitLoopbackName({ headers: { host = '' } }: IncomingMessage): void {
  if (/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)) return;
  throw new Refusal(403, 'this host name is not allowed', {}, `host ${host}`);
}
