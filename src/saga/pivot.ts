/**
 * The one place where a step is done that cannot be undone.
 *
 * ```text
 *            ┌──────── retry (stuck) · confirmNotPlaced, in the journal ────────┐
 *            ▼                                                                  │
 *   [ask for terms again] ── attempt ──answered, or recorded──▶ placed ═▶ settle│
 *                              │                                                │
 *                              ├─ Rejected ───────▶ SagaFailed, undo; or asked ─┤
 *                              ├─ TermsMissing ───▶ [ask for terms], attempt
 *                              ├─ NeedsApproval ──▶ duplicate, over-limit ──approve: attempt; reject: SagaFailed, undo
 *                              ├─ not sent, 401 … ─▶ stuck ─────────────────────┤
 *                              └─ UnknownOutcome ──▶ look ──found──▶ settle     │
 *                                  (of one row)       └─▶ outcome-unknown ──────┘
 *                                                              ├─ confirmPlaced, in the journal ─▶ settle
 *                                                              └─ markCancelled, in the journal ─▶ SagaFailed
 * ```
 *
 * Whether it may be sent is not decided here: the journal refuses what was sent before, in whichever run. Here a person
 * is asked about the row that the journal names, and the answer is written into that row.
 */
import type { PivotNote, Placement } from '../domain/effects';
import { definedOnly } from '../domain/defined-only';
import type { CallFailure, SagaFailureName } from '../domain/failures';
import type { ApprovalRule } from '../domain/requests';
import type { Act } from './attempts';
import { askAboutPlacement, untilSettled, writePlaced, type Confirming, type Doubt, type Seen } from './doubt';
import { askAboutConcern } from './concern';
import { placementOf } from './look-back';
import { SagaFailed } from './ends';
import type { Step } from './progress';
import type { Corrections } from './questions';
import type { Saga } from './saga';
import { StepRunner, type StepSpec } from './step-runner';

export interface Pivot<T> {
  step: Step;
  /** What is placed, for the question: "the order", "the switch". */
  noun: string;
  /** What is to be known of it again, as it is sent now. */
  note: () => PivotNote;
  act: Act<Placement<T>>;
  refusal: SagaFailureName;
  /** The request's rule: how long a person has to answer. */
  approval: ApprovalRule | undefined;
  corrections?: Corrections;
  /** How many corrections of the request are in it. */
  timesCorrected: () => number;
  /** Runs before each sending, also between automatic retries. */
  beforeSending?: () => Promise<void>;
  /** It is not sent after this time. */
  quoteUntil?: () => string | undefined;
  /**
   * Whether this run has come to terms. Where it has not, the pivot only reads what the journal knows of it, and is not
   * sent.
   */
  isAgreed: () => boolean;
  /**
   * Comes to terms, before it is sent again: where there were none, or after a person's decision, since they may have
   * moved.
   */
  beforeAgain: () => Promise<void>;
  /** Looks whether it happened, without a person. */
  look?: () => Promise<Looked>;
  /** What a person may say of it who confirms it. */
  confirming?: Confirming | undefined;
}

/** What a look has found; undefined where it has not found it, `nobody` where no look can show that. */
export type Looked = number[] | 'nobody' | undefined;

/**
 * @throws SagaFailed where the provider refuses it, and nobody is asked; StateChanged where what it rests on has to be
 * done again, or another request is wanted by now
 */
export async function placePivot<T>(saga: Saga, pivot: Pivot<T>): Promise<Placement<T>> {
  const { step, refusal, beforeSending } = pivot;
  /** When this run first heard of a row: by the run's own clock, so that no two clocks have to agree. */
  const firstSeenMs = new Map<string, number>();
  const beforeAgain = async () => {
    await endIfPassed(saga, step);
    await pivot.beforeAgain();
  };
  const settle = async (failure: CallFailure) => {
    const { doubt, concern } = failure;
    if (concern) {
      await askAboutConcern(saga, pivot, concern);
      return 'again';
    }
    if (doubt) {
      const seenMs = firstSeenMs.get(doubt.row) ?? Date.now();
      firstSeenMs.set(doubt.row, seenMs);
      const placed = await settleDoubt(saga, pivot, { ...doubt, settledMs: seenMs + doubt.inAirMs }, failure);
      if (placed === 'cancelled') throw saga.asCancelled();
      if (placed)
        return { value: placed, detail: placed.how === 'found' ? 'found by looking' : 'confirmed by a person' };
    } else if (failure.failure !== 'TermsMissing') return undefined;
    await beforeAgain();
    return 'again';
  };
  const runner = new StepRunner<Placement<T>, StepSpec<Placement<T>>>(
    saga,
    { refusal, ...definedOnly({ corrections: pivot.corrections }) },
    {
      succeed: (_, __, detail) => {
        step.end('done', detail);
        saga.passPivot();
      },
      skip: () => {
        throw new Error('a pivot cannot be left out');
      },
      pivot: { settle, beforeAgain },
    },
  );
  const [outcome] = await runner.through([{ step, act: actOf(saga, pivot), before: beforeSending }]);
  if (outcome?.skipped !== false) throw new Error('a pivot cannot be left out');
  return outcome.value;
}

function actOf<T>(saga: Saga, pivot: Pivot<T>): Act<Placement<T>> {
  return (context) =>
    saga.deadline.whileInFlight(() => {
      const corrections = pivot.timesCorrected();
      return pivot.act({
        ...context,
        note: pivot.note(),
        ...definedOnly({ quoteUntil: pivot.quoteUntil?.() }),
        ...(corrections > 0 ? { corrections } : {}),
        ...(pivot.isAgreed() ? {} : { recallOnly: true }),
        ...(saga.approved.length > 0 ? { approved: [...saga.approved] } : {}),
      });
    });
}

/** It may not be sent any more. Where it was placed, or may have been, the journal says that to the next attempt. */
async function endIfPassed(saga: Saga, step: Step): Promise<void> {
  const { whyPassed } = saga.deadline;
  if (whyPassed === undefined || (await placementOf(saga)).how !== 'none') return;
  step.end('failed', whyPassed);
  throw new SagaFailed('DeadlinePassed', whyPassed);
}

/** @returns undefined where the journal is to be asked again */
async function settleDoubt<T>(
  saga: Saga,
  pivot: Pivot<T>,
  doubt: Doubt,
  failure: CallFailure,
): Promise<Seen | 'cancelled' | undefined> {
  const { foundBy } = pivot.note();
  const doubtful = { ...pivot, foundBy };
  // A look goes by what this run would send now: what was sent may have been something else.
  const look = doubt.foundBy === undefined || doubt.foundBy === foundBy ? pivot.look : undefined;
  const early = look === undefined ? 'nobody' : await look();
  const waited = !Array.isArray(early) && (await untilSettled(saga, doubtful, doubt, failure));
  const found = waited && early !== 'nobody' ? await look?.() : early;
  return Array.isArray(found)
    ? writePlaced(saga, doubt.row, { how: 'found', vmObjectIds: found })
    : askAboutPlacement(saga, doubtful, doubt, failure);
}
