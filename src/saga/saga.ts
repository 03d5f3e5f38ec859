/**
 * The saga, as its story sees it: steps that run side by side, forward or to put something back.
 *
 * ```text
 *   together [a1 a2 a3] ── together [b] ── pivot ═╪═ together [c1 c2] ── done
 *        │                     │                  │
 *        └── undo ◀────────────┘ refused,         └ from here on nothing is undone:
 *                                cancelled          a refusal asks a person
 * ```
 *
 * A failed step waits for its siblings, so that what they made is known.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { EffectContext } from '../activities/effect';
import { definedOnly } from '../domain/defined-only';
import type { JournalKnowledge, Placement, Unwritten } from '../domain/effects';
import type { CallFailure } from '../domain/failures';
import type { Leftover } from '../domain/leftovers';
import type { OnRefusal } from '../domain/requests';
import type { Concern } from '../domain/spending';
import { attempt, throwIfCancelled } from './attempts';
import { CartMemory } from './cart-memory';
import { Deadline } from './deadline';
import type { HumanDecisions } from './human-decisions';
import { EndedBefore, placedMeanwhile, SagaFailed, type MarkCancelled } from './ends';
import { JournalMemory } from './journal-memory';
import { StepRunner, type FailurePolicy, type StepOutcome, type StepSpec } from './step-runner';
import { countUndo } from './metrics';
import type { Notices } from './notices';
import { Step, type Progress } from './progress';
import { activities, inPlace, isReset } from './activities';

/** The step that cannot be undone. */
export interface PivotStep {
  /** Stands in the progress from when it is read. */
  readonly step: Step;
  /** What a report says of what was placed, by name. */
  known: (placed: Placement<never>) => Record<string, unknown>;
}

export const lookTitle = 'Look into the journal for what was placed';

/** How to undo what a step did. */
export interface Undo extends StepSpec<unknown> {
  /** What it is where it cannot be undone, or is not to be. */
  leftover: (why: string) => Leftover;
}

export class Saga {
  readonly journal = new JournalMemory(journalCalls);
  readonly deadline = new Deadline();
  readonly cart = new CartMemory();
  /** Firewalls that this run has changed, or tried to, in all its stories: a journal that was restored lacks them. */
  readonly changed = { assigned: new Set<number>(), unassigned: new Set<number>() };
  /** As the request says it. */
  onRefusal?: OnRefusal | undefined;
  /** What a person has agreed to that stood against the pivot. */
  readonly approved: Concern[] = [];
  /** What was placed stands no more: the provider has cancelled it. */
  isCancelled = false;
  /** The pivot has happened, in whichever run. */
  isPlaced = false;
  /** The step that cannot be undone, where the story has one. */
  pivot?: PivotStep | undefined;
  /** By the run's own clock, so that no two clocks have to agree. */
  private readonly rowsSeenMs = new Map<string, number>();

  constructor(
    readonly progress: Progress,
    readonly humanDecisions: HumanDecisions,
    readonly notices: Notices,
  ) {
    this.journal.progress = progress;
    this.journal.notices = notices;
  }

  step(id: string, title: string): Step {
    return this.progress.step(id, title);
  }

  unlistedStep(id: string, title: string): Step {
    return this.progress.unlistedStep(id, title);
  }

  /** Runs one step; see {@link together}. */
  async one<T>(spec: StepSpec<T>, policy: FailurePolicy): Promise<StepOutcome<T>> {
    const [outcome] = await this.together([spec], policy);
    if (outcome === undefined) throw new Error('one spec has one outcome');
    return outcome;
  }

  /** Runs one step that cannot be left out. */
  async must<T>(spec: StepSpec<T>, policy: Omit<FailurePolicy, 'skippable'>): Promise<T> {
    const outcome = await this.one(spec, policy);
    if (outcome.skipped) throw new Error(`${spec.step.id} cannot be skipped`);
    return outcome.value;
  }

  /**
   * Runs steps side by side until each has succeeded or was left out by a person.
   *
   * @returns one outcome for each spec, in their order
   * @throws SagaFailed when the provider refuses one and `policy.refusal` names how that ends
   * @throws CancelledFailure when the saga is cancelled; calls in flight were awaited
   */
  async together<T>(specs: readonly StepSpec<T>[], policy: FailurePolicy): Promise<StepOutcome<T>[]> {
    const steps = new StepRunner<T, StepSpec<T>>(this, policy, {
      succeed: ({ step }, _, detail) => {
        step.end('done', detail);
      },
      skip: ({ step }) => {
        step.end('skipped');
      },
    });
    const outcomes = await steps.through(specs);
    throwIfCancelled();
    return outcomes;
  }

  /**
   * Undoes what was done, side by side. What cannot be undone waits for a person, who may leave it behind; it is
   * then a leftover. To be run in a scope that cannot be cancelled.
   */
  async undo(undos: readonly Undo[]): Promise<void> {
    const steps = new StepRunner<unknown, Undo>(
      this,
      { refusal: 'ask', skippable: true },
      {
        undoing: true,
        succeed: ({ step }) => {
          step.end('undone');
          countUndo('undone');
        },
        skip: ({ step, leftover }, note) => {
          step.end('skipped', 'left behind');
          this.progress.leave(leftover(note));
          countUndo('left-behind');
        },
      },
    );
    const leaveAlone = (undo: Undo) => (why: string) => {
      this.leaveAlone(undo.leftover(why));
    };
    await steps.through(undos.map((undo) => ({ ...undo, leaveAlone: leaveAlone(undo) })));
  }

  /** What cannot be undone. */
  leaveAlone(leftover: Leftover): void {
    this.progress.leave(leftover);
    countUndo('left-alone');
  }

  /** What was done is known to the journal: it is used, or undone in the end. */
  beginAgain(): void {
    this.journal.inDoubt = true;
    this.journal.giveUpOwnership();
  }

  /** The pivot has happened: what came before it now belongs to an order and is not undone any more. */
  passPivot(): void {
    if (!this.isPlaced) this.notices.tellProgress('placed', definedOnly({ step: this.pivot?.step.id }));
    this.markPlaced();
  }

  private markPlaced(): void {
    this.isPlaced = true;
    this.deadline.lift();
  }

  /** When this run first heard of a row, in milliseconds since 1970. */
  seenSinceMs(row: string): number {
    const checkedAtMs = this.rowsSeenMs.get(row) ?? Date.now();
    this.rowsSeenMs.set(row, checkedAtMs);
    return checkedAtMs;
  }

  /**
   * Before a person is asked what another run may have made needless: a run that was reset to after its begin does not
   * know what was placed since.
   *
   * @throws StateChanged where it was placed, or may have been
   */
  async throwIfPlaced(step: Step): Promise<void> {
    // Whoever is cancelled ends, and looks then.
    if (!this.pivot || this.isPlaced || CancellationScope.current().consideredCancelled) return;
    const reading = {
      step: this.unlistedStep('read-journal', lookTitle),
      act: (asked: EffectContext) => activities('read what was placed').readStanding(asked),
    };
    const { placement } = await this.must(reading, { refusal: 'ask' });
    if (placement.how !== 'none') throw placedMeanwhile(step);
  }

  /**
   * Writes that the provider has cancelled what was placed. Not cancelled with the saga: what a person has said is
   * kept.
   *
   * @param row of a pivot of unknown outcome
   * @returns false where that row stands no more: the journal is asked again
   */
  async writeCancelled({ by, note }: MarkCancelled, row?: string): Promise<boolean> {
    const step = this.unlistedStep('write-decision', 'Write into the journal that the provider has cancelled it');
    const said = { note, ...definedOnly({ by, row }) };
    const written = await CancellationScope.nonCancellable(() =>
      this.must(
        {
          step,
          act: ({ retry }) => activities('write “cancelled” into the journal').cancelPlacement({ ...said, retry }),
        },
        { refusal: 'ask' },
      ),
    );
    return written === 'cancelled';
  }

  /** The end of a saga that has placed something which the provider has cancelled since. Nothing of it is undone. */
  asCancelled(): SagaFailed {
    this.markPlaced();
    this.isCancelled = true;
    return new SagaFailed('OrderCancelled', 'the provider has cancelled what was placed, as a person says');
  }
}

/** Not cancelled with the saga: what is not written down is forgotten. */
async function writeOutcome(unwritten: Unwritten, answer: unknown): Promise<CallFailure | undefined> {
  const step = new Step('write-outcome', 'Write into the journal what came of a call');
  const settled = await CancellationScope.nonCancellable(() =>
    attempt({ step, journal: new JournalMemory(journalCalls) }, ({ retry }) =>
      activities('write what came of a call into the journal').writeOutcome({ unwritten, answer, retry }),
    ),
  );
  return settled.ok ? undefined : settled.failure;
}

/** @throws EndedBefore */
async function keepReference(
  knows: JournalKnowledge,
  { undoes, isBeside }: { undoes: boolean; isBeside: boolean },
): Promise<JournalKnowledge | CallFailure> {
  const asked = { knows, isReset: isReset(), ...(undoes ? { undoes } : {}) };
  const step = new Step('keep-reference', 'Go on under the reference');
  const kept = await CancellationScope.nonCancellable(() =>
    attempt({ step, journal: new JournalMemory(journalCalls) }, ({ retry }) =>
      inPlace('go on under the reference', { asUsual: retry !== undefined, isBeside }, (journal) =>
        journal.keepReference({ ...asked, retry }),
      ),
    ),
  );
  if (!kept.ok) return kept.failure;
  if ('ending' in kept.value) throw new EndedBefore(kept.value);
  return kept.value;
}

const journalCalls = { write: writeOutcome, keep: keepReference };
