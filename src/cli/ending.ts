/** How a saga has ended, or that it waits for a person: as a document, as an exit status, and in words. */
import { SagaCancelledError, SagaFailedError, SagaLostError } from '../client/errors';
import type { SagaHandle } from '../client/handle';
import { isOutcome, type Leftover, type SagaOutcome } from '../domain/outcomes';
import type { Queued, Waiting } from '../domain/progress';
import type { Report } from '../domain/results';
import { redact } from '../domain/secrets';
import { exitStatus } from './exit-status';

export type Ending =
  | { state: 'done'; result: { outcome: SagaOutcome } }
  | { state: 'failed'; failure: { type: string; message: string; report: Report } }
  | { state: 'cancelled'; report: Report }
  | { state: 'lost'; lost: { status: string; message: string } }
  /** For a person; `queued`: the saga before it does. */
  | { state: 'waits'; waiting?: Waiting | undefined; queued?: Queued | undefined };

/** The report of a saga that has not ended well, if it left one. */
function reportOf(ending: Ending): Report | undefined {
  if (ending.state === 'failed') return ending.failure.report;
  return ending.state === 'cancelled' ? ending.report : undefined;
}

/** The outcome of a saga that has one. */
export function stateOf(ending: Ending): SagaOutcome | Ending['state'] {
  const { outcome } = ending.state === 'done' ? ending.result : (reportOf(ending) ?? {});
  return outcome ?? ending.state;
}

export async function endOf(saga: SagaHandle): Promise<Ending> {
  try {
    return { state: 'done', result: await saga.result() };
  } catch (error) {
    if (error instanceof SagaFailedError) {
      const { type, message, report } = error;
      return { state: 'failed', failure: { type, message, report } };
    }
    if (error instanceof SagaCancelledError) return { state: 'cancelled', report: error.report };
    if (!(error instanceof SagaLostError)) throw error;
    return { state: 'lost', lost: { status: error.status, message: error.message } };
  }
}

/** The status of a cancellation: `done` where nothing of the saga is there, because a person asked for that. */
export function statusOfCancelled(ending: Ending): number {
  const status = statusOf(ending);
  if (ending.state === 'cancelled') return status === exitStatus.notDone ? exitStatus.done : status;
  return ending.state === 'waits' ? status : exitStatus.notDone;
}

export function statusOf(ending: Ending): number {
  const state = stateOf(ending);
  // The saga does not know what other runs of its reference did.
  if (state === 'untouched' && reportOf(ending)?.leftovers.length) return exitStatus.leftovers;
  if (state === 'waits') return exitStatus.waits;
  return isOutcome(state) ? outcomes[state][0] : exitStatus.notDone;
}

const outcomes: Record<SagaOutcome, [status: number, sentence: string]> = {
  done: [exitStatus.done, 'all that was asked for is there'],
  partly: [exitStatus.partly, 'it was placed and stays; not all that was asked for is there'],
  reversed: [exitStatus.notDone, 'nothing of it is there'],
  'reversed-with-leftovers': [exitStatus.leftovers, 'something of it is there, or may be'],
  untouched: [exitStatus.notDone, 'this run did nothing. order-saga record shows what other runs of the reference did'],
};

const valueMax = 500;

export function describeEnding(ending: Ending, workflowId: string): string[] {
  switch (ending.state) {
    case 'done': {
      const inPart = ending.result.outcome === 'partly' ? ' in part: something was skipped or is left over' : '';
      return [`${workflowId} is done${inPart}`, ...describeFields(ending.result)];
    }
    case 'failed': {
      const { type, message, report } = ending.failure;
      return [`${workflowId} failed: ${type}: ${message}`, ...describeReport(report)];
    }
    case 'cancelled':
      return [`${workflowId} was ${ending.report.why}`, ...describeReport(ending.report, ending.report.known)];
    case 'lost':
      return [ending.lost.message];
    case 'waits':
      // Printed with the progress, together with what can be decided.
      return [];
  }
}

/** Describes a saga that failed or was cancelled. */
function describeReport({ outcome, leftovers }: Report, known: unknown = {}): string[] {
  return [`  ${outcome}: ${outcomes[outcome][1]}`, ...describeFields(known), ...describeLeftovers(leftovers)];
}

/** A result's fields, each on a line; empty ones are left out. */
function describeFields(result: unknown): string[] {
  return Object.entries(redact(result ?? {}) as object).flatMap(([name, value]) => {
    if (name === 'reference' || name === 'outcome' || value === null || value === undefined) return [];
    if (Array.isArray(value) && value.length === 0) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`  ${name}: ${text.length > valueMax ? `${text.slice(0, valueMax)}… (--json shows all)` : text}`];
  });
}

export function describeLeftovers(leftovers: readonly Leftover[]): string[] {
  return leftovers.map((leftover) => `  left over: ${describeLeftover(leftover)}: ${leftover.why}`);
}

function describeLeftover(leftover: Leftover): string {
  switch (leftover.kind) {
    case 'cart-item':
      return `cart item ${leftover.cartItemId}`;
    case 'cart-item-unknown':
      return `perhaps a cart item of unknown id${leftover.item === undefined ? '' : ` (item ${leftover.item} of the request)`}`;
    case 'firewalls':
      return `firewalls ${leftover.firewalls.join(', ')} of server ${leftover.vmObjectId}`;
    case 'server-unprotected': {
      const { vmObjectId, firewalls } = leftover;
      const which = vmObjectId === undefined ? 'the servers, whose ids are not known,' : `server ${vmObjectId}`;
      return `${which} without firewalls ${firewalls.join(', ')}`;
    }
    case 'server-unverified':
      return `server ${leftover.vmObjectId}, perhaps without firewalls ${leftover.firewalls.join(', ')}`;
    case 'servers-miscounted':
      return `${leftover.ordered} servers, of which ${leftover.named.join(', ')} are named`;
    case 'placement-unknown':
      return `nobody knows whether ${leftover.step} took effect`;
  }
}
