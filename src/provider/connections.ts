/**
 * Two kinds of connections to the provider. A pooled connection saves a handshake, but the provider may close it just
 * when a request is sent: the outcome is then unknown. Calls that can be repeated take that risk. A pivot is never
 * repeated automatically, and a person would have to decide: so it has a connection of its own, which is closed after
 * the answer.
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
      // `onRequestStart` means what `exchange.ts` needs only with HTTP/1.1 without pipelining.
      allowH2: false,
      connect: createConnector(resolved),
    };
    this.pooled = new Pool(origin, { ...options, pipelining: 1 });
    // For undici, zero means `connection: close`.
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
    // Made once: reading all authorities takes longer than a handshake, and each pivot has a new connection.
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

/** A body in chunks of one byte is six times as long on the wire. undici limits headers itself. */
function wireBytesMax(responseBytesMax: number): number {
  return 8 * responseBytesMax + 65_536;
}

/**
 * Closes the connection when an answer never ends outside of its body: with 1xx answers, or chunk extensions. Nothing
 * of it is kept, but reading it for as long as a call may take would delay other calls.
 */
function boundAnswer(socket: Socket, bytesMax: number): void {
  let written = 0;
  let read = 0;
  let begun = 0;
  socket.on('readable', () => {
    // A request was sent since: the next answer begins.
    if (socket.bytesWritten !== written) begun = read;
    written = socket.bytesWritten;
    read = socket.bytesRead;
    if (read - begun > bytesMax) socket.destroy(new EndlessAnswer('the answer does not end'));
  });
}

class EndlessAnswer extends Error {
  readonly code = 'ENDLESS';
}
