/** Following a saga to its end, or to where it waits for a person. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import {
  NoConnectionError,
  NoWorkerError,
  SagaCancelledError,
  SagaFailedError,
  SagaLostError,
  UnknownReferenceError,
} from '../client/errors';
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

/** A person waits: a step's change shows within half a second at first; a saga that takes long is asked less often. */
const pauseMinMs = 500;
const pauseMaxMs = 2_000;

/**
 * Another worker takes over the sagas of a killed one within three seconds; after this the command says that none
 * answers.
 */
export const answerWithinMs = 5_000;

/** @throws NoConnectionError, UnknownReferenceError */
export async function follow(temporal: Client, saga: SagaHandle, options: FollowOptions = {}): Promise<Ending> {
  const over = new AbortController();
  try {
    // When one of the two has answered, the other one is aborted: it would keep the process alive.
    return await race(temporal, saga, options, over.signal);
  } finally {
    over.abort();
  }
}

async function race(temporal: Client, saga: SagaHandle, options: FollowOptions, signal: AbortSignal): Promise<Ending> {
  // Temporal's client leaves a listener on the signal with each call: each call has a signal of its own.
  const abortable = <T>(act: () => Promise<T>) => temporal.withAbortSignal(AbortSignal.any([signal]), act);
  const end = abortable(() => endOf(saga));
  const wait = untilWait(saga, options, { signal, abortable });
  // The signal aborts the slower one, which rejects when nothing awaits it any more.
  wait.catch(() => undefined);
  end.catch(() => undefined);
  const ending = await Promise.race([end, wait]);
  if (ending.state !== 'waits') await showLast(saga, options);
  return ending;
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

/** Looks repeatedly, and returns when the saga waits; it never returns where the saga does not wait. */
async function untilWait(
  saga: SagaHandle,
  { throughWaits, onProgress, onSilence }: FollowOptions,
  { signal, abortable }: { signal: AbortSignal; abortable: <T>(act: () => Promise<T>) => Promise<T> },
): Promise<Ending> {
  let pauseMs = pauseMinMs;
  let shown = '';
  let silent = false;
  for (;;) {
    const look = () => saga.progress({ withinMs: answerWithinMs });
    const progress = await abortable(look).catch((error: unknown) => {
      if (signal.aborted || error instanceof NoConnectionError || error instanceof UnknownReferenceError) throw error;
      if (!silent) onSilence?.(whySilent(error));
      silent = true;
      return undefined;
    });
    if (signal.aborted) throw new Error('aborted');
    if (progress) {
      silent = false;
      const now = JSON.stringify(progress);
      pauseMs = now === shown ? Math.min(pauseMs * 1.5, pauseMaxMs) : pauseMinMs;
      if (now !== shown) onProgress?.(progress);
      shown = now;
      if (progress.waiting && !throughWaits) return { state: 'waits', waiting: progress.waiting };
    }
    await pause(pauseMs, undefined, { signal });
  }
}

function whySilent(error: unknown): string {
  if (error instanceof NoWorkerError) return error.message;
  return `the progress cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

/** Shows the steps between the last look and the end. */
async function showLast(saga: SagaHandle, { onProgress }: FollowOptions): Promise<void> {
  const progress = await saga.progress({ withinMs: answerWithinMs }).catch(() => undefined);
  if (progress) onProgress?.(progress);
}
