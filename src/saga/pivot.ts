/**
 * The one place where a step is done that cannot be undone.
 *
 * ```text
 *            ┌──────── retry (stuck) · confirmNotPlaced, in the journal ────────┐
 *            ▼                                                                  │
 *   [ask for terms again] ── attempt ──answered, or recorded──▶ placed ═▶ settle│
 *                              │                                                │
 *                              ├─ Rejected ───────▶ SagaFailed, undo; or asked ─┤
 *                              ├─ TakenBack ──────▶ what it rests on, again     │
 *                              ├─ TermsMissing ───▶ [ask for terms], attempt
 *                              ├─ NeedsApproval ──▶ duplicate, over-limit ──approve: attempt; reject: SagaFailed, undo
 *                              ├─ not sent, 401 … ─▶ stuck ─────────────────────┤
 *                              └─ UnknownOutcome ──▶ look ──found──▶ settle     │
 *                                  (of one row)       └─▶ outcome-unknown ──────┘
 *                                                              └─ confirmPlaced, in the journal ─▶ settle
 * ```
 *
 * Whether it may be sent is not decided here: the journal refuses what was sent before, in whichever run. Here a person is asked
 * about the row that the journal names, and the answer is written into that row.
 */
import type { PivotNote, Placement } from '../domain/effects';
import { describeFailure, type CallFailure, type SagaFailureName } from '../domain/failures';
import type { ApprovalRule } from '../domain/requests';
import { askToRetry, questionOfRefusal } from './ask-to-retry';
import { attempt, type Act } from './attempts';
import { askAboutPlacement, writePlaced, type Confirming, type Doubt } from './doubt';
import { askAboutConcern } from './concern';
import { placementOf } from './look-back';
import type { Step } from './progress';
import { stuckQuestion, type Corrections } from './questions';
import { CorrectedSince, PlacedBefore, SagaFailed, TakenBack, TurnLost } from './ends';
import type { Saga } from './saga';

export interface Pivot<T> {
  step: Step;
  /** What is placed, for the question: "the order", "the switch". */
  noun: string;
  /** What is to be known of it again, as it is sent now. */
  note: () => PivotNote;
  act: Act<Placement<T>>;
  refusal: SagaFailureName;
  /** The request's: how long whoever is asked has. */
  approval: ApprovalRule | undefined;
  corrections?: Corrections;
  /** How many corrections of the request are in it. */
  timesCorrected: () => number;
  /** Runs before each sending, also between automatic retries. */
  beforeSending?: () => Promise<void>;
  /** It is not sent after this time. */
  quoteUntil?: () => string | undefined;
  /** Whether this run has come to terms. Where not, the pivot only tells what the journal knows of it, and is not sent. */
  isAgreed: () => boolean;
  /** Comes to terms, before it is sent again: where there were none, or after a person's decision, since they may have moved. */
  beforeAgain: () => Promise<void>;
  /** Looks whether it happened, without a person; undefined where that cannot be told. */
  look?: () => Promise<number[] | undefined>;
  /** What a person may say of it who confirms it. */
  confirming?: Confirming | undefined;
}

/**
 * @throws SagaFailed where the provider refuses it, and nobody is asked; TakenBack where what it rests on has to be done again;
 * CorrectedSince where another request is wanted by now
 */
export async function placePivot<T>(saga: Saga, pivot: Pivot<T>): Promise<Placement<T>> {
  const { step } = pivot;
  /** When this run first heard of a row: by the run's own clock, so that no two clocks have to agree. */
  const firstSeenMs = new Map<string, number>();
  for (;;) {
    const { deadline, journal } = saga;
    const before = pivot.beforeSending;
    const settled = await attempt({ step, journal, deadline, ...(before ? { before } : {}) }, (asked) =>
      deadline.whileInFlight(() => {
        const quoteUntil = pivot.quoteUntil?.();
        const corrections = pivot.timesCorrected();
        return pivot.act({
          ...asked,
          note: pivot.note(),
          ...(quoteUntil ? { quoteUntil } : {}),
          ...(corrections > 0 ? { corrections } : {}),
          ...(pivot.isAgreed() ? {} : { recallOnly: true }),
          ...(saga.approved.length > 0 ? { approved: [...saga.approved] } : {}),
        });
      }),
    );
    if (settled.ok) {
      step.end('done', settled.detail);
      saga.passPivot();
      return settled.value;
    }
    const { failure } = settled;
    if (failure.failure === 'TakenBack') throw new TakenBack({ step }, failure);
    if (failure.failure === 'TurnLost') throw new TurnLost(failure);
    if (failure.failure === 'CorrectedSince') throw new CorrectedSince(failure);
    const ofRefusal =
      failure.failure === 'Rejected'
        ? questionOfRefusal(saga.onRefusal, [{ spec: pivot, failure }], pivot.corrections)
        : undefined;
    if (failure.failure === 'Rejected' && !ofRefusal) {
      step.end('failed', describeFailure(failure));
      throw new SagaFailed(pivot.refusal, `${step.title}: ${describeFailure(failure)}`);
    }
    if (failure.failure === 'DeadlinePassed') {
      step.end('failed', describeFailure(failure));
      throw new SagaFailed('DeadlinePassed', `${step.title}: ${failure.message}`);
    }
    step.end('stuck', describeFailure(failure));
    const { doubt, concern } = failure;
    if (concern) {
      await askAboutConcern(saga, pivot, concern);
      continue;
    }
    if (doubt) {
      const seenMs = firstSeenMs.get(doubt.row) ?? Date.now();
      firstSeenMs.set(doubt.row, seenMs);
      const settled = await settleDoubt(saga, pivot, { ...doubt, deniableMs: seenMs + doubt.inAirMs }, failure);
      if (settled) return settled;
    } else if (failure.failure !== 'TermsMissing') {
      const correction = pivot.corrections?.stuck;
      await askToRetry(
        saga.humanDecisions,
        ofRefusal ?? stuckQuestion([{ spec: pivot, failure }], { undoing: false, skippable: false, correction }),
      ).catch(ifPlacedBefore);
    }
    await endIfPassed(saga, step);
    await pivot.beforeAgain();
  }
}

/** Nothing was corrected: the journal says what was placed to the next attempt. */
function ifPlacedBefore(error: unknown): void {
  if (!(error instanceof PlacedBefore)) throw error;
}

/** It may not be sent any more. Where it was placed, or may have been, the journal says that to the next attempt. */
async function endIfPassed(saga: Saga, step: Step): Promise<void> {
  const { whyPassed } = saga.deadline;
  if (whyPassed === undefined || (await placementOf(saga)).how !== 'none') return;
  step.end('failed', whyPassed);
  throw new SagaFailed('DeadlinePassed', whyPassed);
}

async function settleDoubt<T>(
  saga: Saga,
  pivot: Pivot<T>,
  doubt: Doubt,
  failure: CallFailure,
): Promise<Placement<T> | undefined> {
  const { foundBy } = pivot.note();
  // A look goes by what this run would send now: what was sent may have been something else.
  const found = doubt.foundBy === undefined || doubt.foundBy === foundBy ? await pivot.look?.() : undefined;
  const placed =
    found === undefined
      ? await askAboutPlacement(saga, { ...pivot, foundBy }, doubt, failure)
      : await writePlaced(saga, doubt.row, { how: 'found', vmObjectIds: found });
  if (placed === undefined) return undefined;
  pivot.step.end('done', placed.how === 'found' ? 'found by looking' : 'confirmed by a person');
  saga.passPivot();
  return placed;
}
