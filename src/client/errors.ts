/** The client's errors. None ever carries a value of the request, since a value may be a password. */
import type { DecisionName } from '../domain/decisions';
import type { SagaFailureName } from '../domain/failures';
import type { WorkflowName } from '../domain/identity';
import type { WayLost } from '../domain/lost';
import type { Milestone, ProgressView, Waiting } from '../domain/progress';
import type { Report } from '../domain/results';
import { describeProblems, namesOfFirst, type Problem } from '../domain/problems';

/** The base of all of them: any other error from the client is Temporal's own, or a mistake of ours. */
export abstract class OrderSagaError extends Error {
  override get name(): string {
    return this.constructor.name;
  }

  /** The section of a page that explains it. */
  get section(): string {
    return `docs/client.md#${this.name.toLowerCase()}`;
  }
}

/** A class of errors that carry these fields, and say them in this sentence. */
function saying<A extends unknown[], F extends object>(
  describe: (...given: A) => { fields: F; message: string; cause?: unknown },
) {
  class Described extends OrderSagaError {
    constructor(...given: A) {
      const { fields, message, ...options } = describe(...given);
      super(message, options);
      Object.assign(this, fields);
    }
  }
  return Described as unknown as new (...given: A) => OrderSagaError & Readonly<F>;
}

/** The request breaks the rules; `problems` names every field that does. Nothing was started. */
export class InvalidRequestError extends saying((problems: readonly Problem[]) => ({
  fields: { problems },
  message: `the request is wrong: ${describeProblems([...problems])}`,
})) {}

/** More than these are counted, not named, so that the message stays readable. */
const fieldsNamedMax = 20;

/**
 * The reference belongs to another request. Nothing was started: choose a new one, or send the request it belongs to.
 * `fields` are names such as `items[0].plan_id`; none where the first request could not be read, as `unreadable` says.
 */
export class ReferenceTakenError extends saying(
  (workflowId: string, fields: readonly string[], unreadable?: string) => {
    const names = fields.map((field) => field || 'the request as a whole');
    const why =
      unreadable === undefined
        ? `was started with another request. It differs in ${namesOfFirst(names, fieldsNamedMax)}`
        : `was started before, and it is not known whether with this request: ${unreadable}`;
    return { fields: { workflowId, fields, unreadable }, message: `the reference is taken: ${workflowId} ${why}` };
  },
) {}

/** Temporal knows nothing under this reference: it was never used, or its run is past the namespace's retention. */
export class UnknownReferenceError extends saying((reference: string) => ({
  fields: { reference },
  message: `Temporal knows nothing of ${reference}: it was never started, or its run has expired. The journal may know it: order-saga record ${reference}`,
})) {}

/** Several workflows were started under the same reference, and the caller has not named one. */
export class AmbiguousReferenceError extends saying((reference: string, workflows: readonly WorkflowName[]) => ({
  fields: { reference, workflows },
  message: `${reference} names several sagas: ${workflows.join(', ')}. Say which workflow is meant`,
})) {}

/** A worker of a newer release may send others. */
type FailureType = SagaFailureName | (string & Record<never, never>);

/**
 * The saga failed, by its own decision, after it had undone what could be undone. `type` says why, by
 * docs/failures.md#the-failures-of-a-saga; `report` says what is left.
 */
export class SagaFailedError extends saying(
  (workflowId: string, type: FailureType, message: string, report: Report) => ({
    fields: { workflowId, type, report },
    message,
  }),
) {}

/** The saga ended as cancelled. It does not mean that nothing was placed: see the report. */
export class SagaCancelledError extends saying((workflowId: string, report: Report) => ({
  fields: { workflowId, report },
  message: report.why,
})) {}

/** The run was ended from outside, or in a way that no saga ends: nobody knows whether it undid anything. */
export class SagaLostError extends saying((workflowId: string, status: Exclude<WayLost, 'gone'>, why: string) => ({
  fields: { workflowId, status },
  message: `${workflowId} was lost (${status}): ${why}. It left no report; the journal shows what it had done: order-saga record`,
})) {}

/**
 * The decision does not fit, or is not well-formed; the message says what would. Nothing changed. `movedOn`: somebody
 * was faster, and the saga asks another question by now, or none.
 */
export class DecisionRefusedError extends saying(
  (decision: DecisionName | 'cancel', message: string, movedOn?: boolean) => ({
    fields: { decision, movedOn: movedOn ?? false },
    message,
  }),
) {}

/** The saga waits for a person, and whoever waited for a milestone did not want to wait for that. It is not over. */
export class SagaWaitsError extends saying((workflowId: string, waiting: Waiting) => ({
  fields: { workflowId, waiting },
  message: `${workflowId} waits for a person, as ${waiting.kind}: ${waiting.question}`,
})) {}

/**
 * The saga has ended well, and has not come to the milestone: nothing of it was asked for, or a person left it out.
 * `progress` is as it ended.
 */
export class MilestoneMissedError extends saying(
  (workflowId: string, milestone: Milestone, progress: ProgressView) => ({
    fields: { workflowId, milestone, progress },
    message: `${workflowId} has ended as ${progress.state}, and has not come to “${milestone}”`,
  }),
) {}

/** The saga has ended: there is nothing to decide or to cancel any more. Nothing changed. */
export class SagaEndedError extends saying((workflowId: string) => ({
  fields: { workflowId },
  message: `${workflowId} has ended: there is nothing left to decide or to cancel`,
})) {}

/** Temporal answers, but no worker does. The saga goes on when one runs; whether a decision was taken, nobody knows. */
export class NoWorkerError extends saying((workflowId: string, advice?: string) => ({
  fields: { workflowId },
  message: `no worker answers; is one running?${advice ?? ''}`,
})) {}

/** A check has not come to its end, and has bought nothing: it may be made again. */
export class NotCheckedError extends saying((workflowId: string, why: string, options?: ErrorOptions) => ({
  fields: { workflowId },
  message: `the check did not come to its end: ${why}`,
  ...options,
})) {}

/** Temporal was not reached. After a start it does not mean that nothing was started: send the same request again, it never starts twice. */
export class NoConnectionError extends saying((address: string, why: string, options?: ErrorOptions) => ({
  fields: { address },
  message: `no connection to Temporal at ${address}: ${why}`,
  ...options,
})) {}

/**
 * No worker could read what this client would send, or it would go to another machine in the clear. Nothing was sent.
 * `key` is the id of the key that it encrypts with; undefined: it has none.
 */
export class KeysDifferError extends saying((key: string | undefined, why: string) => {
  const has = key === undefined ? 'encrypts nothing' : `encrypts with key ${key}`;
  const advice = `give it the workers’ PAYLOAD_KEYS${key === undefined ? ', or allow it (allowClear)' : ''}`;
  return { fields: { key }, message: `this client ${has}: ${why}. Nothing was sent: ${advice}` };
}) {}

/** What came is sealed with a key that this client lacks, or that does not fit. */
export class PayloadUnreadableError extends saying((why: string) => ({
  fields: {},
  message: `what came cannot be read: it is ${why}`,
})) {}

/** No worker has started in this namespace yet: a worker adds what lists are made of. A start does not need it. */
export class SearchAttributesMissingError extends saying((namespace: string) => ({
  fields: { namespace },
  message: `namespace ${namespace} does not know the search attributes of sagas yet: a worker adds them when it starts`,
})) {}
