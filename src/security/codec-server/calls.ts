/**
 * One call from beginning to end, in this order: the path, the host and the origin are checked, then the caller, then
 * the size of the body; only then is a key used. Each call is one line of the log, written before the answer is sent:
 * who, for which namespace, what, how many. Never content.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { DecryptionError } from '../payload-codec';
import type { Authenticate } from './authentication';
import { admitLoopbackName, admitOrigin, preflightHeaders } from './browser-rules';
import { withoutSecrets } from './clear-text';
import { readPayloads, writePayloads } from './payloads-json';
import { Refusal } from './refusal';

export interface CallLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CallOptions {
  codec: PayloadCodec;
  /** Undefined: every caller may read. For a loopback address only. */
  authenticate: Authenticate | undefined;
  /** Origins of web pages that may call, such as `https://temporal.example`. */
  origins: readonly string[];
  bodyBytesMax: number;
  /** The server is stopping: health checks on open connections are still answered. */
  stopping: () => boolean;
  log: CallLog;
}

type Operation = (codec: PayloadCodec, payloads: Payload[]) => Promise<Payload[]>;

const operations = new Map<string, Operation>([
  ['/encode', (codec, payloads) => codec.encode(payloads)],
  ['/decode', async (codec, payloads) => (await codec.decode(payloads)).map(withoutSecrets)],
]);

const healthPaths = ['/live', '/ready'];

interface Answer {
  status: number;
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

export function createCalls(options: CallOptions): RequestListener {
  return (request, response) => {
    const [asked = ''] = (request.url ?? '').split('?');
    // An address that ends in a slash gives two.
    const path = asked.replace(/^\/+/, '/');
    const operation = operations.get(path);
    if (operation !== undefined) void new Call(path.slice(1), operation, request, options).run(response);
    else if (healthPaths.includes(path)) send(response, health(request, path === '/ready' && options.stopping()));
    else send(response, { status: 404, body: 'this path does not exist' });
  };
}

function health({ method = '' }: IncomingMessage, stopping: boolean): Answer {
  if (method === 'GET' || method === 'HEAD') {
    return stopping ? { status: 503, body: 'stopping' } : { status: 200, body: 'ok' };
  }
  return { status: 405, body: 'the method must be GET', headers: { Allow: 'GET, HEAD' } };
}

class Call {
  private readonly logged: Record<string, unknown>;
  /** Refusals have them, too: the page of an allowed origin may read the reason. */
  private corsHeaders: Record<string, string> = {};

  constructor(
    name: string,
    private readonly operation: Operation,
    private readonly request: IncomingMessage,
    private readonly options: CallOptions,
  ) {
    const { 'x-namespace': namespace } = request.headers;
    this.logged = {
      operation: name,
      // Temporal's command line leaves it empty where no namespace is given.
      ...(typeof namespace === 'string' && namespace !== '' ? { namespace: cut(namespace) } : {}),
      remote: request.socket.remoteAddress,
    };
  }

  async run(response: ServerResponse): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.answer();
    } catch (error) {
      // A caller that closed the connection within the body waits for no answer.
      if (this.request.destroyed && !this.request.complete) return;
      answer = this.refuse(error);
    }
    send(response, { ...answer, headers: { ...this.corsHeaders, ...answer.headers } });
  }

  private async answer(): Promise<Answer> {
    const { request, options } = this;
    if (options.authenticate === undefined) admitLoopbackName(request);
    this.corsHeaders = admitOrigin(request, options.origins);
    if (request.method === 'OPTIONS') return { status: 204, headers: preflightHeaders };
    if (request.method !== 'POST') throw new Refusal(405, 'the method must be POST', { Allow: 'POST, OPTIONS' });
    this.logged['subject'] = cut(
      (await options.authenticate?.(request.headers.authorization)) ?? 'anyone on this machine',
    );
    const payloads = await readPayloads(request, options.bodyBytesMax);
    this.logged['payloads'] = payloads.length;
    const body = writePayloads(await this.operation(options.codec, payloads));
    options.log.info({ ...this.logged, status: 200 }, 'call');
    return { status: 200, body, headers: { 'Content-Type': 'application/json' } };
  }

  private refuse(error: unknown): Answer {
    const { logged, options } = this;
    const refusal = error instanceof DecryptionError ? new Refusal(400, cut(error.message)) : error;
    if (refusal instanceof Refusal) {
      const { status, message, headers, reason } = refusal;
      options.log.warn({ ...logged, status, reason: cut(reason) }, 'call refused');
      return { status, body: message, headers };
    }
    options.log.error({ ...logged, status: 500, ...traceOf(error) }, 'call failed');
    return { status: 500, body: 'internal error: see the log of the codec server' };
  }
}

/** Where it happened, without the message: a parser's message quotes what it could not parse. */
function traceOf(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.map((frame) => frame.trim()) };
}

/** Names come from outside, and may be very long. */
function cut(text: string): string {
  return text.length > 256 ? `${text.slice(0, 256)}…` : text;
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, {
    ...(body === undefined ? {} : { 'Content-Type': 'text/plain; charset=utf-8' }),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Origin',
    ...headers,
  });
  response.end(body);
}
