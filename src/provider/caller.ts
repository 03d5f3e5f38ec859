/**
 * One call from beginning to end: token, deadline, exchange, and what the answer means. It throws only the failure
 * classes, whatever goes wrong inside.
 */
import type { z } from 'zod';
import { tryOr } from '../domain/ignore-errors';
import type { ProfileCall } from '../domain/profile';
import { Connections } from './connections';
import { ProviderFailure } from './errors';
import { secretsIn, withoutSecrets, type Secrets } from './excerpt';
import { exchange, type WireRequest } from './exchange';
import { resolveOptions, type CallEvent, type ProviderClientOptions, type ResolvedOptions } from './options';
import { isId } from './ids';
import { RecentSecrets } from './recent-secrets';
import { decoded, interpret, refusalIn, type Answered } from './interpret';
import { kindOf, type ProviderCall } from './verdicts';

/** A row of the document: its method, and its path with its parameters unfilled, as failures and events have it. */
export type Endpoint = `${WireRequest['method']} ${string}`;

/** Options of one call. */
export interface CallOptions {
  /** Gives the call up after so many milliseconds, where that is before the total time of all calls. */
  withinMs?: number;
  /**
   * Called in the tick in which the request would be written to its socket. If it returns a sentence, nothing is sent,
   * and the call is `NotSent`.
   */
  mayLeave?: () => string | undefined;
  /** Secrets that other calls sent to the provider: it may quote them in this call's answer. */
  secrets?: Secrets;
  /** The call is about a server that is minutes old: it may not be ready. */
  serverIsNew?: boolean;
}

/** A call sends and reads these. */
interface CallParts<T> {
  /** The path to send, below the base URL, its parameters unfilled. @default the endpoint's */
  path?: string;
  /** What is filled into it. */
  ids?: Readonly<Record<string, number>>;
  texts?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** The document's success; a success that does not fit is of unknown outcome. */
  response?: z.ZodType<T>;
}

interface Call<T> extends CallParts<T>, CallOptions {
  /** As the profile calls it: decides what its answers mean. */
  name: ProfileCall;
  /** As verdicts.ts calls it. A pivot is sent on a connection of its own. */
  kind: ProviderCall;
  endpoint: Endpoint;
  signal: AbortSignal;
  state: Pick<CallEvent, 'status' | 'sent'>;
}

export abstract class Caller {
  protected readonly options: ResolvedOptions;
  private readonly connections: Connections;
  private readonly recent = new RecentSecrets();
  /** The last token that was read. */
  private token: string | undefined;

  /** Opens no connection yet. */
  constructor(options: ProviderClientOptions) {
    this.options = resolveOptions(options);
    this.connections = new Connections(this.options);
  }

  protected async call<T = unknown>(
    name: ProfileCall,
    endpoint: Endpoint,
    options: CallOptions = {},
    parts: CallParts<T> = {},
  ): Promise<T> {
    const startedMs = performance.now();
    const { totalTimeoutMs } = this.options;
    const withinMs = Math.min(options.withinMs ?? totalTimeoutMs, totalTimeoutMs);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`not done within ${withinMs} ms`)), withinMs);
    const state: Call<T>['state'] = { sent: false };
    let failure: ProviderFailure | undefined;
    try {
      const call = { name, kind: kindOf[name], endpoint, signal: late.signal, state };
      return await this.perform({ ...options, ...parts, ...call });
    } catch (error) {
      failure = error instanceof ProviderFailure ? error : asFailure(error, endpoint, state);
      throw failure;
    } finally {
      clearTimeout(timer);
      const durationMs = performance.now() - startedMs;
      const event = { endpoint, durationMs, ...state, failure: failure?.name };
      tryOr(() => this.options.onCall(event), undefined);
    }
  }

  /** Waits for calls in flight, then closes all connections. Later calls are `NotSent`. */
  close(): Promise<void> {
    return this.connections.close();
  }

  /** An answer without these secrets, and without those that were sent recently, so that it may be stored. */
  blank(answer: unknown, secrets: Secrets = []): unknown {
    const sent = this.recent.all.concat(this.token ?? []);
    return withoutSecrets(answer, secrets === 'unknown' ? secrets : [...secrets, ...sent]);
  }

  private async perform<T>(call: Call<T>): Promise<T> {
    const { endpoint, secrets: told = [] } = call;
    const { profile } = this.options;
    const request = this.build(call);
    const own = secretsIn(call.body);
    this.recent.add(own);
    const secrets = [...own, ...this.recent.all];
    const token = this.readToken(endpoint, this.token);
    let answer = await this.send(call, request, token);
    if (token !== undefined) secrets.push(token);
    // A 401 means that nothing took effect, so even a pivot may be repeated, once, with a different token. If the
    // profile says otherwise of this one, it is not sent again.
    const mayRepeat = answer.status === 401 && token !== undefined && !refusalIn(call, answer, profile);
    const renewed = mayRepeat ? this.readToken(endpoint) : token;
    if (renewed !== undefined && renewed !== token) {
      secrets.push(renewed);
      answer = await this.send(call, request, renewed);
    }
    return interpret(call, answer, profile, told === 'unknown' ? told : [...secrets, ...told]);
  }

  private build({ endpoint, path, body, ...values }: Call<unknown>): WireRequest {
    const { origin, pathPrefix } = this.options;
    const [method, template = ''] = endpoint.split(' ') as [WireRequest['method'], string?];
    try {
      return {
        origin,
        method,
        path: pathPrefix + fillPath(path ?? template, values),
        headers: {
          accept: 'application/json',
          // A compressed answer is read all the same.
          'accept-encoding': 'identity',
          'user-agent': 'order-saga',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      };
    } catch (error) {
      const problem = error instanceof RangeError ? error.message : 'the request cannot be written';
      throw new ProviderFailure('Rejected', `was not sent: ${problem}`, { endpoint });
    }
  }

  /** @param known the token as it was read before; after a 401 it is read again */
  private readToken(endpoint: string, known?: string): string | undefined {
    const { readToken } = this.options;
    if (readToken === undefined) return undefined;
    let token: string;
    try {
      token = known ?? readToken();
    } catch {
      // The reason is left out: it comes from the source of the token, and may quote it.
      throw new ProviderFailure('TokenUnreadable', 'was not sent: the token could not be read', { endpoint });
    }
    if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(token)) return (this.token = token);
    const why = 'was not sent: the token is empty or is not valid in a header';
    throw new ProviderFailure('Unauthorized', why, { endpoint });
  }

  private async send(
    { kind, endpoint, signal, mayLeave, state }: Call<unknown>,
    request: WireRequest,
    token: string | undefined,
  ): Promise<Answered> {
    const { authHeader, authScheme, responseBytesMax } = this.options;
    const headers =
      token === undefined
        ? request.headers
        : { ...request.headers, [authHeader]: authScheme === '' ? token : `${authScheme} ${token}` };
    const way = kind === 'pivot' ? this.connections.dedicated : this.connections.pooled;
    const exchanged = await exchange(way, { ...request, headers }, { signal, mayLeave, responseBytesMax });
    state.sent ||= exchanged.answered || exchanged.sent;
    if (exchanged.answered) {
      state.status = exchanged.status;
      return decoded(exchanged);
    }
    const { sent, fault, breaksHttp } = exchanged;
    // Each repeat would put one more item into the cart, and be answered alike.
    const name = breaksHttp && kind === 'add' ? 'UnexpectedResponse' : 'UnknownOutcome';
    if (sent) throw new ProviderFailure(name, `was sent and not answered: ${fault}`, { endpoint });
    throw new ProviderFailure('NotSent', `was not sent: ${fault}`, { endpoint });
  }
}

/**
 * Fills a path's `{name}`s; texts are encoded, so that none can add a segment or a parameter of its own.
 *
 * @throws RangeError for a value that does not belong there: a bug in the program
 */
function fillPath(template: string, { ids = {}, texts = {} }: Pick<CallParts<unknown>, 'ids' | 'texts'>): string {
  const path = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    if (name in ids && !isId(ids[name])) throw new RangeError(`${name} must be a positive integer`);
    const value = ids[name] ?? texts[name];
    if (value === undefined) throw new RangeError(`nothing to fill in for {${name}}`);
    // Encoding leaves these two segments as they are, and a server may follow them upwards.
    if (value === '.' || value === '..') throw new RangeError(`{${name}} must not be dots only`);
    return encodeURIComponent(value);
  });
  if (!/^\/(?!\/)[\x21\x22\x24-\x7e]*$/.test(path)) {
    throw new RangeError('the path must begin with one slash, be plain ASCII and have no fragment');
  }
  return path;
}

/** If this room has a bug, a request that was sent must still not be reported as not sent. */
function asFailure(error: unknown, endpoint: string, { sent, status }: Call<unknown>['state']): ProviderFailure {
  const what = `failed inside the client (${error instanceof Error ? error.name : typeof error})`;
  return new ProviderFailure(sent ? 'UnknownOutcome' : 'NotSent', what, { endpoint, status });
}
