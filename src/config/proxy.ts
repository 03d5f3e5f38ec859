/** The proxy for calls of the provider, from variables that most programs heed; those in small letters count more. */
import { isLoopback } from '../domain/loopback';
import type { Environment } from './settings';

/**
 * @returns undefined where there is none for that address; a loopback address never has one
 * @param problems gets a sentence where it is no address. It does not repeat it: there may be a password in it
 */
export function proxyFor(baseUrl: string, env: Environment, problems: string[]): string | undefined {
  const [forHttps, forHttp, noProxy] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(
    (name) => env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined,
  );
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, hostname, port } = new URL(baseUrl);
  const [name, proxy, standardPort] =
    protocol === 'https:' ? ['HTTPS_PROXY', forHttps, '443'] : ['HTTP_PROXY', forHttp, '80'];
  if (proxy === undefined || isLoopback(hostname)) return undefined;
  if (isExempt(hostname, port || standardPort, noProxy)) return undefined;
  // Many write only host and port.
  const url = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  problems.push(`${name}: must be the address of a proxy, http://… or https://…`);
  return undefined;
}

/** Names, with those below them; with a port, only that port; `*` for all. */
function isExempt(hostname: string, port: string, noProxy = ''): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const host = hostname.replace(/^\[|\]$/g, '');
      return (host === name || host.endsWith(`.${name}`)) && (only === undefined || only === port);
    });
}
