import type { JournalKnowledge, OpenPivot, Unwritten } from './effects';

/**
 * The names of what can go wrong. Two lists: what a call's failure means (design: the provider documents no errors, so
 * these are all that can be told from the wire), and how a saga may end other than done.
 */

/**
 * What one call's failure means, by whose fault it is. The first six come from the provider room; the next ones are decided on
 * our side, and nothing was sent then.
 */
export const callFailureNames = [
  'NotSent',
  'RateLimited',
  'Unauthorized',
  'Rejected',
  'UnknownOutcome',
  'UnexpectedResponse',
  /** The operator's hold switch is on. */
  'Held',
  /** The provider's own list does not show what was asked for. */
  'NotThere',
  'SecretMissing',
  /** The worker that made the call was lost with it: it died, was stopped, or stood still. */
  'WorkerLost',
  /** So long had passed since the call was meant that it was not sent: the process stood still, or the journal was slow. */
  'StoodStill',
  /** The journal cannot be asked or written. */
  'JournalUnavailable',
  /** What the journal has cannot be decrypted here. */
  'JournalUnreadable',
  /** The journal is an older copy of what it was, or another one. */
  'JournalPutBack',
  /** Temporal cannot say whether the call is still wanted. */
  'TemporalUnavailable',
  /** Temporal has given the call up: whoever waits for it is gone. */
  'Unwanted',
  /** The same call, or its opposite, was sent before, and may still be in the air. */
  'UnderWay',
  /** A step that this one rests on was taken back since. */
  'TakenBack',
  /** A cart item that is to be deleted belongs to an order, or may. */
  'Ordered',
] as const;
export type CallFailureName = (typeof callFailureNames)[number];

/** What an activity tells the workflow of a failed call, as `details[0]`. No secret is in it. */
export interface CallFailure {
  failure: CallFailureName;
  /** One sentence for a person. */
  message: string;
  /** `POST /order`; absent where no call was made. */
  endpoint?: string;
  status?: number;
  /** An excerpt of the provider's answer, redacted and cut. */
  body?: string;
  /** Present: try again by yourself after so long. Absent: no automatic retry (used up, or none allowed). */
  retryInMs?: number;
  /** Of a pivot of unknown outcome: what a person is asked about. */
  doubt?: PivotDoubt;
  /** Of `TakenBack`: the steps that have to be done again. */
  steps?: string[];
  /** What the journal knows by now. */
  knows?: JournalKnowledge;
  /** What the journal has yet to be told of this call. */
  unwritten?: Unwritten;
}

/** What a person is asked about a pivot. */
export interface PivotDoubt extends Omit<OpenPivot, 'note'> {
  /** As it was sent, where the row says it. */
  foundBy?: string | undefined;
}

/** Of a call that was meant: after these the provider has surely done nothing; after any other failure nobody knows. */
const withoutEffect: readonly CallFailureName[] = [
  'NotSent',
  'RateLimited',
  'Unauthorized',
  'Rejected',
  'SecretMissing',
  'StoodStill',
  'TemporalUnavailable',
  'Unwanted',
];

/** What is written down of a call that was meant and then failed. */
export function outcomeOf(failure: CallFailureName): 'not-done' | 'unknown' {
  return withoutEffect.includes(failure) ? 'not-done' : 'unknown';
}

/** The failure and what the provider said of it, for a person; short enough for a list. */
export function describeFailure({ message, body }: CallFailure): string {
  return (body ? `${message}: ${body}` : message).slice(0, 600);
}

/** How a saga fails: `ApplicationFailure.type`, published in the contract. `details[0]` is the report. */
export const sagaFailureNames = [
  'InvalidRequest',
  'ReferenceTaken',
  'OrderRejected',
  'ChangeNotAvailable',
  'SwitchNotAvailable',
  'GuardViolated',
  'NotApproved',
  'FirewallsRejected',
  'FirewallListUnreadable',
] as const;
export type SagaFailureName = (typeof sagaFailureNames)[number];
