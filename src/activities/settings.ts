/**
 * The settings that decide something in a saga. They live on this side of the wall, and what they decide reaches the
 * workflow as a call's result or failure, which is in the history: so a changed setting never breaks a run's replay.
 */
import type { EffectKind } from '../domain/effects';
import type { OnRefusal } from '../domain/requests';
import type { SpendLimit } from '../domain/spending';

/** What a call does to the provider: an effect, or none. `read` only looks; `poll` looks again for something that is on its way. */
export type CallKind = EffectKind | 'read' | 'poll';

/** Bounds of the automatic retries of one step; past them a person is asked. */
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

export interface ActivitySettings {
  retries: Record<CallKind, RetryBudget>;
  /** Statuses after which a pivot has surely not happened and may be tried again. 429 unless the provider promises more. */
  pivotRetryStatuses: readonly number[];
  planTypesMore: readonly string[];
  /** Take a request, or a correction with a secret, in the clear although there are keys: an operator types it into the Web UI. */
  takesClearRequests: boolean;
  /** What follows when the provider refuses something before the point of no return, where the request does not say. */
  onRefusal: OnRefusal;
  /** JSON pointers to the object ids in the order's response; none: the response is not read. */
  serverPointers: readonly string[];
  directory?: ServerDirectory | undefined;
  /** A quote that was approved later than this after it was made is asked about again. */
  approvalMaxAgeMs: number;
  /** A pivot is not sent by a quote that is older: it is quoted again first, in milliseconds. */
  quoteMaxAgeMs: number;
  /** A call that has not begun to leave so long after the journal was asked does not leave, in milliseconds. */
  sendWithinMs: number;
  /**
   * So long after a pivot was meant, nobody who meant it can be sending it any more: the time to leave, the longest call, and
   * the time within which the provider lets a call take effect that was given up. Milliseconds.
   */
  inAirMs: number;
  /** A person is asked about what was bought under another reference within this, in milliseconds. 0: nobody is. */
  duplicateWithinMs: number;
  /** A person is asked about what would exceed one of them. */
  spendLimits: readonly SpendLimit[];
  /** Whoever is queued looks after so long whether it is its turn, at first, in milliseconds. @default 60_000 */
  turnLookMs?: number | undefined;
}
