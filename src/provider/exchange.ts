/**
 * One request on the wire, and the one question that decides everything after a failure: had it begun to leave?
 *
 * undici calls a handler's `onRequestStart` on a connected socket (TLS included), in the same tick in which it writes
 * the request's head. With a failure before that moment, the request was surely not sent; after it, nothing is sure.
 * Two things are added here: a request that was given up while it waited for a connection is refused at that moment, so
 * that it can never be sent after it was reported as not sent; and a request never begins twice.
 */
import { brotliDecompressSync, constants, inflateRawSync, unzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';

export interface WireRequest {
  origin: string;
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Path and query, absolute. */
  path: string;
  headers: Record<string, string>;
  /** JSON text. */
  body?: string;
}

export interface ExchangeLimits {
  /** Aborts the request; its reason's message says why. */
  signal: AbortSignal;
  /** Bytes of a 2xx body that are read at most, compressed or not; the connection of a longer one is dropped. */
  responseBytesMax: number;
  /** Called when the request is about to be sent. If it returns a sentence, nothing is sent. */
  mayLeave?: () => string | undefined;
}

/** How an exchange ended. `fault` says why it is not complete, in words for a message, without addresses. */
export type Exchanged =
  | {
      answered: true;
      status: number;
      headers: Dispatcher.ResponseData['headers'];
      body: Buffer;
      fault?: string;
    }
  /** `breaksHttp`: something answered, and will answer so again. */
  | { answered: false; sent: boolean; fault: string; breaksHttp?: boolean };

/** Bytes of an error's body that are read. It is used for an excerpt only. */
const errorBytesMax = 65_536;

/** Sends the request once and resolves to what happened; never rejects. */
export function exchange(dispatcher: Dispatcher, request: WireRequest, limits: ExchangeLimits): Promise<Exchanged> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(limits, resolve);
    // A signal that is already aborted fires no event.
    if (limits.signal.aborted) handler.giveUp();
    else dispatcher.dispatch({ ...request, body: request.body ?? null }, handler);
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private settled = false;
  private controller: Dispatcher.DispatchController | undefined;
  private head: { status: number; headers: Dispatcher.ResponseData['headers'] } | undefined;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;

  constructor(
    private readonly limits: ExchangeLimits,
    private readonly resolve: (exchanged: Exchanged) => void,
  ) {
    limits.signal.addEventListener('abort', this.giveUp, { once: true });
  }

  readonly giveUp = (): void => {
    const reason: unknown = this.limits.signal.reason;
    this.settle(reason instanceof Error ? reason.message : 'given up');
    this.controller?.abort(new Error('given up'));
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.settled || this.controller !== undefined) {
      controller.abort(new Error('must not be sent'));
      return;
    }
    const objection = this.limits.mayLeave?.();
    if (objection !== undefined) {
      this.settle(objection);
      controller.abort(new Error('must not be sent'));
      return;
    }
    this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData['headers'],
  ): void {
    // 1xx only announces the answer.
    if (status >= 200) this.head = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    const room = this.bytesMax - this.bytes;
    this.chunks.push(chunk.subarray(0, room));
    this.bytes += chunk.length;
    if (chunk.length <= room) return;
    this.settle(tooLong(this.bytesMax));
    controller.abort(new Error('body too long'));
  }

  onResponseEnd(): void {
    this.settle(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.settle(describe(error), (error as NodeJS.ErrnoException).code === wrongLength);
  }

  private get bytesMax(): number {
    const { responseBytesMax } = this.limits;
    return this.head !== undefined && this.head.status < 300
      ? responseBytesMax
      : Math.min(errorBytesMax, responseBytesMax);
  }

  private settle(fault: string | undefined, breaksHttp = false): void {
    if (this.settled) return;
    this.settled = true;
    this.limits.signal.removeEventListener('abort', this.giveUp);
    if (this.head) {
      const body = Buffer.concat(this.chunks);
      this.resolve(decompressed({ answered: true, ...this.head, body, fault }, this.bytesMax));
    } else {
      this.resolve({ answered: false, sent: this.controller !== undefined, fault: fault ?? 'no answer', breaksHttp });
    }
  }
}

type Answered = Extract<Exchanged, { answered: true }>;

/**
 * We ask for a body that is not compressed, and not every provider heeds it. Of one that ends early, what is there is
 * read.
 */
function decompressed(answered: Answered, bytesMax: number): Answered {
  const { body, headers } = answered;
  const named = [headers['content-encoding']].flat().join(',').toLowerCase();
  const encodings = named.split(/[\s,]+/).filter((encoding) => encoding !== '' && encoding !== 'identity');
  // No JSON begins so: a header was lost on the way.
  if (encodings.length === 0 && body[0] === 0x1f && body[1] === 0x8b) encodings.push('gzip');
  if (encodings.length === 0 || body.length === 0) return answered;
  try {
    return { ...answered, body: inflate(encodings.join(), body, bytesMax) };
  } catch (error) {
    const name = encodings.join(', ').replace(/[^\w, .-]/g, '?');
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const fault = isTooLong
      ? tooLong(bytesMax)
      : `its body is compressed as ${name.slice(0, 40)}, which cannot be read`;
    return { ...answered, body: Buffer.alloc(0), fault: answered.fault ?? fault };
  }
}

function inflate(encoding: string, body: Buffer, maxOutputLength: number): Buffer {
  const { Z_SYNC_FLUSH: finishFlush, BROTLI_OPERATION_FLUSH } = constants;
  if (encoding === 'br') return brotliDecompressSync(body, { maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH });
  if (!['gzip', 'x-gzip', 'deflate'].includes(encoding)) throw new Error(`${encoding} is not known`);
  // Some servers leave out the frame of deflate, which begins with the method, 8.
  const isBare = encoding === 'deflate' && ((body[0] ?? 0) & 0x0f) !== 8;
  return (isBare ? inflateRawSync : unzipSync)(body, { maxOutputLength, finishFlush });
}

function tooLong(bytesMax: number): string {
  return `its body is longer than ${bytesMax} bytes`;
}

/** The proxy's failure, and not the provider's. Its message is in our words. */
export class ProxyFailure extends Error {}

/** Of undici, before a head that has two lengths is read. */
const wrongLength = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

const faults: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was closed',
  [wrongLength]: 'the answer’s Content-Length is not its length, or stands beside a Transfer-Encoding',
  ENDLESS: 'the answer does not end',
  UND_ERR_CLOSED: 'the client is closed',
  UND_ERR_DESTROYED: 'the client is closed',
};

/** Uses the code only: messages of undici and Node contain addresses, and some of them bytes of the answer. */
export function describe(error: Error & { code?: unknown }): string {
  if (error instanceof ProxyFailure) return error.message;
  const code = typeof error.code === 'string' ? error.code : error.name;
  return `${faults[code] ?? (error.name === 'HTTPParserError' ? 'the answer is not HTTP' : 'the connection failed')} (${code})`;
}
