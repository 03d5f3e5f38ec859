/**
 * The saga: steps that can be undone, remembered in a stack; then, past the pivot, steps that only go forward.
 *
 * ```text
 *   together [a1 a2 a3] ── together [b] ── pivot ═╪═ together [c1 c2] ── done
 *        │                     │                  │
 *        └── undo ◀────────────┘ refused,         └ from here on nothing is undone:
 *                                cancelled          a refusal asks a person
 * ```
 *
 * Steps of one level run side by side. A failed one waits for its siblings, so that what they made is known; then the
 * levels are undone backwards, each level side by side.
 */
import { CancellationScope } from '@temporalio/workflow';
import { definedOnly } from '../domain/defined-only';
import type { JournalKnowledge, Unwritten } from '../domain/effects';
import type { CallFailure } from '../domain/failures';
import type { Leftover } from '../domain/leftovers';
import type { OnRefusal } from '../domain/requests';
import type { Concern } from '../domain/spending';
import { attempt, throwIfCancelled } from './attempts';
import { Deadline } from './deadline';
import type { HumanDecisions } from './human-decisions';
import { SagaFailed, type MarkCancelled } from './ends';
import { JournalMemory } from './journal-memory';
import { StepRunner, type FailurePolicy, type StepOutcome, type StepSpec, type Undo } from './step-runner';
import { countUndo } from './metrics';
import type { Notices } from './notices';
import { Step, type Progress } from './progress';
import { activities, inPlace } from './activities';

interface ArmedUndo extends Undo {
  step: Step;
}

type UndoSpec = StepSpec<unknown> & Pick<Undo, 'leftover'>;

/**
 * ```text
 *   undoable ──passPivot──▶ placed        what was done belongs to an order
 *       └──suspendUndo──▶ suspended       nobody knows whether the pivot happened: undoing under an order could harm it
 *                             └──passPivot──▶ placed
 * ```
 */
type Mode = { name: 'undoable' } | { name: 'suspended'; why: string } | { name: 'placed' };

export class Saga {
  private readonly levels: ArmedUndo[][] = [];
  readonly journal = new JournalMemory(journalCalls);
  readonly deadline = new Deadline();
  /** As the request says it. */
  onRefusal?: OnRefusal | undefined;
  /** What a person has agreed to that stood against the pivot. */
  readonly approved: Concern[] = [];
  /** What was placed stands no more: the provider has cancelled it. */
  isCancelled = false;
  private mode: Mode = { name: 'undoable' };

  constructor(
    readonly progress: Progress,
    readonly humanDecisions: HumanDecisions,
    readonly notices: Notices,
  ) {
    humanDecisions.undoes = () => this.describeUndo();
    this.journal.progress = progress;
  }

  /** What its end without success would put back. */
  private describeUndo(): string {
    if (this.mode.name === 'placed') return 'What was placed stays, and is paid for.';
    const count = (acts: boolean) =>
      this.levels.flat().filter(({ act }) => (act !== undefined) === acts && this.mode.name === 'undoable').length;
    const [back, left] = [count(true), count(false)];
    const puts = back === 0 ? 'Nothing has to be put back by this run' : `It puts back ${back} of its steps`;
    return left === 0 ? `${puts}.` : `${puts}, and leaves ${left} behind, which its report lists.`;
  }

  step(id: string, title: string): Step {
    return this.progress.step(id, title);
  }

  quietStep(id: string, title: string): Step {
    return this.progress.quietStep(id, title);
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
    const level: ArmedUndo[] = [];
    this.levels.push(level);
    const steps = new StepRunner<T, StepSpec<T>>(this, policy, {
      begin: (spec) => {
        if (spec.armed) level.push({ ...spec.armed, step: spec.step });
      },
      succeed: (spec, value, detail) => {
        spec.step.end('done', detail);
        if (spec.undo) level.push({ ...spec.undo(value), step: spec.step });
      },
      skip: (spec) => {
        spec.step.end('skipped');
      },
    });
    const outcomes = await steps.through(specs);
    throwIfCancelled();
    return outcomes;
  }

  /**
   * What was done is known to the journal: it is used, or deleted in the end. What was taken back may be only half
   * gone.
   */
  beginAgain(): void {
    this.levels.length = 0;
    this.journal.inDoubt = true;
    this.journal.giveUpOwnership();
  }

  /**
   * Puts back what these steps did, because it is to be done anew. Not cancelled with the saga: half of it would be
   * forgotten.
   */
  async takeBack(steps: readonly Step[]): Promise<void> {
    const isMeant = ({ step }: ArmedUndo) => steps.includes(step);
    const level = this.levels.flatMap((armed) => armed.filter(isMeant));
    for (const armed of this.levels) armed.splice(0, armed.length, ...armed.filter((undo) => !isMeant(undo)));
    await CancellationScope.nonCancellable(() => this.undoLevel(level));
  }

  /** The pivot has happened: what came before it now belongs to an order and is not undone any more. */
  passPivot(): void {
    this.mode = { name: 'placed' };
    this.deadline.lift();
    this.levels.length = 0;
  }

  /**
   * Writes that the provider has cancelled what was placed. Not cancelled with the saga: what a person has said is
   * kept.
   *
   * @param row of a pivot of unknown outcome
   * @returns false where that row stands no more: the journal is asked again
   */
  async writeCancelled({ by, note }: MarkCancelled, row?: string): Promise<boolean> {
    const step = this.quietStep('write-decision', 'Write into the journal that the provider has cancelled it');
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
    this.passPivot();
    this.isCancelled = true;
    return new SagaFailed('OrderCancelled', 'the provider has cancelled what was placed, as a person says');
  }

  /** Nobody knows whether the pivot happened: what came before it is left alone, and reported. */
  suspendUndo(why: string): void {
    if (this.mode.name === 'placed') throw new Error('what is placed is not in doubt');
    this.mode = { name: 'suspended', why };
  }

  /** The pivot has happened, in whichever run. */
  get isPlaced(): boolean {
    return this.mode.name === 'placed';
  }

  /** What would be left behind if nothing were undone. */
  get undoable(): Leftover[] {
    return this.levels.flat().map(({ leftover }) => leftover(''));
  }

  /**
   * Puts back what was done, the last level first. What cannot be put back waits for a person, who may leave it behind;
   * it is then a leftover. To be run in a scope that cannot be cancelled.
   */
  async undoAll(): Promise<void> {
    for (let level = this.levels.pop(); level !== undefined; level = this.levels.pop()) await this.undoLevel(level);
  }

  private async undoLevel(level: readonly ArmedUndo[]): Promise<void> {
    const specs: UndoSpec[] = [];
    const suspended = this.mode.name === 'suspended' ? this.mode.why : undefined;
    const leaveAlone = (leftover: Undo['leftover'], why: string) => {
      this.progress.leave(leftover(why));
      countUndo('left-alone');
    };
    for (const { step, title, act, byHand, leftover } of level) {
      if (suspended === undefined && act !== undefined) {
        const manual = byHand ? { byHand } : {};
        specs.push({ step, title, act, ...manual, leftover, leaveAlone: (why) => leaveAlone(leftover, why) });
      } else leaveAlone(leftover, suspended ?? 'it cannot be put back safely');
    }
    const undos = new StepRunner<unknown, UndoSpec>(
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
          countUndo('left-behind');
          this.progress.leave(leftover(note));
        },
      },
    );
    await undos.through(specs);
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

async function keepReference(knows: JournalKnowledge, undoes: boolean): Promise<JournalKnowledge | CallFailure> {
  const asked = { knows, ...(undoes ? { undoes } : {}) };
  const step = new Step('keep-reference', 'Go on under the reference');
  const kept = await CancellationScope.nonCancellable(() =>
    attempt({ step, journal: new JournalMemory(journalCalls) }, ({ retry }) =>
      inPlace('go on under the reference', retry !== undefined, (journal) =>
        journal.keepReference({ ...asked, retry }),
      ),
    ),
  );
  return kept.ok ? kept.value : kept.failure;
}

const journalCalls = { write: writeOutcome, keep: keepReference };
