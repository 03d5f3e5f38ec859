/** The options of a ProviderClient. Settings have checked them (`src/config`), also that they are safe. */
import type { Profile } from '../domain/profile';
import type { ProviderFailureName } from './errors';

/** One finished call, for metrics and logs. No bodies, no headers, no ids. */
export interface CallEvent {
  /** As in a failure: method and the document's path with its parameters unfilled. */
  endpoint: string;
  /** The last answer's; undefined where there was no answer. */
  status?: number;
  /** Undefined where the call succeeded. */
  failure?: ProviderFailureName;
  /** Including the wait for a connection and a repetition after a 401. */
  durationMs: number;
  /** True if anything may have been sent. */
  sent: boolean;
}

export interface ProviderClientOptions {
  /** What its answers mean, where the document does not show them; undefined: nothing is declared. */
  profile?: Profile;
  /** Without credentials, query and fragment. A path in it is kept as a prefix. */
  baseUrl: string;
  /**
   * Reads the token, without its scheme, from its source: at the first call, and after a 401, because a file may have
   * been renewed under a running process. Undefined: no credentials are sent, and a 401 is final.
   */
  readToken?: () => string;
  authHeader: string;
  /** The word before the token; '' sends the token alone. */
  authScheme: string;
  /**
   * Name lookup, TCP and TLS, in milliseconds; after it the request is not sent. Measured in steps of about half a
   * second.
   * @default 5_000
   */
  connectTimeoutMs?: number;
  /**
   * The whole call, in milliseconds: the token, the wait for a connection, a repetition after a 401, and a slow answer.
   * Keep it below the caller's own time limit. With a lower value, more orders are given up that may still be placed.
   */
  totalTimeoutMs: number;
  /** Bytes. A longer success is not read, so its outcome is unknown. @default 1_048_576 */
  responseBytesMax?: number;
  /**
   * Connections kept for repeatable calls, and as many more at once for those that cannot be undone. Further calls
   * wait.
   * @default 64
   */
  connections?: number;
  /**
   * `http:` or `https:`, with a name and a password where it wants them. All calls go through it, each connection by a
   * CONNECT of its own.
   */
  proxy?: string;
  /** The document has row 5 as PUT, and in its summary as GET. GET sends the same payload. */
  quoteMethod: 'PUT' | 'GET';
  /**
   * PEM certificates, trusted in addition to Node's own. With it, certificates that the process trusts for other
   * reasons no longer count.
   */
  ca?: string;
  /** Called for every finished call. What it throws is ignored: a broken counter must not change a call's outcome. */
  onCall?: (event: CallEvent) => void;
}

const defaults = {
  connectTimeoutMs: 5_000,
  responseBytesMax: 1_048_576,
  connections: 64,
  onCall: () => undefined,
} satisfies Partial<ProviderClientOptions>;

/** The options with every default filled in and the base URL parsed. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>;

export function resolveOptions({ baseUrl, ...options }: ProviderClientOptions) {
  const { origin, pathname } = new URL(baseUrl);
  return { ...defaults, ...options, origin, pathPrefix: pathname.replace(/\/+$/, '') };
}
