/**
 * The names of what can go wrong. Two lists: what a call's failure means (design: the provider documents no errors, so
 * these are all that can be told from the wire), and how a saga may end other than done.
 */

/**
 * What one provider call's failure means. The first six come from the provider room; `Held` means that the operator's
 * hold switch is on and nothing was sent; `NotThere` that the provider's own list does not show what was asked for.
 */
export const callFailureNames = [
  'NotSent',
  'RateLimited',
  'Unauthorized',
  'Rejected',
  'UnknownOutcome',
  'UnexpectedResponse',
  'Held',
  'NotThere',
  'SecretMissing',
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
  /** A pivot that was refused, by the run of this id, because another run of the reference may have placed already. */
  refused?: { why: 'reset' | 'started-again'; runId: string };
}

/** The failure and what the provider said of it, for a person; short enough for a list. */
export function describeFailure({ message, body }: CallFailure): string {
  return (body ? `${message}: ${body}` : message).slice(0, 600);
}

/** How a saga fails: `ApplicationFailure.type`, published in the contract. `details[0]` is the report. */
export const sagaFailureNames = [
  'InvalidRequest',
  'OrderRejected',
  'ChangeNotAvailable',
  'SwitchNotAvailable',
  'GuardViolated',
  'NotApproved',
  'FirewallsRejected',
  'FirewallListUnreadable',
] as const;
export type SagaFailureName = (typeof sagaFailureNames)[number];
