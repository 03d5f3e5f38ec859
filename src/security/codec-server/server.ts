/** The codec server shows payloads to the Web UI and Temporal's command line; `calls.ts` decides who is admitted. */
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerOptions } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { EncryptionCodec } from '../payload-codec';
import type { PayloadKeys } from '../keys';
import { createAuthentication, type AuthenticationOptions } from './authentication';
import { createCalls, type CallLog } from './calls';

export interface TlsPair {
  cert: string;
  key: string;
}

export interface CodecServerOptions extends AuthenticationOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** PEM. Undefined: HTTP. */
  tls: TlsPair | undefined;
  keys: PayloadKeys;
  origins: readonly string[];
  log: CallLog;
}

/** A call is a few kilobytes from a browser or a command line: a slower caller would only block connections. */
const limits: ServerOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
const handshakeTimeout = 10_000;
const minVersion = 'TLSv1.2';
const stopGraceMs = 5_000;

/** Rejects with the system's error when it cannot listen. */
export async function startCodecServer(options: CodecServerOptions) {
  const { host, port, tls, keys, origins, log } = options;
  const authenticate = await createAuthentication(options);
  const stopping = () => !server.listening;
  const { fetch } = createCalls({ codec: new EncryptionCodec(keys), authenticate, origins, stopping, log });
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = tls
    ? createHttpsServer({ ...limits, ...tls, handshakeTimeout, minVersion })
    : createHttpServer(limits);
  server.on('request', (request, response) => {
    void listener(request, response);
    response.once('close', () => {
      // A connection that is kept open for the next call would delay the stop.
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
  });
  await once(server.listen(port, host), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    /** Connections from now on are shown this certificate. */
    renew: (pair: TlsPair) => {
      if (server instanceof HttpsServer) server.setSecureContext({ ...pair, minVersion });
    },
    /** Lets calls in flight finish, for at most `graceMs`. */
    stop: async (graceMs = stopGraceMs) => {
      if (!server.listening) return;
      const patience = setTimeout(() => server.closeAllConnections(), graceMs);
      const closed = once(server, 'close');
      server.close();
      await closed;
      clearTimeout(patience);
    },
  };
}
