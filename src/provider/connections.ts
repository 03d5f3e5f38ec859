/**
 * Two ways to the provider. A kept connection saves a handshake, but the other side may close it in the very moment in
 * which a request leaves: the request is then lost with an outcome that nobody knows. Calls that can be repeated take that
 * chance. A call that cannot be undone is never repeated by itself, so such a moment would wake a person for nothing: it
 * goes out on a connection of its own, which is closed after the answer.
 */
import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, Pool, type Dispatcher } from 'undici';
import type { ResolvedOptions } from './options';

export class Connections {
  readonly pooled: Dispatcher;
  /** A new connection for every request. */
  readonly dedicated: Dispatcher;
  private closing: Promise<unknown> | undefined;

  constructor({ origin, connections, headersTimeoutMs, bodyTimeoutMs, ...resolved }: ResolvedOptions) {
    const options: Pool.Options = {
      connections,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      // What `onRequestStart` says of a request holds for HTTP/1.1 without pipelining; nothing else is spoken.
      allowH2: false,
      connect: createConnector(resolved),
    };
    this.pooled = new Pool(origin, { ...options, pipelining: 1 });
    // Zero is undici's word for `connection: close`.
    this.dedicated = new Pool(origin, { ...options, pipelining: 0 });
  }

  /** Waits for the calls in flight; later ones are not sent. */
  async close(): Promise<void> {
    this.closing ??= Promise.all([this.pooled.close(), this.dedicated.close()]);
    await this.closing;
  }
}

function createConnector({
  connectTimeoutMs,
  responseBytesMax,
  ca,
}: Pick<ResolvedOptions, 'connectTimeoutMs' | 'responseBytesMax' | 'ca'>): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    // Made once: to read all authorities takes longer than a handshake, and a pivot's connection is always a new one.
    ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }),
  });
  return (options, callback) => {
    connect(options, (...ended) => {
      const [error, socket] = ended;
      if (error === null) boundAnswer(socket, wireBytesMax(responseBytesMax));
      callback(...ended);
    });
  };
}

/** A body in the smallest chunks is six times as long on the wire; undici bounds headers by itself. */
function wireBytesMax(responseBytesMax: number): number {
  return 8 * responseBytesMax + 65_536;
}

/**
 * Hangs up on an answer that goes on and on beside its body: with announcements, or in what chunks may say of themselves.
 * None of it is kept, but reading it for as long as a call may take would leave no time for others.
 */
function boundAnswer(socket: Socket, bytesMax: number): void {
  let written = 0;
  let read = 0;
  let begun = 0;
  socket.on('readable', () => {
    // Something was sent since: the next answer begins.
    if (socket.bytesWritten !== written) begun = read;
    written = socket.bytesWritten;
    read = socket.bytesRead;
    if (read - begun > bytesMax) socket.destroy(new EndlessAnswer('the answer does not end'));
  });
}

class EndlessAnswer extends Error {
  readonly code = 'ENDLESS';
}
