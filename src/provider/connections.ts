/**
 * Two ways to the provider. A kept connection saves a handshake, but the other side may close it in the very moment in
 * which a request leaves: the request is then lost with an outcome that nobody knows. Calls that can be repeated take that
 * chance. A call that cannot be undone is never repeated by itself, so such a moment would wake a person for nothing: it
 * goes out on a connection of its own, which is closed after the answer.
 */
import { rootCertificates } from 'node:tls';
import { Pool, type Dispatcher } from 'undici';
import type { ResolvedOptions } from './options';

export class Connections {
  readonly kept: Dispatcher;
  /** A new connection for every request. */
  readonly fresh: Dispatcher;
  private closing: Promise<unknown> | undefined;

  constructor({ origin, connections, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, ca }: ResolvedOptions) {
    const options: Pool.Options = {
      connections,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      // What `onRequestStart` says of a request holds for HTTP/1.1 without pipelining; nothing else is spoken.
      allowH2: false,
      connect: { timeout: connectTimeoutMs, ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }) },
    };
    this.kept = new Pool(origin, { ...options, pipelining: 1 });
    // Zero is undici's word for `connection: close`.
    this.fresh = new Pool(origin, { ...options, pipelining: 0 });
  }

  /** Waits for the calls in flight; later ones are not sent. */
  async close(): Promise<void> {
    this.closing ??= Promise.all([this.kept.close(), this.fresh.close()]);
    await this.closing;
  }
}
