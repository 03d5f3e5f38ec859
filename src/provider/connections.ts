/**
 * Two kinds of connections to the provider. A pooled connection saves a handshake, but the provider may close it just
 * when a request is sent: the outcome is then unknown. Calls that can be repeated take that risk. A pivot is never
 * repeated automatically, and a person would have to decide: so it has a connection of its own, which is closed after
 * the answer. If the pivot is given up before, its connection is reset: after a mere close the kernel would go on
 * sending what is in its buffer, for minutes.
 */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, errors, Pool, type Dispatcher } from 'undici';
import { describe, ProxyFailure } from './exchange';
import type { ResolvedOptions } from './options';

export class Connections {
  readonly pooled: Dispatcher;
  /** A new connection for every request. */
  readonly dedicated: Dispatcher;
  private closing: Promise<unknown> | undefined;

  constructor(resolved: ResolvedOptions) {
    const { origin, connections, responseBytesMax } = resolved;
    const open = opener(resolved);
    // A body in chunks of one byte is six times as long on the wire. undici limits headers itself.
    const bytesMax = 8 * responseBytesMax + 65_536;
    const options = (prepare: (way: Way) => void): Pool.Options => ({
      connections,
      // The whole call has one limit, its caller's, whatever part of it takes long.
      headersTimeout: 0,
      bodyTimeout: 0,
      // `onRequestStart` means what `exchange.ts` needs only with HTTP/1.1 without pipelining.
      allowH2: false,
      connect: (to, callback) => {
        open(to).then(
          (way) => {
            readAnswers(way.socket, bytesMax);
            prepare(way);
            callback(null, way.socket);
          },
          (error: unknown) => callback(error as Error, null),
        );
      },
    });
    this.pooled = new Pool(origin, { ...options(() => undefined), pipelining: 1 });
    // For undici, zero means `connection: close`.
    this.dedicated = new Pool(origin, { ...options(resetIfGivenUp), pipelining: 0 });
  }

  /** Waits for the calls in flight; later ones are not sent. */
  async close(): Promise<void> {
    this.closing ??= Promise.all([this.pooled.close(), this.dedicated.close()]);
    await this.closing;
  }
}

/** A connection that is ready for a request. */
interface Way {
  socket: Socket;
  /** The socket below TLS and a proxy's tunnel; or the same one. */
  tcp: Socket;
}

/** Opens connections, through the proxy where there is one. */
function opener({ origin, connectTimeoutMs, ca, proxy }: ResolvedOptions) {
  const connectTls = buildConnector({
    // One timer of this function's is for the whole of it.
    timeout: 0,
    allowH2: false,
    // Made once: reading all authorities takes longer than a handshake, and each pivot has a new connection.
    secureContext: ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] }),
  });
  const secured = (to: buildConnector.Options, below: Socket) =>
    ready(below, (done) => connectTls({ ...to, httpSocket: below }, done));
  const reached = (tcp: Socket) => ready(tcp, (done) => tcp.once('connect', () => done(null, tcp)));
  const tunnel = proxy === undefined ? undefined : tunnelThrough(new URL(proxy), origin, secured);

  return async (to: buildConnector.Options): Promise<Way> => {
    const { hostname: host, port } = tunnel?.proxy ?? to;
    const tcp = connectTcp({ host, port: Number(port) || portOf(tunnel?.proxy.protocol ?? to.protocol) });
    tcp.setNoDelay(true).setKeepAlive(true, 60_000);
    // Those who wait for the socket get it.
    tcp.on('error', () => undefined);
    const deadline = { passed: false };
    const timer = setTimeout(() => {
      deadline.passed = true;
      tcp.destroy();
    }, connectTimeoutMs);
    try {
      const through = tunnel ? await tunnel.open(reached(tcp)) : await reached(tcp);
      return { tcp, socket: to.protocol === 'https:' ? await secured(to, through) : through };
    } catch (error) {
      tcp.destroy();
      throw deadline.passed ? new errors.ConnectTimeoutError() : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Waits for what comes over a socket; rejects also where that one closes without a word. */
function ready(
  below: Socket,
  connect: (done: (error: Error | null, made: Socket | null) => void) => unknown,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    below.once('error', reject);
    below.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    connect((error, made) => {
      if (error === null && made !== null) resolve(made);
      else reject(error ?? new Error('nothing came'));
    });
  });
}

/** Asks the proxy for a tunnel. A failure is the proxy's: the provider has not heard of the call. */
function tunnelThrough(
  proxy: URL,
  origin: string,
  secured: (to: buildConnector.Options, below: Socket) => Promise<Socket>,
) {
  const { protocol, hostname, port } = new URL(origin);
  const path = `${hostname}:${port || portOf(protocol)}`;
  const { host, username, password } = proxy;
  const user = [username, password].map(decodeURIComponent).join(':');
  const headers = {
    host: path,
    ...(user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }),
  };
  return {
    /** Node takes an IPv6 address without its brackets. */
    proxy: { protocol: proxy.protocol, hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port: proxy.port },
    async open(reached: Promise<Socket>): Promise<Socket> {
      let socket: Socket;
      let statusCode: number;
      try {
        socket = await reached;
        const to = { protocol: proxy.protocol, hostname: proxy.hostname, host, port: proxy.port };
        if (proxy.protocol === 'https:') socket = await secured(to, socket);
        const asked = request({ method: 'CONNECT', path, headers, createConnection: () => socket });
        [{ statusCode = 0 }] = (await once(asked.end(), 'connect')) as [IncomingMessage];
      } catch (error) {
        throw new ProxyFailure(`no connection through the proxy: ${describe(error as Error)}`);
      }
      if (statusCode >= 200 && statusCode < 300) return socket;
      throw new ProxyFailure(`no connection through the proxy, which answered ${statusCode}`);
    },
  };
}

function portOf(protocol: string): number {
  return protocol === 'https:' ? 443 : 80;
}

/** undici refuses a longer head. */
const headBytesMax = 16_384;

/**
 * Corrects what is read, in two things:
 *
 * - A client must take an announcement (1xx) that it did not ask for, and undici drops the connection at a 100. All of
 *   them are left out, but for a change of the protocol (101).
 * - An answer that never ends outside of its body, with announcements or chunk extensions, ends the connection. Nothing of
 *   it is kept, but reading it for as long as a call may take would delay other calls.
 */
function readAnswers(socket: Socket, bytesMax: number): void {
  const read = socket.read.bind(socket);
  let written = 0;
  let bytes = 0;
  let begun = 0;
  /** An answer whose status is not known yet. */
  let held: Buffer | undefined;
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (chunk === null) return null;
      if (socket.bytesWritten !== written) {
        // A request was sent since: the next answer begins.
        written = socket.bytesWritten;
        begun = bytes;
        held = Buffer.alloc(0);
      }
      bytes = socket.bytesRead;
      if (bytes - begun > bytesMax) {
        // Emitted first: a reset ends the connection without a word.
        socket.emit('error', Object.assign(new Error('the answer does not end'), { code: 'ENDLESS' }));
        socket.destroy();
        return null;
      }
      if (held === undefined) return chunk;
      held = withoutAnnouncements(Buffer.concat([held, chunk]));
      if (mayBeAnnouncement(held)) continue;
      const answer = held;
      held = undefined;
      return answer;
    }
  };
}

/** @param bytes the begin of an answer */
function withoutAnnouncements(bytes: Buffer): Buffer {
  let rest = bytes;
  while (mayBeAnnouncement(rest)) {
    const end = rest.indexOf('\r\n\r\n', begin(rest));
    if (end < 0) break;
    rest = rest.subarray(end + 4);
  }
  return rest;
}

/** Also of bytes that are too few to say. */
function mayBeAnnouncement(bytes: Buffer): boolean {
  const from = begin(bytes);
  const line = bytes.toString('latin1', from, from + 12);
  return bytes.length <= headBytesMax && /^HTTP\/1\.[01] 1(?!01)\d\d$/.test(line + 'HTTP/1.1 100'.slice(line.length));
}

/** Empty lines may go before an answer. */
function begin(bytes: Buffer): number {
  const index = bytes.findIndex((byte) => byte !== 13 && byte !== 10);
  return index < 0 ? bytes.length : index;
}

/** A call that is given up destroys its socket: nothing of the request is to be sent from then on. */
function resetIfGivenUp({ socket, tcp }: Way): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    socket.destroy = () => destroy(error);
    // With this word undici closes a connection whose answer is whole.
    if (error?.message === 'reset' || tcp.destroyed || socket.writableEnded) return destroy(error);
    if (socket === tcp) {
      tcp.resetAndDestroy();
      return destroy(error);
    }
    // Not in the middle of what TLS reads: there, a reset of the socket below would never return.
    setImmediate(() => {
      if (!tcp.destroyed) tcp.resetAndDestroy();
      destroy(error);
    });
    return socket;
  };
}
