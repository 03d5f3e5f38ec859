/** The client's errors. None ever carries a value of the request, since a value may be a password. */
import type { DecisionName } from '../domain/decisions';
import type { SagaFailureName } from '../domain/failures';
import type { WorkflowName } from '../domain/identity';
import type { Milestone, ProgressView, Waiting } from '../domain/progress';
import type { Report } from '../domain/results';
import { describeProblems, namesOfFirst, type Problem } from '../domain/problems';

/** The base of all of them: any other error from the client is Temporal's own, or a mistake of ours. */
export abstract class OrderSagaError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The request breaks the rules; `problems` names every field that does. Nothing was started. */
export class InvalidRequestError extends OrderSagaError {
  constructor(readonly problems: readonly Problem[]) {
    super(`the request is wrong: ${describeProblems([...problems])}`);
  }
}

/** The reference belongs to another request. Nothing was started: choose a new one, or send the request it belongs to. */
export class ReferenceTakenError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    /** Names such as `items[0].plan_id`; empty where the first request could not be read. */
    readonly fields: readonly string[],
    /** Why the first request could not be read, as a sentence. */
    readonly unreadable?: string,
  ) {
    super(
      unreadable === undefined
        ? `the reference is taken: ${workflowId} was started with another request. It differs in ${listed(fields)}`
        : `the reference is taken: ${workflowId} was started before, and it is not known whether with this request: ${unreadable}`,
    );
  }
}

/** More than twenty are counted, not named, so that the message stays readable. */
function listed(fields: readonly string[]): string {
  const names = fields.map((field) => field || 'the request as a whole');
  return namesOfFirst(names, 20);
}

/** Temporal knows nothing under this reference: it was never used, or its run is past the namespace's retention. */
export class UnknownReferenceError extends OrderSagaError {
  constructor(readonly reference: string) {
    super(
      `Temporal knows nothing of ${reference}: it was never started, or its run has expired. The journal may know it: order-saga record ${reference}`,
    );
  }
}

/** Several workflows were started under the same reference, and the caller has not named one. */
export class AmbiguousReferenceError extends OrderSagaError {
  constructor(
    readonly reference: string,
    readonly workflows: readonly WorkflowName[],
  ) {
    super(`${reference} names several sagas: ${workflows.join(', ')}. Say which workflow is meant`);
  }
}

/** The saga failed, by its own decision, after it had undone what could be undone. */
export class SagaFailedError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    /** A worker of a newer release may send others. */
    readonly type: SagaFailureName | (string & Record<never, never>),
    message: string,
    readonly report: Report,
  ) {
    super(message);
  }
}

/** The saga ended as cancelled. It does not mean that nothing was placed: see the report. */
export class SagaCancelledError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    readonly report: Report,
  ) {
    super(report.why);
  }
}

/** The run was ended from outside, or in a way that no saga ends: nobody knows whether it undid anything. */
export class SagaLostError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    readonly status: 'terminated' | 'timed-out' | 'failed' | 'cancelled',
    why: string,
  ) {
    super(
      `${workflowId} was lost (${status}): ${why}. It left no report; the journal shows what it had done: order-saga record`,
    );
  }
}

/** The decision does not fit, or is not well-formed; the message says what would. Nothing changed. */
export class DecisionRefusedError extends OrderSagaError {
  constructor(
    readonly decision: DecisionName | 'cancel',
    message: string,
    /** Somebody was faster: the saga asks another question by now, or none. */
    readonly movedOn = false,
  ) {
    super(message);
  }
}

/** The saga waits for a person, and whoever waited for a milestone did not want to wait for that. It is not over. */
export class SagaWaitsError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    readonly waiting: Waiting,
  ) {
    super(`${workflowId} waits for a person, as ${waiting.kind}: ${waiting.question}`);
  }
}

/** The saga has ended well, and has not come to the milestone: nothing of it was asked for, or a person left it out. */
export class MilestoneMissedError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    readonly milestone: Milestone,
    /** As it ended. */
    readonly progress: ProgressView,
  ) {
    super(`${workflowId} has ended as ${progress.state}, and has not come to “${milestone}”`);
  }
}

export class SagaEndedError extends OrderSagaError {
  constructor(readonly workflowId: string) {
    super(`${workflowId} has ended: there is nothing left to decide or to cancel`);
  }
}

/** Temporal answers, but no worker does. The saga goes on when one runs; whether a decision was taken, nobody knows. */
export class NoWorkerError extends OrderSagaError {
  constructor(
    readonly workflowId: string,
    advice = '',
  ) {
    super(`no worker answers; is one running?${advice}`);
  }
}

/** After a start it does not mean that nothing was started: send the same request again, it never starts twice. */
export class NoConnectionError extends OrderSagaError {
  constructor(
    readonly address: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`no connection to Temporal at ${address}: ${why}`, options);
  }
}

/** No worker could read what this client would send, or it would go to another machine in the clear. Nothing was sent. */
export class KeysDifferError extends OrderSagaError {
  constructor(
    /** The id of the key that it encrypts with; undefined: it has none. */
    readonly key: string | undefined,
    why: string,
  ) {
    const has = key === undefined ? 'encrypts nothing' : `encrypts with key ${key}`;
    const advice = 'give it the workers’ PAYLOAD_KEYS';
    super(
      `this client ${has}: ${why}. Nothing was sent: ${advice}${key === undefined ? ', or allow it (allowClear)' : ''}`,
    );
  }
}

export class SearchAttributesMissingError extends OrderSagaError {
  constructor(readonly namespace: string) {
    super(`namespace ${namespace} does not know the search attributes of sagas yet: a worker adds them when it starts`);
  }
}
