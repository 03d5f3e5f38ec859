/**
 * One call: path, host and origin are checked, then the caller, then the size of the body; only then is a key used.
 * Each is one line of the log, written before the answer: who, for which namespace, what, how many. Never content.
 *
 * The rules about host and origin keep a foreign web page from reading payloads through the browser of a person who
 * visits it: a browser shows answers, also refusals, only to pages of the configured origins. Without a token the
 * server must be called by a name of this machine: a page's owner may point its domain at 127.0.0.1 (DNS rebinding).
 */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import { getPath } from 'hono/utils/url';
import { tryOr } from '../../domain/ignore-errors';
import { cutWell } from '../../domain/markdown';
import { redact, redactedMark } from '../../domain/secrets';
import { ofNoCall } from '../../domain/unsealed';
import { isRecord } from '../../domain/values';
import { DecryptionError } from '../payload-codec';
import { payloadFromJson, payloadToJson } from '../payload-json';
import type { Authenticate } from './authentication';

export type CallLog = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

export interface CallOptions {
  codec: PayloadCodec;
  /** Undefined: every caller may read. For a loopback address only. */
  authenticate: Authenticate | undefined;
  /** Origins of web pages that may call, such as `https://temporal.example`. */
  origins: readonly string[];
  /** The server is stopping: health checks on open connections are still answered. */
  stopping: () => boolean;
  log: CallLog;
}

/** Temporal accepts messages of up to 4 MiB; in base64 and JSON, one is still smaller. */
const bodyBytesMax = 8 * 1024 * 1024;

interface Call {
  Variables: { logged: Record<string, unknown> };
}

export function createCalls(options: CallOptions): Hono<Call> {
  const { codec, log } = options;
  const operations: [name: string, work: (payloads: Payload[]) => Promise<Payload[]>][] = [
    // A person's: never for a call of an activity.
    ['encode', (payloads) => codec.encode(payloads.map(ofNoCall))],
    ['decode', async (payloads) => (await codec.decode(payloads)).map(withoutSecrets)],
  ];
  // An address that ends in a slash gives two.
  const calls = new Hono<Call>({ getPath: (request) => getPath(request).replace(/^\/+/, '/') });
  calls.use(async (call, next) => {
    call.header('Cache-Control', 'no-store');
    call.header('X-Content-Type-Options', 'nosniff');
    await next();
  });
  calls.get('/live', (call) => call.text('ok'));
  calls.get('/ready', (call) => (options.stopping() ? call.text('stopping', 503) : call.text('ok')));
  for (const path of ['/live', '/ready']) {
    calls.all(path, (call) => call.text('the method must be GET', 405, { Allow: 'GET, HEAD' }));
  }
  const limit = bodyLimit({
    maxSize: bodyBytesMax,
    onError: () => {
      throw new HTTPException(413, { message: `the body must be at most ${bodyBytesMax} bytes long` });
    },
  });
  for (const [name, work] of operations) {
    calls.use(`/${name}`, noting(name));
    calls.on(['POST', 'OPTIONS'], [`/${name}`], ...admission(options), limit, async (call: Context<Call>) => {
      const logged = call.get('logged');
      const payloads = payloadsIn(await call.req.text());
      logged['payloads'] = payloads.length;
      const body = { payloads: (await work(payloads)).map(payloadToJson) };
      log.info({ ...logged, status: 200 }, 'call');
      return call.json(body);
    });
    calls.all(`/${name}`, (call) => {
      call.header('Allow', 'POST, OPTIONS');
      throw new HTTPException(405, { message: 'the method must be POST' });
    });
  }
  calls.notFound((call) => call.text('this path does not exist', 404));
  calls.onError((error, call) => refuse(error, call, log));
  return calls;
}

/** Begins the line of the log. */
function noting(operation: string): MiddlewareHandler<Call> {
  return async (call, next) => {
    // Temporal's command line leaves it empty where no namespace is given.
    const namespace = call.req.header('x-namespace');
    const remote = getConnInfo(call).remote.address;
    call.set('logged', { operation, ...(namespace ? { namespace: cut(namespace) } : {}), remote });
    await next();
  };
}

function admission({ authenticate, origins }: CallOptions): MiddlewareHandler<Call>[] {
  return [
    async (call, next) => {
      const host = call.req.header('host') ?? '';
      if (authenticate === undefined && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)) {
        throw new HTTPException(403, { message: 'this host name is not allowed', cause: `host ${host}` });
      }
      await next();
    },
    // No credentials, because cookies are not used here. A browser may remember the permission for ten minutes.
    cors({
      origin: (origin) => {
        if (origin === '' || origins.includes(origin)) return origin;
        throw new HTTPException(403, { message: 'this origin is not allowed', cause: `origin ${origin}` });
      },
      allowMethods: ['POST', 'OPTIONS'],
      allowHeaders: ['content-type', 'x-namespace', 'authorization'],
      maxAge: 600,
    }),
    async (call, next) => {
      const who = await authenticate?.(call.req.header('authorization'));
      call.get('logged')['subject'] = cut(who ?? 'anyone on this machine');
      await next();
    },
  ];
}

function refuse(error: Error, call: Context<Call>, log: CallLog): Response {
  const logged = call.get('logged');
  const refusal = error instanceof DecryptionError ? wrong(cut(error.message)) : error;
  if (refusal instanceof HTTPException) {
    const { status, message, cause = message } = refusal;
    log.warn({ ...logged, status, reason: cut(String(cause)) }, 'call refused');
    if (status === 401) call.header('WWW-Authenticate', 'Bearer');
    return call.text(message, status);
  }
  // The place, without the message: a parser's message quotes what it could not parse.
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  log.error({ ...logged, status: 500, error: error.name, at: frames.map((frame) => frame.trim()) }, 'call failed');
  return call.text('internal error: see the log of the codec server', 500);
}

/**
 * Blanks secret fields of a decrypted payload, at any depth. The JSON is written again, so that only what was checked is
 * shown: JSON may have a field twice, and a parser sees only the last one. A payload that is not JSON has no fields, and
 * passes.
 */
function withoutSecrets(payload: Payload): Payload {
  const encoding = Buffer.from(payload.metadata?.['encoding'] ?? []).toString();
  if (!encoding.startsWith('json/')) return payload;
  // Data that cannot be checked (invalid JSON, or nested too deeply) are not shown.
  const shown = tryOr(() => redact(JSON.parse(Buffer.from(payload.data ?? []).toString())), redactedMark);
  return { ...payload, data: Buffer.from(JSON.stringify(shown)) };
}

/** `{ "payloads": [...] }` in protobuf's JSON. @throws HTTPException, which quotes nothing of the body */
function payloadsIn(text: string): Payload[] {
  const body = tryOr(() => JSON.parse(text) as unknown, undefined);
  if (body === undefined) throw wrong('the body must be JSON');
  if (!isRecord(body)) throw wrong('the body must be a JSON object');
  // Temporal's command line sends `{}` where there is nothing to encode.
  const payloads = body['payloads'] ?? [];
  if (!Array.isArray(payloads)) throw wrong('payloads must be a list');
  return payloads.map((payload, index) => {
    const read = tryOr(() => payloadFromJson(payload), undefined);
    if (read === undefined) throw wrong(`payloads[${index}] must be a payload: metadata and data in base64`);
    return read;
  });
}

function wrong(message: string): HTTPException {
  return new HTTPException(400, { message });
}

/** Names come from outside, and may be very long. */
const cut = (text: string) => cutWell(text, 256);
