/**
 * Which addresses a receiver may have. A route is written by an operator; its host name is somebody else's, who can let
 * it name an address inside: a metadata service, a database, this machine. So what is refused is decided by the address
 * that a connection goes to, each time that one is made, whatever the name said before.
 */
import { lookup as lookUp, Resolver, TIMEOUT, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr, { type IPv6 } from 'ipaddr.js';
import { buildConnector } from 'undici';

/** The address is inside, and no setting allows it. */
export const innerAddress = 'INNER_ADDRESS';

const refusal = () => Object.assign(new Error('its host has an inner address'), { code: innerAddress });

/** A host name, which may have any address, or a range of addresses (`10.1.0.0/16`, `127.0.0.1`). */
export type Allowed = string;

/** Public by its range; it leads to the machines' own host all the same (Azure). */
const alsoPrivate = ['168.63.129.16'];

/** Only IPv6 of 2000::/3 can be outside: the rest may hold an IPv4 address, which counts where NAT64 leads to it. */
const handedOut = ipaddr.IPv6.parseCIDR('2000::/3');
const throughNat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

export function isInner(address: string): boolean {
  const known = ipaddr.process(address);
  if (known.kind() === 'ipv4') return known.range() !== 'unicast' || alsoPrivate.includes(known.toString());
  const six = known as IPv6;
  if (six.match(throughNat64)) return isInner(six.toByteArray().slice(-4).join('.'));
  return six.range() !== 'unicast' || !six.match(handedOut);
}

export function isAllowed(host: string, address: string, allowed: readonly Allowed[]): boolean {
  return !isInner(address) || allowed.some((one) => one === host.toLowerCase() || isWithin(address, one));
}

function isWithin(address: string, range: Allowed): boolean {
  const [network = '', bits] = range.split('/');
  if (isIP(network) === 0) return false;
  const [known, net] = [ipaddr.process(address), ipaddr.process(network)];
  const all = net.toByteArray().length * 8;
  return known.kind() === net.kind() && known.match(net, bits === undefined ? all : Number(bits));
}

/** Connects to no inner address but the allowed ones. */
export function createGuardedConnector(allowed: readonly Allowed[], timeoutMs: number): buildConnector.connector {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const lookup: LookupFunction = (host, options, callback) => {
    // A look-up by the system holds a thread until it ends, and there are two: a host whose name nobody answers for would
    // keep the provider from being found. This question holds none; what it answers but silence is the system's to say.
    resolver.resolve4(host, (silence) => {
      if (silence?.code === TIMEOUT) {
        callback(silence, '', 0);
        return;
      }
      lookUp(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
        const outer = error === null ? found.filter(({ address }) => isAllowed(host, address, allowed)) : [];
        const [first] = outer;
        if (first === undefined) callback(error ?? refusal(), '', 0);
        else if (options.all) callback(null, outer);
        else callback(null, first.address, first.family);
      });
    });
  };
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup });
  return (options, callback) => {
    const { hostname } = options;
    // A host that is an address is not looked up.
    if (isIP(hostname) !== 0 && !isAllowed(hostname, hostname, allowed)) {
      callback(refusal(), null);
      return;
    }
    connect(options, callback);
  };
}
