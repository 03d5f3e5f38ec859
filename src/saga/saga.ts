/**
 * The saga, as its definition sees it: steps that run side by side, forward or to put something back.
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
import type { AnswerAt } from '../domain/answers';
import type { Decision } from '../domain/decisions';
import { describeFailure, isForbidden, mayEndByTime } from '../domain/failures';
import type { Leftover } from '../domain/outcomes';
import type { OnRefusal } from '../domain/requests';
import type { NotNow } from '../domain/spending';
import { activities } from './activities';
import { attempt, throwIfCancelled, type Act, type AttemptResult } from './attempts';
import { Deadline } from './deadline';
import { describeRejection, placedMeanwhile, SagaFailed, StateChanged } from './control-flow';
import { hasRoomForMany } from './history-left';
import type { HumanDecisions, OwnTries } from './people/human-decisions';
import { JournalMemory } from './journal-memory';
import { count } from './shown/metrics';
import type { Notices } from './shown/notices';
import type { Progress, Step } from './shown/progress';
import {
  asksAfterRefusal,
  cause,
  refusedQuestion,
  stuckQuestion,
  type Question,
  type Offers,
} from './people/questions';
import { markAll, throwIfSagaCannotGoOn, type Failed, type FailurePolicy } from './steps';
import type { Pivot, StepOutcome, StepSpec, Undo } from './steps';

type DecisionOf<D extends Decision['decision']> = Extract<Decision, { decision: D }>;

/** A person is asked about it, and may go on without it. */
const maySkip: FailurePolicy = { refusal: 'ask', skippable: true };

export const lookTitle = 'Look into the journal for what was placed';

export class Saga {
  readonly journal = new JournalMemory();
  readonly deadline = new Deadline();
  /** People's corrections of the request, in order: in earlier runs of the reference, and in this one. */
  corrections: unknown[] = [];
  /** Why an order with these corrections might not be placed: a person is asked before anything is added. */
  notNow: NotNow | undefined;
  onRefusal?: OnRefusal | undefined;
  /** The provider has cancelled what was placed. */
  isCancelled = false;
  /** The pivot has happened, in whichever run. */
  isPlaced = false;
  /** The worker's setting, as the last failure has told it. */
  ownTriesMs: readonly number[] = [];
  pivot?: Pick<Pivot<never>, 'step' | 'facts'> | undefined;
  /** By row: when this run first heard of it, and until when it has waited. By its own clock: no two have to agree. */
  readonly inDoubt = new Map<string, { seenMs: number; waitedMs: number }>();

  constructor(
    readonly progress: Progress,
    readonly humanDecisions: HumanDecisions,
    readonly notices: Notices,
  ) {}

  step(id: string, title: string): Step {
    return this.progress.step(id, title);
  }

  unlistedStep(id: string, title: string): Step {
    return this.progress.step(id, title, true);
  }

  async one<T>(spec: StepSpec<T>, policy = maySkip): Promise<StepOutcome<T>> {
    const [outcome] = await this.together([spec], policy);
    if (outcome === undefined) throw new Error('one spec has one outcome');
    return outcome;
  }

  /** Runs one step that cannot be left out. */
  async must<T>(spec: StepSpec<T>, policy: Omit<FailurePolicy, 'skippable'> = { refusal: 'ask' }): Promise<T> {
    const [outcome] = await this.together([spec], policy);
    if (outcome?.skipped !== false) throw new Error(`${spec.step.id} cannot be skipped`);
    return outcome.value;
  }

  /**
   * Runs steps side by side until each has succeeded or was left out by a person.
   *
   * @returns one outcome for each spec, in their order
   * @throws SagaFailed when the provider refuses one and `policy.refusal` names how that ends
   * @throws StateChanged where another run or another saga was there meanwhile
   * @throws CancelledFailure when the saga is cancelled; calls in flight were awaited
   */
  together<T>(specs: readonly StepSpec<T>[], policy = maySkip): Promise<StepOutcome<T>[]> {
    return new StepRunner<T>(this, specs, policy).together();
  }

  /**
   * Undoes what was done, side by side. What cannot be undone waits for a person, who may leave it behind; it is
   * then a leftover. To be run in a scope that cannot be cancelled.
   */
  async undo(undos: readonly Undo[]): Promise<void> {
    await this.together(undos, { ...maySkip, undoing: true });
  }

  /** It belongs to an order by now, to another saga or to another run, and stays. */
  keepInOrder(leftover: Leftover): void {
    this.progress.addLeftovers(leftover);
    count('undos', { fate: 'left-alone' });
  }

  /** The pivot has happened: what came before it now belongs to an order and is not undone any more. */
  passPivot(): void {
    if (!this.isPlaced) this.notices.tellProgress('placed', { step: this.pivot?.step().id });
    this.markPlaced();
  }

  private markPlaced(): void {
    this.isPlaced = true;
    this.deadline.lift();
  }

  /**
   * Before a person is asked what another run may have made needless: a run that was reset to after its begin does not
   * know what was placed since.
   *
   * @throws StateChanged where it was placed, or may have been
   */
  async throwIfPlaced(step: Step): Promise<void> {
    // A cancelled saga ends, and looks then.
    if (!this.pivot || this.isPlaced || CancellationScope.current().consideredCancelled) return;
    const { placement } = await this.must({
      step: this.unlistedStep('read-journal', lookTitle),
      act: (asked) => activities('read what was placed').readState(asked),
    });
    if (placement.how !== 'none') throw placedMeanwhile(step);
  }

  /** Writes into the journal what a person has said. Not cancelled with the saga: it is kept. */
  write<T>(id: string, title: string, act: Act<T>): Promise<T> {
    const step = this.unlistedStep(id, title);
    return CancellationScope.nonCancellable(() => this.must({ step, act }));
  }

  /** @param row of a pivot of unknown outcome. @returns false where it stands no more: the journal is asked again */
  async writeCancelled({ by, note }: DecisionOf<'markCancelled'>, row?: string): Promise<boolean> {
    const title = 'Write into the journal that the provider has cancelled it';
    const written = await this.write('write-decision', title, ({ retry }) =>
      activities('write “cancelled” into the journal').cancelPlacement({ by, note, row, retry }),
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

/** One loop: attempts side by side, until each step is done or left out. */
class StepRunner<T> {
  private readonly outcomes = new Map<StepSpec<T>, StepOutcome<T>>();
  private readonly undoing: boolean;

  constructor(
    private readonly saga: Saga,
    private readonly specs: readonly StepSpec<T>[],
    private readonly policy: FailurePolicy,
  ) {
    this.undoing = policy.undoing ?? false;
  }

  async together(): Promise<StepOutcome<T>[]> {
    const { specs } = this;
    for (let open = specs; open.length > 0;) {
      // If the history has no room for all of them to fail: one after the other, up to the first that fails.
      const tried = hasRoomForMany(this.undoing) ? open : open.slice(0, 1);
      open = await this.afterFailures(await this.tryAll(tried), open.slice(tried.length));
    }
    // A saga whose pivot was its last call is through, cancelled or not.
    if (!specs.some(({ pivot }) => pivot)) throwIfCancelled();
    return specs.map((spec) => this.outcomes.get(spec) ?? { skipped: true });
  }

  /** @param once without automatic retries. @returns those that have failed */
  private async tryAll(specs: readonly StepSpec<T>[], once = false): Promise<Failed<T>[]> {
    const { saga, undoing } = this;
    const settled = await Promise.allSettled(
      specs.map((spec) => attempt(spec, saga, undoing, once).then((result) => this.hear(spec, result))),
    );
    const failed = settled.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
    const stuck = failed.filter((one) => !this.isKept(one));
    const broken = settled.find((one) => one.status === 'rejected');
    if (broken === undefined) return stuck;
    for (const { spec } of stuck) spec.step.end('failed');
    throw broken.reason;
  }

  /** At once, and not when all are through: progress is up to date. */
  private hear(spec: StepSpec<T>, result: AttemptResult<T>): Failed<T> | undefined {
    if (result.ok) {
      this.succeed(spec, result.value, result.detail);
      return undefined;
    }
    const { failure } = result;
    this.saga.ownTriesMs = failure.ownTriesMs ?? this.saga.ownTriesMs;
    return { spec, failure };
  }

  /** Never where one of them is refused, or might be done twice: then it waits for a person alone. */
  private ownTriesOf(failed: readonly Failed<T>[]): readonly number[] {
    const canEnd = failed.every(({ spec: { doubts }, failure: { failure, ownTriesMs } }) => {
      // A lost call has told nothing.
      const isTold = ownTriesMs !== undefined || failure === 'WorkerLost';
      return isTold && mayEndByTime(failure, doubts !== undefined) && !doubts?.();
    });
    return canEnd ? this.saga.ownTriesMs : [];
  }

  private succeed(spec: StepSpec<T>, value: T, detail?: string): void {
    this.outcomes.set(spec, { skipped: false, value });
    if (this.undoing && spec.leftover) {
      spec.step.end('undone');
      count('undos', { fate: 'undone' });
    } else spec.step.end('done', detail);
    if (spec.pivot) this.saga.passPivot();
  }

  private skipStep(spec: StepSpec<T>, note: string): void {
    const { step, leftover } = spec;
    this.outcomes.set(spec, { skipped: true, note });
    this.saga.progress.skipped.push(step.id);
    if (this.undoing && leftover) {
      step.end('skipped', 'left behind');
      this.saga.progress.addLeftovers(leftover(note));
      count('undos', { fate: 'left-behind' });
    } else step.end('skipped', this.policy.skippable ? undefined : note);
  }

  /**
   * @returns false where it is no taking back of what belongs to an order by now, to another saga, or to another run; or
   * that was answered in a way that nobody has declared
   */
  private isKept({ spec, failure: { failure, message, endpoint } }: Failed<T>): boolean {
    const { step, leftover } = spec;
    const isUndeclared = failure === 'NotDeclared' && endpoint !== undefined;
    if (leftover === undefined || (failure !== 'Ordered' && failure !== 'StateChanged' && !isUndeclared)) return false;
    step.end('skipped', `left alone: ${message}`);
    if (this.undoing) this.saga.keepInOrder(leftover(message));
    this.outcomes.set(spec, { skipped: true, kept: message });
    return true;
  }

  /** Those that have no outcome yet. */
  private get open(): StepSpec<T>[] {
    return this.specs.filter((spec) => !this.outcomes.has(spec));
  }

  /**
   * The saga ends or begins again; or a person says what to do about all that are left, where no look settles it, and
   * nothing else takes the place of what is sold out.
   *
   * @returns the specs that are tried next
   */
  private async afterFailures(
    failed: readonly Failed<T>[],
    untried: readonly StepSpec<T>[],
  ): Promise<readonly StepSpec<T>[]> {
    const [first] = failed;
    if (first === undefined) return untried;
    const others = await this.tryInstead(failed);
    if (others) return this.afterFailures(others, untried);
    const { refusal } = this.policy;
    const ofRefusal = this.throwIfItEnds(failed);
    markAll(failed, 'stuck');
    const { pivot } = first.spec;
    const settled = pivot && (await pivot.handleFailure(first.failure));
    if (settled !== undefined) {
      if (settled !== 'again') this.succeed(first.spec, settled.value, settled.detail);
      return this.open;
    }
    // Surely not done, and perhaps a refusal: a person says so.
    const forbidden = refusal === 'ask' ? undefined : failed.find(({ failure }) => isForbidden(failure));
    // Those that were not come to are in the same trouble.
    let left = [...failed, ...untried.map((spec) => ({ spec, failure: first.failure }))];
    while (left.length > 0) {
      let again = left;
      const make = async () => {
        again = await this.tryAll(
          again.map(({ spec }) => spec),
          true,
        );
        markAll(again, 'stuck');
        return again.length > 0 && this.ownTriesOf(again).length > 0;
      };
      const notAfter = this.undoing ? undefined : this.saga.deadline.notAfter;
      const question = ofRefusal ?? stuckQuestion(left, this.offersOf(left, forbidden));
      const decision = await this.ask(left, question, { delaysMs: this.ownTriesOf(left), notAfter, make });
      if (decision === undefined) return this.afterFailures(again, []);
      if (decision.decision === 'reject' && refusal !== 'ask' && forbidden) {
        markAll(failed, 'failed');
        const { spec, failure } = forbidden;
        throw new SagaFailed(
          refusal,
          `${spec.step.title}: ${describeFailure(failure)}; ${describeRejection(decision)}`,
        );
      }
      if (decision.decision === 'retry') {
        await pivot?.beforeAgain();
        if (decision.correction) {
          // A corrected step may have been done already, and is taken back by now.
          for (const spec of this.specs) if (spec.step.status !== 'done') this.outcomes.delete(spec);
          return this.open;
        }
        // Those that were not come to come first, so that one cannot keep them back for ever.
        const again = [...untried, ...failed.map(({ spec }) => spec)];
        return again.filter((spec) => !this.outcomes.has(spec));
      }
      left = left.filter(({ spec }) => !this.outcomes.has(spec));
    }
    return [];
  }

  /** @returns what has failed once something else was tried for what is sold out; undefined where nothing was */
  private async tryInstead(failed: readonly Failed<T>[]): Promise<Failed<T>[] | undefined> {
    const soldOut = failed.filter(({ spec, failure }) => failure.soldOut && spec.instead);
    if (soldOut.length === 0 || !hasRoomForMany(this.undoing)) return undefined;
    markAll(soldOut, 'failed');
    this.throwIfItEnds(failed.filter((one) => !soldOut.includes(one)));
    const again: Failed<T>[] = [];
    for (const one of soldOut) if (await one.spec.instead?.()) again.push(one);
    if (again.length === 0) return undefined;
    await this.policy.beforeInstead?.();
    return [...failed.filter((one) => !again.includes(one)), ...(await this.tryAll(again.map(({ spec }) => spec)))];
  }

  /** @returns the question, where a person is asked about a refusal. @throws SagaFailed, StateChanged */
  private throwIfItEnds(failed: readonly Failed<T>[]): Question<'refused'> | undefined {
    const ofRefusal = this.questionOfRefusal(failed);
    throwIfSagaCannotGoOn(failed, ofRefusal ? 'ask' : this.policy.refusal);
    return ofRefusal;
  }

  /** Before the pivot: about what is refused, which alone is surely not done. @returns undefined where that ends the saga */
  private questionOfRefusal(failed: readonly Failed<T>[]): Question<'refused'> | undefined {
    const correction = this.policy.corrections?.refused;
    const refused = failed.filter(({ failure }) => failure.failure === 'Rejected');
    const [lastFailure] = refused.map(({ failure }) => failure);
    if (!correction || !lastFailure || !asksAfterRefusal(this.saga.onRefusal, lastFailure)) return undefined;
    const specs = refused.map(({ spec }) => spec);
    return refusedQuestion(specs, cause(lastFailure), { lastFailure, correction });
  }

  private offersOf(left: readonly Failed<T>[], forbidden: Failed<T> | undefined): Offers {
    const { saga, undoing } = this;
    const { skippable = false, skippedWhenFull, corrections } = this.policy;
    return {
      undoing,
      // The provider may have cancelled what was placed: then no later step is needed any more.
      cancellable:
        saga.isPlaced && !undoing && !saga.progress.isEnding && !left.some(({ spec }) => spec.step.isInternal),
      skippable,
      skippedWhenFull,
      refusable: forbidden !== undefined,
      correction: (forbidden && corrections?.refused) ?? corrections?.stuck,
    };
  }

  /** Does what a person has said, but for what follows from a rejection and a retry. */
  private async ask(
    asked: readonly Failed<T>[],
    question: Question<'stuck' | 'refused'>,
    tries: OwnTries,
  ): Promise<AnswerAt<'stuck'> | undefined> {
    const { saga } = this;
    let left = asked;
    try {
      const [first] = left;
      if (first && question.kind === 'refused') await saga.throwIfPlaced(first.spec.step);
      const decision = await saga.humanDecisions.askOrTry(question, tries);
      // Of some, a try may have made an end meanwhile.
      left = left.filter(({ spec }) => !this.outcomes.has(spec));
      if (decision === undefined) return undefined;
      if (decision.decision === 'skip') for (const { spec } of left) this.skipStep(spec, decision.note);
      if (decision.decision === 'markDone') await this.markDone(left, decision);
      if (decision.decision !== 'markCancelled') return decision;
      await saga.writeCancelled(decision);
      for (const { spec } of left) spec.step.end('skipped', 'the provider has cancelled what was placed');
    } catch (error) {
      if (error instanceof StateChanged) for (const { spec } of left) spec.step.end('skipped', error.message);
      throw error;
    }
    throw saga.asCancelled();
  }

  private async markDone(left: readonly Failed<T>[], { by, note, steps }: DecisionOf<'markDone'>): Promise<void> {
    const named = left.flatMap(({ spec }) => (steps?.includes(spec.step.id) === false ? [] : [spec]));
    const isWritten = await this.writeByHand(named, { by, note });
    const says = `done by hand, says ${by}: ${note}`;
    for (const spec of named) {
      if (spec.byHand === undefined) throw new Error(`${spec.step.id} cannot be done by hand`);
      if (isWritten) {
        this.succeed(spec, spec.byHand.counts());
        spec.step.setDetail(says);
      }
      // No later run would know it: it is reported as what may be left.
      else this.skipStep(spec, `${says}; the journal could not be told`);
    }
  }

  /** Not cancelled with the saga: what a person has said is kept. @returns false where there was no room to wait */
  private async writeByHand(specs: readonly StepSpec<T>[], said: { by: string; note: string }): Promise<boolean> {
    const calls = specs.flatMap(({ step, byHand }) => byHand?.call?.(step.id) ?? []);
    if (calls.length === 0) return true;
    const step = this.saga.unlistedStep('write-by-hand', 'Write into the journal what was done by hand');
    const act = ({ retry, cursor }: EffectContext) =>
      activities('write what was done by hand into the journal').writeByHand({ calls, ...said, retry, cursor });
    const policy = { refusal: 'ask', skippedWhenFull: this.policy.skippable ?? false, undoing: this.undoing } as const;
    const outcome = await CancellationScope.nonCancellable(() => this.saga.one({ step, act }, policy));
    return !outcome.skipped;
  }
}
