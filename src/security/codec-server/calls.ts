/**
 * One call, from the door to the answer, in this order: a path that there is, a host and an origin that may, a caller who
 * may, a body of a size that can be taken; only then a key is touched. Each call is one line of the log, written before
 * the answer leaves: who, for which namespace, what, how many. Never content.
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
  /** Absent: whoever reaches the server may read. For a loopback address only. */
  authenticate: Authenticate | undefined;
  /** Of web pages that may call: `https://temporal.example`, exactly. */
  origins: readonly string[];
  bodyBytesMax: number;
  /** No new caller is taken; those that are connected may still ask how it is. */
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
    const [path = ''] = (request.url ?? '').split('?');
    const operation = operations.get(path);
    if (operation !== undefined) void new Call(path.slice(1), operation, request, options).run(response);
    else if (healthPaths.includes(path)) send(response, health(request, path === '/ready' && options.stopping()));
    else send(response, { status: 404, body: 'there is no such path' });
  };
}

function health({ method = '' }: IncomingMessage, stopping: boolean): Answer {
  if (method === 'GET' || method === 'HEAD') {
    return stopping ? { status: 503, body: 'stopping' } : { status: 200, body: 'ok' };
  }
  return { status: 405, body: 'the method must be GET', headers: { Allow: 'GET, HEAD' } };
}

class Call {
  private readonly told: Record<string, unknown>;
  /** Refusals carry them, too: the page of an allowed origin may read why. */
  private corsHeaders: Record<string, string> = {};

  constructor(
    name: string,
    private readonly operation: Operation,
    private readonly request: IncomingMessage,
    private readonly options: CallOptions,
  ) {
    const { 'x-namespace': namespace } = request.headers;
    this.told = {
      operation: name,
      // Temporal's command line leaves it empty unless it was told one.
      ...(typeof namespace === 'string' && namespace !== '' ? { namespace: cut(namespace) } : {}),
      remote: request.socket.remoteAddress,
    };
  }

  async run(response: ServerResponse): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.answer();
    } catch (error) {
      // Whoever hung up in the middle of the body waits for no answer.
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
    this.told['subject'] = cut((await options.authenticate?.(request.headers.authorization)) ?? 'anybody here');
    const payloads = await readPayloads(request, options.bodyBytesMax);
    this.told['payloads'] = payloads.length;
    const body = writePayloads(await this.operation(options.codec, payloads));
    options.log.info({ ...this.told, status: 200 }, 'call');
    return { status: 200, body, headers: { 'Content-Type': 'application/json' } };
  }

  private refuse(error: unknown): Answer {
    const { told, options } = this;
    const refusal = error instanceof DecryptionError ? new Refusal(400, cut(error.message)) : error;
    if (refusal instanceof Refusal) {
      const { status, message, headers, reason } = refusal;
      options.log.warn({ ...told, status, reason: cut(reason) }, 'call refused');
      return { status, body: message, headers };
    }
    options.log.error({ ...told, status: 500, ...traceOf(error) }, 'call failed');
    return { status: 500, body: 'something went wrong here; its log says where' };
  }
}

/** Where it happened, but not the message: parsers put what they could not parse into theirs. */
function traceOf(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.map((frame) => frame.trim()) };
}

/** Names come from outside: an id of a megabyte is none. */
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
