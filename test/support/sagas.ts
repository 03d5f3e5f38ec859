/** Questions that tests ask of a saga. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  DecisionRefusedError,
  NoConnectionError,
  NoWorkerError,
  SagaCancelledError,
  SagaFailedError,
} from '../../src/client/errors';
import type { DecisionName } from '../../src/domain/decisions';
import { isOutcome, type Leftover } from '../../src/domain/outcomes';
import type { Report } from '../../src/domain/results';
import type { ProgressView, SagaState, StepView, Waiting } from '../../src/domain/progress';
import type { SagaHandle } from '../../src/client/handle';
import { until } from './rig';

export interface Ended {
  result?: unknown;
  failure?: { type: string; report: Report };
  cancelled?: Report;
}

export async function outcomeOf(saga: Pick<SagaHandle, 'result'>): Promise<Ended> {
  try {
    return { result: await saga.result() };
  } catch (error) {
    if (error instanceof SagaFailedError) return { failure: { type: error.type, report: error.report } };
    if (error instanceof SagaCancelledError) return { cancelled: error.report };
    throw error;
  }
}

export function reportOf({ failure, cancelled }: Ended): Report | undefined {
  return failure?.report ?? cancelled;
}

export function leftoversOf(ended: Ended = {}): Leftover[] {
  const told: { leftovers?: Leftover[] } | undefined = ended.result ?? reportOf(ended);
  return told?.leftovers ?? [];
}

export async function untilWaiting(saga: Pick<SagaHandle, 'progress'>, kind?: Waiting['kind']): Promise<Waiting> {
  const waiting = await untilWaitingOrEnded(saga, kind);
  if (waiting === undefined)
    throw new Error(`the saga ended, and never waited${kind === undefined ? '' : ` as ${kind}`}`);
  return waiting;
}

/** It asks another question than the one of this id. */
export function untilAnother(saga: Pick<SagaHandle, 'progress'>, id: string, kind?: Waiting['kind']): Promise<Waiting> {
  return until(async () => {
    const { waiting } = await progressOf(saga);
    return waiting !== undefined && waiting.id !== id && (kind ?? waiting.kind) === waiting.kind && waiting;
  });
}

export function untilState(saga: Pick<SagaHandle, 'progress'>, state: SagaState): Promise<ProgressView> {
  return until(async () => {
    const found = await progressOf(saga);
    return found.state === state ? found : undefined;
  });
}

/** @returns undefined when it ended instead; nobody goes on asking, as a race between the two would */
export async function untilWaitingOrEnded(
  saga: Pick<SagaHandle, 'progress'>,
  kind?: Waiting['kind'],
): Promise<Waiting | undefined> {
  const found = await until(async () => {
    const { waiting, state } = await progressOf(saga);
    if (waiting !== undefined && (kind === undefined || waiting.kind === kind)) return { waiting };
    return isOutcome(state) ? {} : undefined;
  });
  return found.waiting;
}

/**
 * Decides what the saga waits for, naming the question; where the call may be in flight, as soon as it no longer can
 * be.
 *
 * @throws DecisionRefusedError for any other reason
 */
export function answer(
  saga: Pick<SagaHandle, 'progress' | 'decide'>,
  decision: DecisionName,
  body: object = {},
): ReturnType<SagaHandle['decide']> {
  return until(async () => {
    const { waiting } = await progressOf(saga);
    try {
      return await saga.decide(decision, { question: waiting?.id ?? 'none waits', by: 'op', ...body });
    } catch (error) {
      if (!(error instanceof DecisionRefusedError) || !error.message.includes('in flight')) throw error;
      return false;
    }
  });
}

export async function stepOf(saga: Pick<SagaHandle, 'progress'>, id: string): Promise<StepView | undefined> {
  return (await saga.progress()).steps.find((step) => step.id === id);
}

/** If a worker is killed, stopped or very busy, a question may be lost on the way to it: it is asked again. */
export function progressOf(saga: Pick<SagaHandle, 'progress'>): Promise<ProgressView> {
  return persistently(() => saga.progress());
}

/** Asks a server that dies now and then again; only for what may be asked twice. */
export async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NoConnectionError) && !(error instanceof NoWorkerError)) throw error;
      await pause(300);
    }
  }
}
