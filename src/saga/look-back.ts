/**
 * A saga that ends before its story is through looks into the journal first: what was placed, by whichever run, is not
 * undone, and stands in the report.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { EffectContext } from '../activities/effect';
import { definedOnly } from '../domain/defined-only';
import type { Standing } from '../activities/journal';
import type { Placement } from '../domain/effects';
import { attempt } from './attempts';
import { inWords, Step } from './progress';
import type { Saga } from './saga';
import { activities, inPlace } from './activities';

/** The step of a story that cannot be undone. */
export interface PivotStep {
  id: string;
  title: string;
  /** What a report says of what was placed, by name. */
  known: (placed: Placement<unknown>) => Record<string, unknown>;
}

function look({ journal }: Saga, asked: EffectContext): Promise<Standing> {
  return activities('read what was placed').readStanding({ ...asked, ...journal.toCompare });
}

/** Nothing that was called before is meant after this, in whichever run. */
async function lookAndOwn({ journal }: Saga, { knows, retry }: EffectContext): Promise<Standing> {
  const asked = { ...definedOnly({ knows, retry }), ...journal.toCompare, owns: true };
  const standing = await inPlace('read what was placed', retry !== undefined, (calls) => calls.readStanding(asked));
  if (standing.knows !== undefined) journal.own(standing.knows);
  return standing;
}

/** What was placed, or may have been, by whichever run. */
export async function placementOf(saga: Saga): Promise<Standing['placement']> {
  const { placement } = await saga.must(
    {
      step: saga.quietStep('read-journal', 'Look into the journal for what was placed'),
      act: (asked) => look(saga, asked),
    },
    { refusal: 'ask' },
  );
  return placement;
}

/**
 * Looked at where a person would be asked, or the saga would end, over what another run may have placed already: a run
 * that was reset to after it took its reference does not know of that.
 *
 * @returns undefined where it was not placed
 */
export async function placedBefore(saga: Saga): Promise<Exclude<Standing['placement'], { how: 'none' }> | undefined> {
  // Whoever is cancelled ends, and looks then.
  if (CancellationScope.current().consideredCancelled) return undefined;
  const placement = await placementOf(saga);
  if (placement.how === 'none') return undefined;
  saga.journal.inDoubt = true;
  return placement;
}

/**
 * Asks nobody.
 *
 * @returns undefined where the journal cannot tell now
 */
export async function knowsNothingPlaced(saga: Saga, pivot: PivotStep | undefined): Promise<boolean | undefined> {
  if (pivot === undefined) return true;
  const step = new Step('read-journal', 'Look into the journal for what was placed');
  const looked = await attempt({ step, journal: saga.journal }, (asked) => look(saga, asked));
  return looked.ok ? looked.value.placement.how === 'none' : undefined;
}

/**
 * To be run before anything is undone, in a scope that cannot be cancelled.
 *
 * @returns undefined where a person went on without the journal
 */
export async function lookBack(saga: Saga, pivot: PivotStep): Promise<Standing | undefined> {
  const { progress } = saga;
  const looked = await saga.one(
    {
      step: saga.quietStep('read-journal', 'Look into the journal for what was placed'),
      act: (asked) => lookAndOwn(saga, asked),
    },
    { refusal: 'ask', skippable: true },
  );
  const standing = looked.skipped ? undefined : looked.value;
  if (standing) saga.journal.heard(standing);
  const placement = standing?.placement ?? { how: 'unread' as const };
  if (placement.how === 'none') return standing;
  const step = saga.step(pivot.id, pivot.title);
  if (placement.how === 'placed') {
    const { at, run, placed, cancelled = false } = placement;
    progress.learn(pivot.known(placed));
    if (step.status !== 'done') step.end('done', `from the journal: ${inWords(at)}, run ${run}`);
    if (cancelled) step.say('it was placed, and the provider has cancelled it');
    saga.passPivot();
    saga.isCancelled ||= cancelled;
    return standing;
  }
  // This run knows it, whatever the journal cannot tell now.
  if (saga.isPlaced) return standing;
  const why = whyUnknown(placement);
  step.end('failed', why);
  progress.leave({ kind: 'placement-unknown', step: pivot.id, why });
  saga.suspendUndo(why);
  return standing;
}

function whyUnknown(placement: Extract<Standing['placement'], { how: 'unknown' }> | { how: 'unread' }): string {
  if (placement.how === 'unread') return 'the journal could not be read, and a person went on without it';
  const { at, run, putBack } = placement;
  const what = putBack ? 'the journal was put back to an older copy' : `it was sent on ${inWords(at)} by run ${run}`;
  return `${what}, and nobody has said whether it was placed`;
}
