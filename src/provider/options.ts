/** The options of a ProviderClient, and the checks that refuse invalid or unsafe ones. */
import type { ProviderFailureName } from './errors';

/**
 * Where the token comes from. Both methods may be called often and concurrently. If one rejects, the call is not sent.
 */
export interface Credentials {
  /** The token for the next call, without its scheme. */
  read(): Promise<string>;
  /** Called once for a call that was answered 401: reads the token from its source, not from a cache. */
  reread(): Promise<string>;
}

/** The token as first read, and again after a 401: a token file may have been renewed under a running process. */
export function credentialsOf(readToken: () => string): Credentials {
  let token: string | undefined;
  return {
    read: () => Promise.resolve().then(() => (token ??= readToken())),
    reread: () => Promise.resolve().then(() => (token = readToken())),
  };
}

/** One finished call, for metrics and logs. No bodies, no headers, no ids. */
export interface CallEvent {
  /** As in a failure: method and the document's path with its parameters unfilled. */
  endpoint: string;
  method: string;
  /** The last answer's; undefined where there was no answer. */
  status?: number;
  /** Undefined where the call succeeded. */
  failure?: ProviderFailureName;
  /** Including the wait for a connection and a repetition after a 401. */
  durationMs: number;
  /** Whether anything may have been sent. */
  sent: boolean;
  /** Our side did not let it leave, or gave it up: what it ended in says nothing of the provider. */
  heldBack?: true;
}

/** A sign that a pivot was placed: something at the pointer, or exactly this value. */
export interface PlacedIf {
  pointer: string;
  is?: string;
}

export interface ProviderClientOptions {
  /**
   * `https:`; `http:` only to a loopback address or with {@link allowHttp}. A path in it is kept as a prefix.
   * Credentials, a query or a fragment are refused.
   */
  baseUrl: string;
  /** Send tokens and passwords unencrypted to a host that is not this machine. @default false */
  allowHttp?: boolean;
  /** Undefined: no credentials are sent, and a 401 is final. */
  credentials?: Credentials;
  /** @default 'authorization' */
  authHeader?: string;
  /** The word before the token; '' sends the token alone. @default 'Bearer' */
  authScheme?: string;
  /**
   * Name lookup, TCP and TLS, in milliseconds; after it the request is not sent. Measured in steps of about half a
   * second.
   * @default 5_000
   */
  connectTimeoutMs?: number;
  /**
   * The whole call, in milliseconds: the token, the wait for a connection, a repetition after a 401, and a slow answer.
   * Keep it below the caller's own time limit. With a lower value, more orders are given up that may still be placed.
   * @default 20_000
   */
  totalTimeoutMs?: number;
  /** Bytes. A longer success is not read, so its outcome is unknown. @default 1_048_576 */
  responseBytesMax?: number;
  /**
   * Connections kept for repeatable calls, and as many more at once for those that cannot be undone. Further calls
   * wait.
   * @default 64
   */
  connections?: number;
  /**
   * Statuses that verdicts.ts calls a refusal of a pivot, and that this provider, or a gateway before it, may also send
   * after the pivot took effect: after one of them nobody knows.
   * @default []
   */
  pivotUnsureStatuses?: readonly number[];
  /**
   * A success of a pivot counts only where each of these JSON pointers finds something, and just this value where there
   * is one. The document shows no answer of a pivot.
   * @default []
   */
  placedIf?: readonly PlacedIf[];
  /**
   * `http:` or `https:`, with a name and a password where it wants them. All calls go through it, each connection by a
   * CONNECT of its own.
   */
  proxy?: string;
  /** The document has row 5 as PUT, and in its summary as GET. GET sends the same payload. @default 'PUT' */
  quoteMethod?: 'PUT' | 'GET';
  /**
   * PEM certificates, trusted in addition to Node's own. With it, certificates that the process trusts for other
   * reasons no longer count.
   */
  ca?: string;
  /** Called for every finished call. What it throws is ignored: a broken counter must not change a call's outcome. */
  onCall?: (event: CallEvent) => void;
  /** Milliseconds since 1970, for a Retry-After that is a date. @default Date.now */
  now?: () => number;
}

/** The options with every default filled in and the base URL parsed. */
export type ResolvedOptions = Required<
  Omit<ProviderClientOptions, 'baseUrl' | 'allowHttp' | 'credentials' | 'ca' | 'proxy'>
> &
  Pick<ProviderClientOptions, 'credentials' | 'ca' | 'proxy'> & {
    /** Scheme, host and port. */
    origin: string;
    /** The base URL's path without a trailing slash; '' for none. */
    pathPrefix: string;
  };

/** @throws TypeError that names the option. */
export function resolveOptions(options: ProviderClientOptions): ResolvedOptions {
  const { baseUrl, allowHttp = false, ...rest } = options;
  const resolved: ResolvedOptions = {
    authHeader: 'authorization',
    authScheme: 'Bearer',
    connectTimeoutMs: 5_000,
    totalTimeoutMs: 20_000,
    responseBytesMax: 1_048_576,
    connections: 64,
    pivotUnsureStatuses: [],
    placedIf: [],
    quoteMethod: 'PUT',
    onCall: () => undefined,
    now: Date.now,
    ...withoutUndefined(rest),
    ...resolveBaseUrl(baseUrl, allowHttp),
  };
  for (const name of positiveIntegers) {
    if (!Number.isSafeInteger(resolved[name]) || resolved[name] < 1) throw wrong(name, 'must be a positive integer');
  }
  if (resolved.proxy !== undefined && !/^https?:$/.test(protocolOf(resolved.proxy))) {
    throw wrong('proxy', 'must be the URL of a proxy, http: or https:');
  }
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(resolved.authHeader)) throw wrong('authHeader', 'must be the name of a header');
  if (!/^[\x21-\x7e]*$/.test(resolved.authScheme)) throw wrong('authScheme', 'must be one word');
  if (!['PUT', 'GET'].includes(resolved.quoteMethod)) throw wrong('quoteMethod', 'must be PUT or GET');
  return resolved;
}

const positiveIntegers = ['connectTimeoutMs', 'totalTimeoutMs', 'responseBytesMax', 'connections'] as const;

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

function resolveBaseUrl(baseUrl: string, allowHttp: boolean): Pick<ResolvedOptions, 'origin' | 'pathPrefix'> {
  // No message repeats the URL: the wrong part may be a password.
  if (!URL.canParse(baseUrl)) throw wrong('baseUrl', 'must be an absolute URL');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw wrong('baseUrl', 'must begin with https:');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw wrong('baseUrl', 'must begin with https:, unless it is a loopback address or allowHttp is set');
  }
  if (url.username !== '' || url.password !== '') throw wrong('baseUrl', 'must not contain credentials');
  // Searched in the text, because a single `?` or `#` leaves no trace in the parsed parts.
  if (/[?#]/.test(baseUrl)) throw wrong('baseUrl', 'must not have a query or a fragment');
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

/** The URL parser has already turned every form of an IPv4 address into four decimal numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function wrong(option: keyof ProviderClientOptions, problem: string): TypeError {
  return new TypeError(`${option} ${problem}`);
}

/** An option that is set to undefined means its default. */
function withoutUndefined<T extends object>(options: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const set = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]: Exclude<T[K], undefined> };
}
