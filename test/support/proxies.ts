/** Proxies as in front of a server in production: they end TLS, or ask for a key. */
import { createSecureServer, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect, createServer as createPlainServer, type Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import type { Certificate } from './certificates';
import { listenHere, type Listening } from './listen-here';

export type Proxy = Listening;

export interface TlsProxyOptions {
  certificate: Certificate;
  /** host:port, without TLS */
  to: string;
  /** Clients must show a certificate of this authority. */
  clientAuthority?: Certificate;
  /** `h2` for gRPC. */
  protocol?: 'h2' | 'http/1.1';
}

export interface TlsProxy extends Listening {
  /** From now on it shows another certificate; whoever is connected must connect anew. */
  show: (certificate: Certificate) => void;
}

/** Ends TLS, and hands on every byte. */
export async function startTlsProxy({
  certificate: { cert, key },
  to,
  clientAuthority,
  protocol = 'h2',
}: TlsProxyOptions): Promise<TlsProxy> {
  const options: TlsOptions = {
    cert,
    key,
    ALPNProtocols: [protocol],
    ...(clientAuthority ? { ca: clientAuthority.cert, requestCert: true, rejectUnauthorized: true } : {}),
  };
  const server = createServer(options, (outside) => {
    const { hostname, port } = new URL(`tcp://${to}`);
    join(outside, connect({ host: hostname, port: Number(port) }));
  });
  const listening = await listenHere(server);
  return {
    ...listening,
    show: (certificate) => {
      server.setSecureContext({ ...options, cert: certificate.cert, key: certificate.key });
      listening.hangUp();
    },
  };
}

export interface Link extends Listening {
  /** Nothing goes through any more: what is open ends, and nobody gets an answer. */
  cut: () => void;
  repair: () => void;
  /** Connections that come from now on are opened, and get no byte. @returns when the first one stands there */
  hold: () => Promise<void>;
  letGo: () => void;
  /** Connections that broke as they were to. */
  readonly broken: number;
}

/** The end of a connection, once so many bytes have come back. */
export interface Break {
  afterBytes: number;
  how: 'cut' | 'silence';
}

/**
 * A network between two servers.
 *
 * @param to host:port
 * @param breaks of each connection
 */
export async function startLink(to: string, breaks?: () => Break): Promise<Link> {
  let isCut = false;
  let broken = 0;
  let held: (() => void)[] | undefined;
  let stands: () => void = () => undefined;
  const { hostname, port } = new URL(`tcp://${to}`);
  const server = createPlainServer({ pauseOnConnect: true }, (outside) => {
    if (isCut) outside.destroy();
    else if (held === undefined) lead(outside);
    else {
      held.push(() => lead(outside));
      stands();
    }
  });
  const lead = (outside: Socket) => {
    const inside = connect({ host: hostname, port: Number(port) });
    join(outside, inside);
    if (breaks === undefined) return;
    const { afterBytes, how } = breaks();
    const count = () => {
      if (inside.bytesRead < afterBytes) return;
      inside.off('data', count);
      broken += 1;
      if (how === 'cut') outside.destroy();
      else inside.unpipe(outside);
    };
    inside.on('data', count);
  };
  const listening = await listenHere(server);
  return {
    ...listening,
    get broken() {
      return broken;
    },
    cut: () => {
      isCut = true;
      listening.hangUp();
    },
    repair: () => {
      isCut = false;
    },
    hold: () => {
      held = [];
      return new Promise((resolve) => (stands = resolve));
    },
    letGo: () => {
      for (const go of held ?? []) go();
      held = undefined;
    },
  };
}

/** Each hears the other, and ends with it. */
function join(outside: Socket, inside: Socket): void {
  for (const [one, other] of [
    [outside, inside],
    [inside, outside],
  ] as const) {
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.once('close', () => other.destroy());
  }
}

export interface KeyProxy extends Listening {
  /** Calls that came with the key, by their path. */
  readonly let: readonly string[];
}

/** Speaks gRPC's HTTP/2 on both sides: lets calls with the key through, answers the others as a cloud does. */
export async function startKeyProxy(
  { cert, key }: Certificate,
  { to, apiKey }: { to: string; apiKey: string },
): Promise<KeyProxy> {
  const passed: string[] = [];
  const inside = connectHttp2(`http://${to}`);
  const server = createSecureServer({ cert, key });
  server.on('stream', (outer, head) => {
    const { authorization, ...headers } = head;
    outer.on('error', () => undefined);
    if (authorization !== `Bearer ${apiKey}`) {
      const refusal = { 'grpc-status': '16', 'grpc-message': 'Request unauthorized.' };
      outer.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { endStream: true });
      return;
    }
    passed.push(String(headers[':path']));
    const inner = inside.request({ ...headers, ':scheme': 'http', ':authority': to });
    let trailers: IncomingHttpHeaders = {};
    inner.on('error', () => {
      outer.close();
    });
    inner.once('trailers', (last: IncomingHttpHeaders) => {
      trailers = last;
    });
    inner.once('response', (head, flags) => {
      // A refusal is a head and nothing after it.
      const isAll = (flags & endOfStream) !== 0;
      outer.respond(head, isAll ? { endStream: true } : { waitForTrailers: true });
      if (isAll) return;
      outer.once('wantTrailers', () => {
        outer.sendTrailers(trailers);
      });
      inner.pipe(outer);
    });
    outer.pipe(inner);
    outer.once('close', () => inner.close());
  });
  const { close, ...listening } = await listenHere(server);
  return {
    ...listening,
    let: passed,
    close: async () => {
      inside.destroy();
      await close();
    },
  };
}

const endOfStream = 0x1;
