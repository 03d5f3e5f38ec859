/**
 * The settings that decide something in a saga. Only activities read them. What they decide reaches the workflow as a
 * call's result or failure, which is in the history: so a changed setting never breaks a run's replay.
 */
import type { EffectKind } from '../domain/effects';
import type { Route } from '../domain/notifications';
import type { PriceList } from '../domain/prices';
import type { OnRefusal } from '../domain/requests';
import type { SpendLimit } from '../domain/spending';

/**
 * A call has an effect at the provider, or none. `read` only looks; `poll` looks again for something that is on
 * its way.
 */
export type CallKind = EffectKind | 'read' | 'poll';

/** Bounds of the automatic retries of one step; after them a person is asked. */
export interface RetryBudget {
  /** Calls in all, the first one included. */
  attemptsMax: number;
  /** From the step's first call to the last retry's start, in milliseconds. */
  totalMs: number;
  /** The delay before retry n is drawn between 0 and backoffMs · 2ⁿ⁻¹ (full jitter), at most backoffMaxMs. */
  backoffMs: number;
  backoffMaxMs: number;
}

export interface ServerDirectory {
  /** Path below the base URL with `{account}` and `{label}`, e.g. `/servers?account={account}&label={label}`. */
  path: string;
  /** JSON pointers to the object ids in its answer. */
  pointers: readonly string[];
  /** True only where no two orders ever share a label: then the directory also settles an order of unknown outcome. */
  labelIsUnique: boolean;
}

interface NotificationConfig {
  routes: readonly Route[];
  webUiUrl?: string | undefined;
  /** Inner hosts and addresses that may be notified all the same. */
  allowed: readonly string[];
  /** One exchange with a receiver. */
  timeoutMs: number;
}

/** Servers that are bought without firewalls are asked about, or refused. */
export type Unprotected = 'ask' | 'refuse';

export interface ActivitySettings {
  retries: Record<CallKind, RetryBudget>;
  /**
   * Statuses after which a pivot has surely not happened and may be tried again. 429 unless the provider promises more.
   */
  pivotRetryStatuses: readonly number[];
  planTypesMore: readonly string[];
  /**
   * Accept an unencrypted request, or correction with a secret, although there are keys: an operator types it into the
   * Web UI.
   */
  takesClearRequests: boolean;
  /** Counts when the provider refuses something before the pivot, and the request does not say. */
  onRefusal: OnRefusal;
  /** JSON pointers to the object ids in the order's response; none: the response is not read. */
  serverPointers: readonly string[];
  directory?: ServerDirectory | undefined;
  /** A list of firewalls that contradicts a change of less than so long ago is not believed, in milliseconds. */
  listLagMs: number;
  /**
   * For so long after its order a server may not be ready, and a directory may not list it, in milliseconds: what the
   * provider says of it then may be another thing in a while.
   */
  newServerWithinMs: number;
  /** A quote that is approved later than this after it was made needs a new approval, in milliseconds. */
  approvalMaxAgeMs: number;
  /** A pivot is not sent with an older quote, in milliseconds: the saga quotes again first. */
  quoteMaxAgeMs: number;
  /** A call is not sent later than this after the journal was asked, in milliseconds. */
  sendWithinMs: number;
  /**
   * How long after it was intended a call may be in flight, in milliseconds: the time to send, the longest call, and the
   * time within which the provider lets an abandoned call take effect.
   */
  inFlightMs: number;
  /**
   * A person is asked where the same was bought under another reference within this time, in milliseconds. 0: nobody
   * is.
   */
  duplicateWithinMs: number;
  /** A person is asked about a purchase that would exceed one of them. */
  spendLimits: readonly SpendLimit[];
  /** For orders, which the provider does not quote. */
  priceList?: PriceList | undefined;
  /** Servers without firewalls: `ask` has a person approve them. */
  requireFirewalls: 'off' | Unprotected;
  /** When a queued saga first looks whether it is its turn, in milliseconds. @default 60_000 */
  turnLookMs?: number | undefined;
  /** Undefined: nobody is notified. */
  notifications?: NotificationConfig | undefined;
}
