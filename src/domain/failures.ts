import type { JournalCursor, OpenPivot, Unwritten } from './effects';
import { cutWell } from './markdown';
import type { ReviewReason } from './spending';

/** The meaning of a call's failure, as the provider documents none; and how a saga may end other than done. */

/** Whose problem a failure is: where the operator looks first. */
export const owners = ['provider', 'journal', 'Temporal', 'us', 'us or the provider'] as const;
export type Owner = (typeof owners)[number];

/**
 * The first ones come from the provider room; the next ones are decided on our side, and nothing was sent then, but perhaps by a worker
 * that was lost.
 *
 * `outcome`, which the journal gets: `not-done` where the provider has surely done nothing for the call; after any other
 * failure nobody knows.
 *
 * `again`: time alone may end a wait at it, so the saga tries again by itself; `harmless`: only where twice is as good as
 * once. Without it, somebody has to put something right, or to decide.
 */
export const callFailures = {
  NotSent: { whose: 'provider', outcome: 'not-done', again: 'always' },
  /** The token, which we keep. */
  TokenUnreadable: { whose: 'us', outcome: 'not-done', again: 'always' },
  RateLimited: { whose: 'provider', outcome: 'not-done', again: 'always' },
  /** The credentials are ours. */
  Unauthorized: { whose: 'us', outcome: 'not-done' },
  /** The provider refuses it now: a new server, one in maintenance, a cart that is locked. */
  NotYet: { whose: 'provider', outcome: 'not-done', again: 'always' },
  Rejected: { whose: 'provider', outcome: 'not-done' },
  UnknownOutcome: { whose: 'provider', outcome: 'unknown', again: 'harmless' },
  /** The base URL is our setting. */
  UnexpectedResponse: { whose: 'us', outcome: 'unknown', again: 'harmless' },
  /** The provider's own list does not show what was asked for. */
  NotVisibleYet: { whose: 'provider', outcome: 'unknown', again: 'harmless' },
  /** What the provider's list, or its answer to a delete, says is not known: nobody has declared it. */
  NotDeclared: { whose: 'us', outcome: 'unknown' },
  SecretMissing: { whose: 'us', outcome: 'not-done' },
  /** The worker that made the call was lost with it: it died, was stopped, or stood still. */
  WorkerLost: { whose: 'us', outcome: 'unknown', again: 'harmless' },
  /** The call was not sent, because it was intended too long ago: the process stood still, or the journal was slow. */
  StoodStill: { whose: 'us', outcome: 'not-done', again: 'always' },
  /** The journal cannot be asked or written. */
  JournalUnavailable: { whose: 'journal', outcome: 'unknown', again: 'always' },
  /** An entry of the journal cannot be decrypted here. */
  JournalUnreadable: { whose: 'journal', outcome: 'unknown' },
  /** The journal is an older copy of what it was, or another one. */
  JournalRestored: { whose: 'journal', outcome: 'unknown' },
  /** Temporal cannot say whether new sagas are held. */
  TemporalUnavailable: { whose: 'Temporal', outcome: 'not-done', again: 'always' },
  /** The same call, or its opposite, was sent before, and may still be in flight. */
  UnderWay: { whose: 'us', outcome: 'unknown' },
  /** Another run or saga has worked, or a person has corrected: the run begins again. */
  StateChanged: { whose: 'us', outcome: 'unknown' },
  /** A cart item that is to be deleted belongs to an order, or may. */
  Ordered: { whose: 'us', outcome: 'unknown' },
  /** The request's `notAfter` has passed. */
  DeadlinePassed: { whose: 'us', outcome: 'not-done' },
  /** The quote became too old before the pivot was sent. */
  QuoteAged: { whose: 'us', outcome: 'not-done', again: 'always' },
  /** The request's guard, or the operator's rule, forbids it at the terms of now. */
  GuardViolated: { whose: 'us', outcome: 'not-done' },
  /** By the request's rule, a likely duplicate or a spend limit, a person has to say yes first. */
  NeedsApproval: { whose: 'us', outcome: 'unknown' },
  /** The provider has cancelled what was placed, as a person has said. */
  OrderCancelled: { whose: 'provider', outcome: 'unknown' },
} as const satisfies Record<string, { whose: Owner; outcome: 'not-done' | 'unknown'; again?: 'always' | 'harmless' }>;
export type CallFailureName = keyof typeof callFailures;
export const callFailureNames = Object.keys(callFailures) as [CallFailureName, ...CallFailureName[]];

/** After a restore an unknown outcome is the journal's; of an earlier call, ours: its worker wrote none down. */
export function ownerOf(failed: Pick<CallFailure, 'failure' | 'doubt' | 'endpoint' | 'status'>): Owner {
  const { failure, doubt, endpoint } = failed;
  if (isForbidden(failed)) return 'us or the provider';
  if (failure !== 'UnknownOutcome' || endpoint !== undefined) return callFailures[failure].whose;
  return doubt?.restored ? 'journal' : 'us';
}

/** A 403 has two readings: our credentials do not allow it, or the provider refuses this request (a quota, a plan). */
export function isForbidden({ failure, status }: { failure: CallFailureName; status?: number }): boolean {
  return failure === 'Unauthorized' && status === 403;
}

/** An activity reports a failed call to the workflow by it, as `details[0]`. No secret is in it. */
export interface CallFailure {
  failure: CallFailureName;
  /** One sentence for a person. */
  message: string;
  /** `POST /order`; absent where no call was made. */
  endpoint?: string;
  status?: number;
  /** An excerpt of the provider's answer, redacted and cut. */
  body?: string;
  /** When the saga tries again by itself. Absent where there is no automatic retry: used up, or none allowed. */
  retryInMs?: number;
  /** Where time may end it: the delays before the saga tries by itself while a person is asked. */
  ownTriesMs?: readonly number[];
  /** The id of a cart item that came with an answer that is no success: the item may be there. */
  cartItemId?: number;
  /** For a pivot of unknown outcome: what a person is asked about. */
  doubt?: PivotDoubt;
  /** For `UnderWay`: until then the earlier call may take effect, in milliseconds from now. */
  inFlightMs?: number;
  /** For `NotVisibleYet`: what the provider's list does not show. */
  lacks?: number[];
  /** For `NotVisibleYet`: what it shows, and should not. */
  surplus?: number[];
  /** For `StateChanged`: another begin owns the reference. Perhaps only this run's own number is an older one. */
  notOwned?: true;
  /** For `NeedsApproval`: what a person is asked about. */
  concern?: ReviewReason;
  cursor?: JournalCursor;
  unwritten?: Unwritten;
  /** By the setting, a correction that holds a secret may come unencrypted, although there are keys. */
  takesClear?: true;
  /** For a refusal: by the setting, a person is asked where the request does not decide that. */
  asks?: true;
  /** For a refusal: declared to mean that it is sold out; and no earlier call may have made it. */
  soldOut?: true;
}

/** A person is asked about this pivot. */
export interface PivotDoubt extends Omit<OpenPivot, 'note'> {
  /** As it was sent, where the row says it. */
  foundBy?: string;
}

/** For a pivot whose row the journal has without an outcome. */
export function whyInDoubt({ restored, at, run }: Pick<PivotDoubt, 'restored' | 'at' | 'run'>): string {
  const what = restored
    ? 'the journal was restored from an older copy, and what was sent in the lost time is not known'
    : `it was sent on ${at} by run ${run}, and its outcome is not known`;
  return `${what}; nothing was sent now`;
}

/** Whether time alone may end a wait at it. @param doubles a repeat could do it twice */
export function mayEndByTime(failure: CallFailureName, doubles: boolean): boolean {
  const { again } = callFailures[failure] as { again?: 'always' | 'harmless' };
  return again === 'always' || (again === 'harmless' && !doubles);
}

/** The failure and what the provider said of it, for a person; short enough for a list. */
export function describeFailure({ message, body }: CallFailure): string {
  return cutWell(body ? `${message}: ${body}` : message, 600);
}

/** How a saga fails: `ApplicationFailure.type`, published in the contract. `details[0]` is the report. */
export const sagaFailureNames = [
  'InvalidRequest',
  'ReferenceTaken',
  'OrderRejected',
  'OrderCancelled',
  'CancelledBefore',
  'ChangeNotAvailable',
  'SwitchNotAvailable',
  'GuardViolated',
  'NotApproved',
  'DeadlinePassed',
  'FirewallsRejected',
  'FirewallListUnreadable',
  'HistoryFull',
] as const;
export type SagaFailureName = (typeof sagaFailureNames)[number];
