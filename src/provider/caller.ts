/**
 * One call from beginning to end: token, deadline, exchange, and what the answer means. It throws only the failure
 * classes, whatever goes wrong inside.
 */
import type { z } from 'zod';
import { Connections } from './connections';
import { ProviderFailure, type FailureFacts } from './errors';
import { excerptOf, secretsIn, withoutSecrets, type Secrets } from './excerpt';
import { exchange, type Exchanged, type WireRequest } from './exchange';
import { resolveOptions, type CallEvent, type ProviderClientOptions, type ResolvedOptions } from './options';
import { fillPath, type PathValues } from './paths';
import { RecentSecrets } from './recent-secrets';
import { readJson } from './read-json';
import { retryAfterOf } from './retry-after';
import { valuesAt } from './json-pointer';
import { cartItemIdIn } from './schemas';
import { meaningOf, signIn, type Meaning, type ProviderCall } from './verdicts';

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
interface CallParts<T> extends PathValues {
  /** The path to send, below the base URL, its parameters unfilled. @default the endpoint's */
  path?: string;
  body?: unknown;
  /** The document's success; a success that does not fit is of unknown outcome. @default any JSON, or null */
  response?: z.ZodType<T>;
}

interface Call<T> extends CallParts<T>, CallOptions {
  /** Decides what its answers mean, see verdicts.ts. A pivot is sent on a connection of its own. */
  kind: ProviderCall;
  endpoint: Endpoint;
  signal: AbortSignal;
  state: Pick<CallEvent, 'status' | 'sent' | 'heldBack'>;
}

type Answered = Extract<Exchanged, { answered: true }>;

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
    kind: ProviderCall,
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
    const mayLeave = () => {
      const objection = options.mayLeave?.();
      if (objection !== undefined) state.heldBack = true;
      return objection;
    };
    let failure: ProviderFailure | undefined;
    try {
      return await this.perform({ ...options, ...parts, kind, endpoint, mayLeave, signal: late.signal, state });
    } catch (error) {
      if (late.signal.aborted && withinMs < totalTimeoutMs) state.heldBack = true;
      failure = error instanceof ProviderFailure ? error : asFailure(error, endpoint, state);
      throw failure;
    } finally {
      clearTimeout(timer);
      const durationMs = performance.now() - startedMs;
      this.report({ endpoint, durationMs, ...state, ...(failure ? { failure: failure.name } : {}) });
    }
  }

  /** Waits for calls in flight, then closes all connections. Later calls are `NotSent`. */
  close(): Promise<void> {
    return this.connections.close();
  }

  /** An answer without these secrets, and without those that were sent recently, so that it may be stored. */
  blank(answer: unknown, secrets: Secrets = []): unknown {
    const sent = this.recent.all().concat(this.token ?? []);
    return withoutSecrets(answer, secrets === 'unknown' ? secrets : [...secrets, ...sent]);
  }

  private async perform<T>(call: Call<T>): Promise<T> {
    const { endpoint, secrets: told = [] } = call;
    const request = this.build(call);
    const own = secretsIn(call.body);
    this.recent.add(own);
    const secrets = [...own, ...this.recent.all()];
    const token = this.readToken(endpoint, this.token);
    let answer = await this.send(call, request, token);
    // If a 401 is no refusal of a pivot, it is not sent again either.
    if (answer.status === 401 && token !== undefined && this.meaningOf(call, 401) === 'Unauthorized') {
      // A 401 means that nothing took effect, so even a pivot may be repeated, once, with a different token.
      const renewed = this.readToken(endpoint);
      if (renewed !== undefined && renewed !== token) {
        secrets.push(renewed);
        answer = await this.send(call, request, renewed);
      }
    }
    if (token !== undefined) secrets.push(token);
    return this.interpret(call, answer, told === 'unknown' ? told : [...secrets, ...told]);
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
      return exchanged;
    }
    const { sent, fault } = exchanged;
    if (sent) throw new ProviderFailure('UnknownOutcome', `was sent and not answered: ${fault}`, { endpoint });
    throw new ProviderFailure('NotSent', `was not sent: ${fault}`, { endpoint });
  }

  private interpret<T>(call: Call<T>, { status, headers, body, fault }: Answered, secrets: Secrets): T {
    const text = new TextDecoder().decode(body);
    const read = readJson(text);
    const json = 'json' in read ? read.json : undefined;
    const facts: FailureFacts = {
      endpoint: call.endpoint,
      status,
      // Made for a failure only: most answers are successes, and the search takes time.
      get body() {
        return secrets === 'unknown' ? undefined : excerptOf(text, secrets);
      },
      cartItemId: call.kind === 'add' ? cartItemIdIn(json) : undefined,
      retryAfterMs: retryAfterOf(status, headers, Date.now()),
    };
    const answered = `was answered ${status}`;
    const unknown = (why: string) => new ProviderFailure('UnknownOutcome', `${answered}, ${why}`, facts);
    const unexpected = (why: string) =>
      new ProviderFailure('UnexpectedResponse', `${answered}, ${why}; is the base URL right?`, facts);
    const meaning = this.meaningOf(call, status);
    // Nothing is there by the interface's own word only: a web server's page for people says it of a route.
    if (meaning === 'Gone' || (meaning === 'NotYet' && call.kind === 'directory')) {
      if (fault !== undefined) throw unknown(`but ${fault}`);
      if (text.trim() !== '' && json === undefined) throw unexpected('with a page that is not the interface’s');
    }
    if (meaning === 'Gone') return nothingLeft as T;
    if (meaning === 'UnexpectedResponse') throw unexpected('a redirect');
    if (meaning !== 'success') throw new ProviderFailure(meaning, answered, facts);

    if (fault !== undefined) throw unknown(`but ${fault}`);
    if ('unreadable' in read) throw unknown(`but ${read.unreadable}`);
    const sign = signIn(json, call.kind);
    if (sign) {
      const says = `${answered}, and says ${sign.says}`;
      // A no in a success may be of anything: a pivot may have happened all the same.
      if (call.kind === 'pivot' || !sign.isPlain) throw new ProviderFailure('UnknownOutcome', says, facts);
      const claims = sign.status === undefined ? 'Rejected' : this.meaningOf(call, sign.status);
      if (claims === 'Gone') return nothingLeft as T;
      throw new ProviderFailure(claims === 'success' ? 'UnknownOutcome' : claims, says, facts);
    }
    const lacking = call.kind === 'pivot' ? this.whatIsLacking(json) : undefined;
    if (lacking !== undefined) throw unknown(`but ${lacking}`);
    const value = call.kind === 'list' ? withItsPlace(json, headers) : json;
    if (call.response === undefined) return value as T;
    const parsed = call.response.safeParse(value);
    if (parsed.success) return parsed.data;
    const wrong = [...new Set(parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole body'))];
    throw unknown(`but not as documented: ${wrong.join(', ')}`);
  }

  private meaningOf({ kind, serverIsNew }: Call<unknown>, status: number): Meaning {
    const meaning = meaningOf(status, { call: kind, serverIsNew });
    const isUnsure = kind === 'pivot' && this.options.pivotUnsureStatuses.includes(status);
    return isUnsure && meaning !== 'success' ? 'UnknownOutcome' : meaning;
  }

  /** A sentence where a success of a pivot lacks a sign that the operator asks for. */
  private whatIsLacking(json: unknown): string | undefined {
    for (const { pointer, is } of this.options.placedIf) {
      const [found] = valuesAt(pointer, json);
      const isThere = found !== undefined && found !== null && found !== false && found !== '';
      if (!isThere) return `there is nothing at ${pointer}, so it is not known whether it was placed`;
      if (is !== undefined && found !== is && JSON.stringify(found) !== is) {
        return `${pointer} is not ${is}, so it is not known whether it was placed`;
      }
    }
    return undefined;
  }

  private report(event: CallEvent): void {
    try {
      this.options.onCall(event);
    } catch {
      // See ProviderClientOptions.onCall.
    }
  }
}

/** A list that is a page may say so in its headers: then it says so itself. */
function withItsPlace(list: unknown, headers: Answered['headers']): unknown {
  const link = [headers['link']].flat().join();
  const pagination = {
    next: /;\s*rel="?next\b/i.test(link) ? link : undefined,
    next_page: headers['x-next-page'],
    total_count: headers['x-total-count'] ?? headers['x-total'],
    pages: headers['x-total-pages'],
  };
  if (Object.values(pagination).every((value) => value === undefined)) return list;
  return Array.isArray(list) ? { data: list as unknown[], pagination } : { ...(list as object), pagination };
}

/** The result of deleting something that is gone: its answer is not documented. */
const nothingLeft: unknown = null;

/** If this room has a bug, a request that was sent must still not be reported as not sent. */
function asFailure(error: unknown, endpoint: string, { sent, status }: Call<unknown>['state']): ProviderFailure {
  const what = `failed inside the client (${error instanceof Error ? error.name : typeof error})`;
  return new ProviderFailure(sent ? 'UnknownOutcome' : 'NotSent', what, { endpoint, status });
}
