/**
 * The one place that dares a step that cannot be undone.
 *
 * ```text
 *            ┌────────────── retry (stuck) · confirmNotPlaced ──────────────┐
 *            ▼                                                              │
 *   [ask for terms again] ── send ──answered──▶ placed ═▶ settle            │
 *                              │                                            │
 *                              ├─ Rejected ───────▶ SagaFailed, undo        │
 *                              ├─ not sent, 401 … ─▶ stuck ─────────────────┤
 *                              └─ UnknownOutcome ──▶ look ──found──▶ settle │
 *                                                     └─▶ outcome-unknown ──┘
 *                                                              └─ confirmPlaced ─▶ settle
 * ```
 *
 * An unknown outcome is never tried again by ourselves: a provider that took the order and lost the answer would take it
 * twice. While the outcome is unknown nothing is undone either.
 */
import { CancellationScope, isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import type { RunGuard } from '../activities/pivot-guard';
import type { Again } from '../activities/translate-failure';
import { describeFailure, type CallFailure, type SagaFailureName } from '../domain/failures';
import { startedOnceMemo } from '../domain/identity';
import { attempt } from './attempts';
import type { Step } from './progress';
import { stuckQuestion, type Correction, type Question } from './questions';
import { SagaFailed, type Saga } from './saga';

export interface Pivot<T> {
  step: Step;
  /** What is placed, for the question: "the order", "the switch". */
  noun: string;
  /** By what it is found in the provider's control panel: "account AB-1, label “web-1”". */
  foundBy: string;
  act: (guard: RunGuard, again: Again | undefined) => Promise<T>;
  refusal: SagaFailureName;
  correction?: Correction;
  /** Runs before it is sent again after a person's decision: terms may have moved meanwhile. */
  beforeAgain?: () => Promise<void>;
  /** Looks whether it happened, without a person; undefined where that cannot be told. */
  look?: () => Promise<number[] | undefined>;
  /**
   * Runs once it is known whether an earlier run placed it: what belongs to no order is left behind by a run that cannot
   * undo any more. Not cancelled with the saga.
   */
  tidyUp?: (placed: boolean) => Promise<void>;
  /** Servers that it brings, where it brings any: as many ids fit `confirmPlaced`. */
  servers?: number;
}

/** How it is known that the pivot happened. Only an answer brings a value. */
export type Placement<T> =
  { how: 'answered'; value: T } | { how: 'found' | 'confirmed'; vmObjectIds?: number[] | undefined };

export async function placePivot<T>(saga: Saga, pivot: Pivot<T>): Promise<Placement<T>> {
  const { step } = pivot;
  let clearedRunId: string | undefined;
  for (;;) {
    const { firstExecutionRunId: firstRunId, memo } = workflowInfo();
    const guard = {
      firstRunId,
      ...(memo?.[startedOnceMemo] === true ? { startedOnce: true } : {}),
      ...(clearedRunId === undefined ? {} : { clearedRunId }),
    };
    const settled = await attempt({ step, daring: true }, (again) => pivot.act(guard, again));
    if (settled.ok) {
      step.end('done');
      saga.settle();
      saga.earlierRunsSettled = true;
      return { how: 'answered', value: settled.value };
    }
    const { failure } = settled;
    // The guard lets a call out only where no earlier run can have placed it.
    if (failure.endpoint !== undefined) saga.earlierRunsSettled = true;
    if (failure.failure === 'Rejected') {
      step.end('failed', describeFailure(failure));
      throw new SagaFailed(pivot.refusal, `${step.title}: ${describeFailure(failure)}`);
    }
    if (failure.failure === 'UnknownOutcome') {
      const placement = await settleUnknown(saga, pivot, failure);
      if (placement) return placement;
      // For the run that was refused and no other: a reset sends a decision again, to a run of which it was not made.
      clearedRunId = failure.refused?.runId ?? clearedRunId;
    } else {
      step.end('stuck', describeFailure(failure));
      const { correction } = pivot;
      const decision = await saga.desk.ask(
        stuckQuestion([{ plan: pivot, failure }], { undoing: false, skippable: false, correction }),
      );
      if (decision.decision === 'retry' && decision.correction) correction?.apply(decision.correction);
    }
    await pivot.beforeAgain?.();
  }
}

/** @returns how it is known to have happened; undefined when a person says that it has not */
async function settleUnknown<T>(
  saga: Saga,
  pivot: Pivot<T>,
  failure: CallFailure,
): Promise<Exclude<Placement<T>, { how: 'answered' }> | undefined> {
  const { step, noun } = pivot;
  const unknown = `nobody knows whether ${noun} was placed`;
  step.end('stuck', describeFailure(failure));
  saga.leaveAlone(unknown);
  // A call that was lost may have been refused as well: in a run that came from a reset it never left.
  const mayBeLater =
    failure.refused !== undefined || (failure.endpoint === undefined && patched('tidy-up-after-lost-calls'));
  const tidyUp = async (placed: boolean) => {
    if (mayBeLater) await CancellationScope.nonCancellable(async () => pivot.tidyUp?.(placed));
  };
  const settlePlaced = async (detail: string) => {
    step.end('done', detail);
    saga.settle();
    saga.earlierRunsSettled = true;
    await tidyUp(true);
  };
  try {
    const found = await pivot.look?.();
    if (found !== undefined) {
      await settlePlaced('found by looking');
      return { how: 'found', vmObjectIds: found };
    }
    const decision = await saga.desk.ask(unknownQuestion(pivot, failure));
    if (decision.decision === 'confirmPlaced') {
      await settlePlaced('confirmed by a person');
      return { how: 'confirmed', vmObjectIds: decision.vmObjectIds };
    }
  } catch (error) {
    if (isCancellation(error)) {
      step.end('failed', unknown);
      saga.progress.leftovers.push({ kind: 'placement-unknown', step: step.id, why: failure.message });
    }
    throw error;
  }
  saga.touchAgain();
  saga.earlierRunsSettled = true;
  await tidyUp(false);
  return undefined;
}

function unknownQuestion<T>({ step, noun, foundBy, servers }: Pivot<T>, failure: CallFailure): Question {
  const where = failure.refused
    ? `An earlier run of this reference may have placed ${noun}`
    : `It is not known whether the provider placed ${noun}`;
  return {
    kind: 'outcome-unknown',
    step: step.id,
    question: `${where}. Look in the provider’s control panel (${foundBy}): is it there?`,
    choices: ['confirmPlaced', 'confirmNotPlaced'],
    lastFailure: failure,
    objection: (decision) => {
      if (decision.decision !== 'confirmPlaced' || decision.vmObjectIds === undefined) return undefined;
      if (servers === undefined) return 'vmObjectIds: this step brings no servers; leave it out';
      return miscounted(decision.vmObjectIds, servers);
    },
  };
}

/** A sentence where the ids are not as many as the servers that were ordered. */
export function miscounted(vmObjectIds: readonly number[], servers: number): string | undefined {
  if (vmObjectIds.length === servers) return undefined;
  return `vmObjectIds: names ${String(vmObjectIds.length)} servers, but ${String(servers)} were ordered`;
}
