/** The options of a ProviderClient. Settings have checked them (`src/config`), also that they are safe. */
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
interface PlacedIf {
  pointer: string;
  is?: string;
}

export interface ProviderClientOptions {
  /** Without credentials, query and fragment. A path in it is kept as a prefix. */
  baseUrl: string;
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

const defaults = {
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
} satisfies Partial<ProviderClientOptions>;

/** The options with every default filled in and the base URL parsed. */
export type ResolvedOptions = Omit<ProviderClientOptions, 'baseUrl'> &
  Required<Pick<ProviderClientOptions, keyof typeof defaults>> & {
    /** Scheme, host and port. */
    origin: string;
    /** The base URL's path without a trailing slash; '' for none. */
    pathPrefix: string;
  };

export function resolveOptions({ baseUrl, ...options }: ProviderClientOptions): ResolvedOptions {
  const { origin, pathname } = new URL(baseUrl);
  return { ...defaults, ...options, origin, pathPrefix: pathname.replace(/\/+$/, '') };
}
