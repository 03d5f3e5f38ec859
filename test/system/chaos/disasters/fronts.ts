/** What ends TLS in front of Temporal and of the provider, with certificates that can be exchanged while it works. */
import { Authority, type Certificate } from '../../../support/certificates';
import { startTlsProxy, type TlsProxy } from '../../../support/proxies';
import type { Closers } from '../closers';

export interface Fronts {
  temporal: TlsProxy;
  provider: TlsProxy;
  /** What our programs need to know of them. */
  settings: Record<string, string>;
  good: () => Certificate;
  expired: () => Certificate;
}

const name = 'localhost';

/** @param to where each is, without TLS */
export async function startFronts(closers: Closers, to: { temporal: string; provider: string }): Promise<Fronts> {
  const authority = new Authority();
  closers.add(() => authority.remove());
  const good = () => authority.forServer(`DNS:${name}`);
  const front = (inner: string, protocol: 'h2' | 'http/1.1') =>
    closers.keep(startTlsProxy({ certificate: good(), to: inner, protocol }), (proxy) => proxy.close());
  const temporal = await front(to.temporal, 'h2');
  const provider = await front(new URL(to.provider).host, 'http/1.1');
  const { certFile } = authority.certificate;
  const settings = {
    TEMPORAL_ADDRESS: `${name}:${temporal.port}`,
    TEMPORAL_TLS: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: certFile,
    PROVIDER_BASE_URL: `https://${name}:${provider.port}`,
    NODE_EXTRA_CA_CERTS: certFile,
  };
  return { temporal, provider, settings, good, expired: () => authority.forServerLongAgo(name) };
}
