/**
 * The one place where a step is done that cannot be undone.
 *
 * ```text
 *            ┌──────── retry (stuck) · confirmNotPlaced, in the journal ────────┐
 *            ▼                                                                  │
 *   prepare ── attempt ──answered, or recorded──▶ placed                        │
 *                 │                                                             │
 *                 ├─ Rejected ───────▶ SagaFailed, undo; or asked ──────────────┤
 *                 ├─ GuardViolated ──▶ SagaFailed, undo                         │
 *                 ├─ NeedsApproval ──▶ asked ──reject: SagaFailed, undo; approve┤
 *                 ├─ not sent, 401 … ─▶ stuck ──────────────────────────────────┤
 *                 └─ UnknownOutcome ──▶ look ──found──▶ placed                  │
 *                     (of one row)       └─▶ outcome-unknown ───────────────────┘
 *                                                 ├─ confirmPlaced, in the journal ─▶ placed
 *                                                 └─ markCancelled, in the journal ─▶ SagaFailed
 * ```
 *
 * The journal decides whether it may be sent, and refuses what was sent before, in whichever run. Here a person
 * is asked about the row that the journal names, and the answer is written into that row.
 */
import type { PlacementFound } from '../activities/journal';
import type { PivotNote, Placement } from '../domain/effects';
import { whyInDoubt, type CallFailure, type PivotDoubt } from '../domain/failures';
import { askForReview } from './people/approval';
import type { Act } from './attempts';
import { askAboutPlacement, firstSeen, untilSettled, writeFound, type Seen } from './people/in-doubt';
import { howKnown, seenHow } from './final-read';
import { SagaFailed } from './control-flow';
import type { Saga } from './saga';
import type { Pivot } from './steps';

/** It was placed, by whichever run. */
export interface Placed<P> {
  placement: Placement<P>;
  /** As it was sent. */
  note?: PivotNote | undefined;
  /** Those that an order of an earlier run has named. */
  cartItems?: readonly number[] | undefined;
}

/**
 * Its outcome in earlier runs is settled first: no saga meets a placed order in its middle.
 *
 * @returns undefined where it was not placed; `again` where the journal has to be read again
 */
export async function resolvePivot<T>(
  saga: Saga,
  pivot: Pivot<T>,
  found: PlacementFound,
): Promise<Placed<T> | 'again' | undefined> {
  if (found.how === 'none') return undefined;
  const step = pivot.step();
  const { note, cartItems } = found;
  if (found.how === 'placed') {
    if (found.cancelled) throw new SagaFailed('OrderCancelled', 'the provider has cancelled it, as a person said');
    step.end('done', howKnown(found));
    saga.passPivot();
    return { placement: found.placed as Placement<T>, note, cartItems };
  }
  const doubt = { ...found, foundBy: note?.foundBy };
  const failure = { failure: 'UnknownOutcome', message: whyInDoubt(found) } as const;
  const placement = await resolveInDoubt(saga, pivot, doubt, failure, { readsAgain: true });
  if (placement === undefined) return 'again';
  step.end('done', seenHow[placement.how]);
  saga.passPivot();
  return { placement, note, cartItems };
}

/**
 * @param prepare what comes before it; called again before it is tried again, since terms may have moved
 * @throws SagaFailed where the provider refuses it, and nobody is asked; StateChanged where what it rests on has to be
 * done again, or another request is wanted by now
 */
export async function place<T>(saga: Saga, pivot: Pivot<T>, prepare: () => Promise<void>): Promise<Placed<T>> {
  await prepare();
  const step = pivot.step();
  const beforeAgain = async () => {
    const { whyPassed } = saga.deadline;
    if (whyPassed !== undefined) {
      step.end('failed', whyPassed);
      throw new SagaFailed('DeadlinePassed', whyPassed);
    }
    await prepare();
  };
  const settleFailure = async (failure: CallFailure) => {
    const { doubt, concern } = failure;
    if (concern) await askForReview(saga, { ...pivot, step }, concern);
    else if (doubt) {
      const placed = await resolveInDoubt(saga, pivot, doubt, failure);
      if (placed) return { value: placed, detail: seenHow[placed.how] };
    } else return undefined;
    await beforeAgain();
    return 'again';
  };
  const act: Act<Placement<T>> = (context) =>
    saga.deadline.whileInFlight(() => {
      const times = pivot.timesCorrected();
      const corrections = times > 0 ? times : undefined;
      return pivot.act({ ...context, note: pivot.note(), quoteUntil: pivot.quoteUntil?.(), corrections });
    });
  const placement = await saga.must<Placement<T>>(
    // The journal refuses to send what may have been placed.
    { step, act, pivot: { handleFailure: settleFailure, beforeAgain }, before: pivot.beforeSending, doubts: () => 0 },
    { refusal: 'OrderRejected', corrections: pivot.corrections },
  );
  return { placement, note: pivot.note() };
}

/** @returns undefined where the journal is to be asked again; with `readsAgain` also where it had to wait */
async function resolveInDoubt<T>(
  saga: Saga,
  pivot: Pivot<T>,
  doubt: PivotDoubt,
  failure: CallFailure,
  { readsAgain = false } = {},
): Promise<Seen | undefined> {
  // Now, and not after the look.
  firstSeen(saga, doubt);
  const { foundBy } = pivot.note();
  const doubtful = { ...pivot, step: pivot.step(), foundBy };
  // A look goes by what this run would send now: what was sent may have been something else.
  const look = doubt.foundBy === undefined || doubt.foundBy === foundBy ? pivot.look : undefined;
  const early = look === undefined ? 'nobody' : await look();
  const waited = !Array.isArray(early) && (await untilSettled(saga, doubtful, doubt, failure));
  const found = waited && early !== 'nobody' ? await look?.() : early;
  if (Array.isArray(found)) return writeFound(saga, doubt.row, found);
  if (waited && readsAgain) return undefined;
  const looking = early === 'nobody' ? undefined : look;
  const placed = await askAboutPlacement(saga, doubtful, doubt, failure, looking);
  if (placed === 'cancelled') throw saga.asCancelled();
  return placed;
}
