/** Following a saga to its end, or to where it waits for a person. */
import { SagaCancelledError, SagaFailedError, SagaLostError } from '../client/errors';
import type { SagaHandle } from '../client/handle';
import type { ProgressView, Waiting } from '../domain/progress';
import type { SagaOutcome } from '../domain/outcomes';
import type { Report } from '../domain/results';

export type Ending =
  | { state: 'done'; result: { outcome: SagaOutcome } }
  | { state: 'failed'; failure: { type: string; message: string; report: Report } }
  | { state: 'cancelled'; report: Report }
  | { state: 'lost'; lost: { status: string; message: string } }
  | { state: 'waits'; waiting: Waiting };

/** @returns undefined where it did not end without its result, or left no report */
export function reportOf(ending: Ending): Report | undefined {
  if (ending.state === 'failed') return ending.failure.report;
  return ending.state === 'cancelled' ? ending.report : undefined;
}

/** @returns undefined where it has not ended, or left no report */
export function outcomeOf(ending: Ending): SagaOutcome | undefined {
  return ending.state === 'done' ? ending.result.outcome : reportOf(ending)?.outcome;
}

export interface FollowOptions {
  /** Go on through waits, to the end. */
  throughWaits?: boolean;
  onProgress?: (progress: ProgressView) => void;
  /** Why the progress cannot be read at the moment; called once until it can be read again. */
  onSilence?: (why: string) => void;
}

/** @throws NoConnectionError, UnknownReferenceError */
export async function follow(saga: SagaHandle, options: FollowOptions = {}): Promise<Ending> {
  const { throughWaits, onProgress, onSilence } = options;
  for await (const progress of saga.events(onSilence ? { onSilence } : {})) {
    onProgress?.(progress);
    if (progress.waiting && !throughWaits) return { state: 'waits', waiting: progress.waiting };
  }
  return endOf(saga);
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
    if (error instanceof SagaLostError) {
      return { state: 'lost', lost: { status: error.status, message: error.message } };
    }
    throw error;
  }
}
