import { isLoopback } from './checks';
import type { Environment } from './settings';

const usualPorts: Record<string, string> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy for a service, from the variables that most programs take; the names in lower case count first. No message
 * repeats an address: it may have a password.
 *
 * @returns undefined where there is none, and for a service of this machine
 */
export function proxyFor(serviceUrl: string, env: Environment, problems: string[]): string | undefined {
  const [https, http, except] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map((name) => ({
    name,
    value: env[name.toLowerCase()] || env[name],
  }));
  // What is wrong with it has a message of its own.
  if (!URL.canParse(serviceUrl)) return undefined;
  const service = new URL(serviceUrl);
  const proxy = service.protocol === 'https:' ? https : http;
  if (!proxy?.value || isLoopback(service.hostname) || isExcepted(service, except?.value ?? '')) return undefined;
  if (!isProxy(proxy.value)) problems.push(`${proxy.name}: must be the address of a proxy, http://… or https://…`);
  return proxy.value;
}

/** `host`, which stands for what is below it as well, with or without a dot before it; `host:port`; or `*`. */
function isExcepted({ protocol, hostname, port }: URL, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => {
    const [, host = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (entry === '*') return true;
    const name = host.replace(/^\*?\./, '');
    if (name === '' || (only !== undefined && only !== (port || usualPorts[protocol]))) return false;
    return hostname === name || hostname.endsWith(`.${name}`);
  });
}

function isProxy(address: string): boolean {
  try {
    const { protocol, username, password } = new URL(address);
    decodeURIComponent(username + password);
    return protocol in usualPorts;
  } catch {
    return false;
  }
}
