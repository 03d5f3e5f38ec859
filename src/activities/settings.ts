/**
 * The settings that decide something in a saga. Only activities read them. What they decide reaches the workflow as a
 * call's result or failure, which is in the history: so a changed setting never breaks a run's replay.
 */
import type { EffectKind } from '../domain/effects';
import type { Route } from '../domain/notifications';
import type { Profile } from '../domain/profile';
import type { OnRefusal } from '../domain/requests';
import type { PurchaseRules } from '../journal/purchases';

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

interface NotificationConfig {
  routes: readonly Route[];
  webUiUrl?: string | undefined;
  /** Inner hosts and addresses that may be notified all the same. */
  allowed: readonly string[];
  /** One exchange with a receiver. */
  timeoutMs: number;
}

export interface ActivitySettings extends Omit<PurchaseRules, 'notAfter' | 'quoteUntil'> {
  /** What the provider's answers mean; undefined: nothing is declared. */
  profile?: Profile | undefined;
  retries: Record<CallKind, RetryBudget>;
  /** A saga that waits for a person tries by itself after so long, each time; the last one again and again. */
  ownTriesMs: readonly number[];
  /**
   * Statuses after which a pivot has surely not happened and may be tried again. 429 unless the provider promises more.
   */
  pivotRetryStatuses: readonly number[];
  /**
   * Accept an unencrypted request, or correction with a secret, although there are keys: an operator types it into the
   * Web UI.
   */
  takesClearRequests: boolean;
  /** Counts when the provider refuses something before the pivot, and the request does not say. */
  onRefusal: OnRefusal;
  /** A list of firewalls that contradicts a change of less than so long ago is not believed, in milliseconds. */
  listLagMs: number;
  /**
   * For so long after its order a server may not be ready, and a directory may not list it, in milliseconds: what the
   * provider says of it then may be another thing in a while.
   */
  newServerWithinMs: number;
  /** An approval holds for so long after it was given, in milliseconds. */
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
  /** When a queued saga first looks whether it is its turn, in milliseconds. @default 60_000 */
  turnLookMs?: number | undefined;
  /** Undefined: nobody is notified. */
  notifications?: NotificationConfig | undefined;
}
