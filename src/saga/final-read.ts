/**
 * Looks into the journal for what was placed, by whichever run, before a saga ends without being through.
 */
import type { EffectContext } from '../activities/effect';
import type { PlacementFound, ReferenceState } from '../activities/journal';
import type { OpenItem, Placement } from '../domain/effects';
import { inWords } from '../domain/times';
import { activities, isReset } from './activities';
import { attempt, type Act } from './attempts';
import { EndedBefore, ReadAgain } from './control-flow';
import { Step } from './shown/progress';
import { lookTitle, type Saga } from './saga';
import type { StepSpec } from './steps';

/** Asks nobody. @returns undefined where the journal cannot tell now */
export async function knowsNothingPlaced(saga: Saga): Promise<boolean | undefined> {
  if (!saga.pivot) return true;
  const step = new Step('read-journal', lookTitle);
  const { journal } = saga;
  try {
    const act: Act<ReferenceState> = (asked) =>
      activities('read what was placed').readState({ ...asked, ...journal.toCompare });
    const looked = await attempt({ step, act }, saga);
    return looked.ok ? looked.value.placement.how === 'none' : undefined;
  } catch (error) {
    // The saga hears of it with its next call.
    if (error instanceof EndedBefore || error instanceof ReadAgain) return undefined;
    throw error;
  }
}

/**
 * Nothing that was called before is intended after this, in whichever run: what is undone then stays undone. To be run in a
 * scope that cannot be cancelled.
 *
 * @param added by this run, as it knows
 * @returns undefined where a person went on without the journal
 * @throws EndedBefore
 */
export async function readFinally(saga: Saga, added?: OpenItem[]): Promise<ReferenceState | undefined> {
  const looked = await saga.one(finalRead(saga, added));
  if (looked.skipped) return undefined;
  saga.journal.isReferenceOurs ||= looked.value.isAnothers !== true;
  return looked.value;
}

/** The look by which a run begins that does nothing more but undo. */
export function finalRead(saga: Saga, added: OpenItem[] = []): StepSpec<ReferenceState> {
  const { journal } = saga;
  journal.mustRenew = false;
  const act = async ({ cursor, retry }: EffectContext): Promise<ReferenceState> => {
    const asked = { cursor, retry, ...journal.toCompare, added, owns: { isReset: isReset() } };
    const standing = await activities('read what was placed').readState(asked);
    if (standing.ended !== undefined) throw new EndedBefore(standing.ended);
    if (standing.cursor !== undefined) journal.acquired(standing.cursor);
    return standing;
  };
  return { step: saga.unlistedStep('read-journal', lookTitle), act };
}

/** The report names what was placed, by whichever run; the leftovers what may have been. */
export function reportPlacement(
  saga: Saga,
  pivot: NonNullable<Saga['pivot']>,
  standing: ReferenceState | undefined,
): void {
  const { progress } = saga;
  const placement = standing?.placement ?? { how: 'unread' as const };
  if (placement.how === 'none') return;
  const step = pivot.step();
  if (placement.how === 'placed') {
    progress.addFacts(pivot.facts(placement.placed as Placement<never>));
    if (step.status !== 'done') step.end('done', howKnown(placement));
    if (placement.cancelled) step.setDetail('it was placed, and the provider has cancelled it');
    saga.passPivot();
    saga.isCancelled ||= placement.cancelled ?? false;
    return;
  }
  // This run knows it, whatever the journal cannot tell now.
  if (saga.isPlaced) return;
  const why = whyUnknown(placement);
  step.end('failed', why);
  if (progress.leftovers.some(({ kind }) => kind === 'placement-unknown')) return;
  progress.addLeftovers({ kind: 'placement-unknown', step: step.id, why });
}

export const seenHow = { found: 'found by looking', confirmed: 'confirmed by a person' };

/** From where it is known that it was placed. */
export function howKnown({ placed, at, run }: Extract<PlacementFound, { how: 'placed' }>): string {
  return placed.how === 'answered' ? `from the journal: ${inWords(at)}, run ${run}` : seenHow[placed.how];
}

function whyUnknown(placement: Extract<PlacementFound, { how: 'unknown' }> | { how: 'unread' }): string {
  if (placement.how === 'unread') return 'the journal could not be read, and a person went on without it';
  const { at, run, restored } = placement;
  const what = restored ? 'the journal was restored from an older copy' : `it was sent on ${inWords(at)} by run ${run}`;
  return `${what}, and nobody has said whether it was placed`;
}
