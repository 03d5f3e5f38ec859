/** Servers on real sockets for the client to talk to, and the client that talks to them; all closed after the test. */
import http from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { readProviderConfig } from '../../src/config';
import { httpProfile } from '../../src/domain/profile';
import { ProviderClient, type ProviderClientOptions } from '../../src/provider/client';
import { ProviderFailure } from '../../src/provider/errors';
import { listenHere } from './listen-here';

const closers: (() => Promise<unknown> | void)[] = [];

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  while (closers.length > 0) await closers.pop()?.();
}

export function closeLater(close: () => Promise<unknown> | void): void {
  closers.push(close);
}

/** With the settings' defaults. */
export const providerAt = (baseUrl: string) =>
  readProviderConfig({ PROVIDER_BASE_URL: baseUrl, PROVIDER_ALLOW_HTTP: 'true' });

/**
 * Reads answers by HTTP's own word: test/unit/provider/evidence.test.ts has the others. Times are short, so that a test of a
 * timeout is; every test that waits for one says which.
 */
export function createClient(baseUrl: string, options: Partial<ProviderClientOptions> = {}): ProviderClient {
  const client = new ProviderClient({ ...providerAt(baseUrl), profile: httpProfile(), ...options });
  closeLater(() => client.close());
  return client;
}

/** Reads these tokens, one after the other. */
export function reading(...tokens: string[]): () => string {
  return () => tokens.shift() ?? '';
}

interface Seen {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** The same number for requests on the same connection. */
  connection: number;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Answers every request with the next answer, the last one for good, and keeps what it saw. */
export async function serve(...answers: Answer[]) {
  const seen: Seen[] = [];
  const connections: Socket[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status = 200, headers = {}, body = '{}' } = answers[Math.min(seen.length, answers.length - 1)] ?? {};
      seen.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        connection: connections.indexOf(request.socket),
      });
      response.writeHead(status, headers).end(body);
    });
  });
  server.on('connection', (socket) => connections.push(socket));
  const url = await listen(server);
  return { url, seen, connections };
}

/** A bare server, for everything that a decent HTTP server does not do. @param secure with TLS */
export async function serveRaw(onConnection: (socket: Socket, nth: number) => void, secure?: TlsOptions) {
  let connections = 0;
  const connected = (socket: Socket) => {
    onConnection(socket, connections++);
  };
  const server = secure ? createTlsServer(secure, connected) : net.createServer(connected);
  const url = await listen(server);
  return { url: secure ? url.replace('http:', 'https:') : url, connections: () => connections };
}

/** Calls back with every whole request (head and counted body) that arrives on the socket. */
export function onRequest(socket: Socket, respond: (request: string, nth: number) => void): void {
  let text = '';
  let nth = 0;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const headEnd = text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < headEnd + 4 + length) return;
    const request = text;
    text = '';
    respond(request, nth++);
  });
}

export function httpText(body: string, { status = '200 OK', headers = [] as string[] } = {}): string {
  return [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');
}

export async function listen(server: net.Server): Promise<string> {
  const { address, close } = await listenHere(server);
  closeLater(close);
  return `http://${address}`;
}

/** A proxy that tunnels to that port, whatever it is asked for. @returns also what it was asked for, and by whom */
export async function proxyTo(port: string, secure?: { key: string; cert: string }) {
  const connects: [string, string | undefined][] = [];
  const server = secure ? https.createServer(secure) : http.createServer();
  server.on('connect', ({ url = '', headers }, inside: Socket) => {
    connects.push([url, headers['proxy-authorization']]);
    const outside = net.connect(Number(port), '127.0.0.1', () => inside.write('HTTP/1.1 200 OK\r\n\r\n'));
    outside.on('error', () => undefined).pipe(inside);
    inside.on('error', () => undefined).pipe(outside);
  });
  const url = await listen(server);
  return { url: secure ? url.replace('http:', 'https:') : url, connects };
}

/** A port that nobody listens on. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listenHere(net.createServer());
  await close();
  return port;
}

/** The failure that the call ends in; anything else thrown, or a success, fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<ProviderFailure> {
  const end = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in end && end.error instanceof ProviderFailure) return end.error;
  throw new Error(`expected a provider failure, got ${JSON.stringify(end)} ${'error' in end ? String(end.error) : ''}`);
}

export const quote = {
  available: true,
  total: 12.5,
  currency: 'eur',
  date_from: '2026-01-01',
  date_to: '2026-02-01',
};

export const added = { '0': 4711, data: { message: 'Item added', code: 200 } };
