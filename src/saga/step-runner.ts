/**
 * Steps that run side by side until each is done, or a person has left it out. What has failed is heard of when all are
 * through.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { Decision } from '../domain/decisions';
import { definedOnly } from '../domain/defined-only';
import type { EffectCall } from '../domain/effects';
import { describeFailure, isForbidden, type CallFailure, type SagaFailureName } from '../domain/failures';
import type { OnRefusal } from '../domain/requests';
import { askToRetry, questionOfRefusal } from './ask-to-retry';
import { attempt, type Act, type AttemptOptions, type AttemptResult } from './attempts';
import { callsByHand, describeByHand, type ByHand, type MarkDone } from './by-hand';
import type { Deadline } from './deadline';
import type { HumanDecisions } from './human-decisions';
import { describeRejection, SagaFailed, StateChanged, type MarkCancelled } from './ends';
import { throwIfStoryCannotGoOn, markAll, isNotToBeUndone, type Failed } from './failed-steps';
import { hasRoomForMany, whyFull } from './history-left';
import type { JournalMemory } from './journal-memory';
import type { Progress, Step } from './progress';
import { stuckQuestion, type Corrections, type Question } from './questions';
import { activities } from './activities';

export interface StepSpec<T> {
  step: Step;
  /** For the question, where the step's own title does not say it. */
  title?: string;
  act: Act<T>;
  /** As in {@link AttemptOptions}. */
  inFlight?: AttemptOptions<T>['inFlight'];
  /** Present where a person may do it instead, and say so. */
  byHand?: ByHand<T>;
  /** Called before each attempt. What it throws ends them. */
  before?: (() => Promise<void>) | undefined;
  /**
   * Told where the journal says that an order has taken what is to be taken back, or may have: it is left, and nobody
   * is asked.
   */
  leaveAlone?: (why: string) => void;
}

export interface FailurePolicy {
  /** How a provider's refusal ends the saga; `ask`: past the point of no return, a person is asked instead. */
  refusal: SagaFailureName | 'ask';
  /** True where the step can be left out. */
  skippable?: boolean;
  /**
   * True where it is left out when the history has no room to wait on, though nobody may leave it out by themselves.
   */
  skippedWhenFull?: boolean;
  corrections?: Corrections;
}

/** `note`: what a person said who left it out. */
export type StepOutcome<T> = { skipped: false; value: T } | { skipped: true; note?: string };

/** What is done on the way, at once and not when all are through: progress is up to date. */
export interface StepHooks<T, P> {
  undoing?: boolean;
  succeed: (spec: P, value: T, detail?: string) => void;
  skip: (spec: P, note: string) => void;
  pivot?: PivotHooks<T>;
}

/** The pivot has other ways on than “retry”. */
export interface PivotHooks<T> {
  /** @returns undefined where a person is to be asked, as about any other step */
  settle: (failure: CallFailure) => Promise<'again' | { value: T; detail: string } | undefined>;
  /** Called before it is tried again because a person says so. */
  beforeAgain: () => Promise<void>;
}

/** The saga whose steps they are. */
export interface RunnerContext {
  readonly progress: Progress;
  readonly humanDecisions: HumanDecisions;
  readonly journal: JournalMemory;
  readonly deadline: Deadline;
  onRefusal?: OnRefusal | undefined;
  /** The pivot has happened, in whichever run. */
  readonly isPlaced: boolean;
  /** Before a person is asked what another run may have made needless. */
  throwIfPlaced: (step: Step) => Promise<void>;
  /** Writes that the provider has cancelled what was placed. */
  writeCancelled: (said: MarkCancelled) => Promise<boolean>;
  /** How the saga ends then. */
  asCancelled: () => SagaFailed;
}

export class StepRunner<T, P extends StepSpec<T>> {
  private readonly outcomes = new Map<P, StepOutcome<T>>();

  constructor(
    private readonly saga: RunnerContext,
    private readonly policy: FailurePolicy,
    private readonly hooks: StepHooks<T, P>,
  ) {}

  /**
   * @returns one outcome for each spec, in their order
   * @throws SagaFailed when the provider refuses one and `policy.refusal` names how that ends
   * @throws StateChanged where another run or another saga was there meanwhile
   * @throws CancelledFailure when the saga is cancelled while one waits; calls in flight were awaited
   */
  async through(specs: readonly P[]): Promise<StepOutcome<T>[]> {
    let open = [...specs];
    while (open.length > 0) {
      const { failed, untried } = await this.attemptAll(open);
      open = failed.length === 0 ? untried : await this.afterFailures(specs, failed, untried);
    }
    return specs.map((spec) => this.outcomes.get(spec) ?? { skipped: true });
  }

  /** @returns those that failed, and those that were not come to; throws what broke one of them */
  private async attemptAll(open: readonly P[]): Promise<{ failed: Failed<P>[]; untried: P[] }> {
    const settled = await this.attemptSpecs(open);
    const failed: Failed<P>[] = [];
    settled.forEach((result, index) => {
      const spec = open[index];
      if (spec === undefined || result.status === 'rejected') return;
      if (result.value.ok) this.outcomes.set(spec, { skipped: false, value: result.value.value });
      else if (isNotToBeUndone(result.value.failure) && spec.leaveAlone) {
        const { message } = result.value.failure;
        spec.step.end('skipped', `left alone: ${message}`);
        spec.leaveAlone(message);
        this.outcomes.set(spec, { skipped: true });
      } else failed.push({ spec, failure: result.value.failure });
    });
    const broken = settled.find((result) => result.status === 'rejected');
    if (broken === undefined) return { failed, untried: open.slice(settled.length) };
    for (const { spec } of failed) spec.step.end('failed');
    throw broken.reason;
  }

  /** @returns the specs that are tried again */
  private async afterFailures(specs: readonly P[], failed: readonly Failed<P>[], untried: readonly P[]): Promise<P[]> {
    const { refusal, skippable = false, skippedWhenFull, corrections } = this.policy;
    throwIfStoryCannotGoOn(failed);
    const refused = failed.find(({ failure }) => failure.failure === 'Rejected');
    const others = failed.filter((one) => one !== refused);
    const ofRefusal = refused && questionOfRefusal(this.saga.onRefusal, [refused, ...others], corrections);
    if (refused && refusal !== 'ask' && !ofRefusal) {
      markAll(failed, 'failed');
      throw new SagaFailed(refusal, `${refused.spec.step.title}: ${describeFailure(refused.failure)}`);
    }
    markAll(failed, 'stuck');
    const failure = failed[0]?.failure;
    // Those that were not come to are in the same trouble; they come first the next time, so that one cannot keep them
    // back for ever.
    const stuck = [...failed, ...(failure ? untried.map((spec) => ({ spec, failure })) : [])];
    const { pivot } = this.hooks;
    if (pivot && (await this.settlePivot(pivot, failed))) return specs.filter((spec) => !this.outcomes.has(spec));
    // Surely not done, and perhaps a refusal: a person says so.
    const forbidden = refusal === 'ask' ? undefined : failed.find((one) => isForbidden(one.failure));
    const asking = {
      undoing: this.hooks.undoing ?? false,
      cancellable: this.mayBeCancelled(stuck),
      skippable,
      skippedWhenFull,
      refusable: forbidden !== undefined,
      correction: (forbidden && corrections?.refused) ?? corrections?.stuck,
    };
    const { decision, left } = await this.decide(stuck, ofRefusal, asking).catch((error: unknown) => {
      if (error instanceof StateChanged) for (const { spec } of stuck) spec.step.end('skipped', error.message);
      throw error;
    });
    if (decision.decision === 'reject' && refusal !== 'ask' && forbidden) {
      markAll(failed, 'failed');
      const { spec, failure } = forbidden;
      throw new SagaFailed(refusal, `${spec.step.title}: ${describeFailure(failure)}; ${describeRejection(decision)}`);
    }
    await pivot?.beforeAgain();
    if (decision.decision === 'skip') {
      for (const spec of left) this.leaveOut(spec, decision.note);
      return [];
    }
    // What was corrected may have been done already, and is taken back by now.
    if (decision.decision === 'retry' && decision.correction) return specs.filter(({ step }) => step.status !== 'done');
    return [...untried.filter((spec) => left.includes(spec)), ...left.filter((spec) => !untried.includes(spec))];
  }

  /** @returns false where a person is to be asked */
  private async settlePivot({ settle }: PivotHooks<T>, failed: readonly Failed<P>[]): Promise<boolean> {
    for (const { spec, failure } of failed) {
      const settled = await settle(failure);
      if (settled === undefined) return false;
      if (settled === 'again') continue;
      this.hooks.succeed(spec, settled.value, settled.detail);
      this.outcomes.set(spec, { skipped: false, value: settled.value });
    }
    return true;
  }

  /** What follows a pivot needs no doing any more where the provider has cancelled it. */
  private mayBeCancelled(stuck: readonly Failed<P>[]): boolean {
    const { isPlaced, humanDecisions } = this.saga;
    return isPlaced && !this.hooks.undoing && !humanDecisions.isLast && !stuck.some(({ spec }) => spec.step.quiet);
  }

  private leaveOut(spec: P, note: string): void {
    this.saga.progress.skipped.push(spec.step.id);
    this.hooks.skip(spec, note);
    this.outcomes.set(spec, { skipped: true, note });
  }

  /**
   * Asks until somebody has said what to do about all that are left: what was done by hand is done, and the others are
   * asked about again.
   */
  private async decide(
    stuck: readonly Failed<P>[],
    ofRefusal: Question | undefined,
    asking: Parameters<typeof stuckQuestion>[1],
  ): Promise<{ decision: Decision; left: P[] }> {
    const [first] = stuck;
    if (ofRefusal && first) await this.saga.throwIfPlaced(first.spec.step);
    const decision = await askToRetry(this.saga.humanDecisions, ofRefusal ?? stuckQuestion(stuck, asking));
    if (decision.decision === 'markCancelled') {
      await this.saga.writeCancelled(decision);
      for (const { spec } of stuck) spec.step.end('skipped', 'the provider has cancelled what was placed');
      throw this.saga.asCancelled();
    }
    if (decision.decision !== 'markDone') return { decision, left: stuck.map(({ spec }) => spec) };
    const isNamed = ({ spec }: Failed<P>) => decision.steps?.includes(spec.step.id) ?? true;
    const named = stuck.filter(isNamed).map(({ spec }) => spec);
    const isWritten = await this.writeByHand(callsByHand(named), decision);
    for (const spec of named) {
      if (spec.byHand === undefined) throw new Error(`${spec.step.id} cannot be done by hand`);
      if (!isWritten) {
        // No later run would know it: it is reported as what may be left.
        this.leaveOut(spec, `${describeByHand(decision)}; the journal could not be told`);
        continue;
      }
      const value = spec.byHand.counts();
      this.hooks.succeed(spec, value);
      this.outcomes.set(spec, { skipped: false, value });
      spec.step.say(describeByHand(decision));
    }
    const left = stuck.filter((one) => !isNamed(one));
    return left.length > 0 ? this.decide(left, undefined, asking) : { decision, left: [] };
  }

  /**
   * Not cancelled with the saga: what a person has said is kept. There is as much room to wait for that as for what it
   * is about.
   *
   * @returns false where there was no room left
   */
  private async writeByHand(calls: readonly EffectCall[], { by, note }: MarkDone): Promise<boolean> {
    if (calls.length === 0) return true;
    const step = this.saga.progress.unlistedStep('write-by-hand', 'Write into the journal what was done by hand');
    const act: Act<null> = ({ retry, knows }) =>
      activities('write what was done by hand into the journal').writeByHand({ calls, by, note, retry, knows });
    const writing = new StepRunner<null, StepSpec<null>>(
      this.saga,
      { refusal: 'ask', skippedWhenFull: this.policy.skippable ?? false },
      {
        undoing: this.hooks.undoing ?? false,
        succeed: (_, __, detail) => step.end('done', detail),
        skip: () => step.end('skipped', whyFull),
      },
    );
    const [outcome] = await CancellationScope.nonCancellable(() => writing.through([{ step, act }]));
    return outcome?.skipped === false;
  }

  /**
   * Side by side; where the history has no room for all of them to fail, one after the other, up to the first that
   * does.
   */
  private async attemptSpecs(specs: readonly P[]): Promise<PromiseSettledResult<AttemptResult<T>>[]> {
    if (hasRoomForMany(this.hooks.undoing ?? false)) {
      return Promise.allSettled(specs.map((spec) => this.attemptSpec(spec)));
    }
    const settled: PromiseSettledResult<AttemptResult<T>>[] = [];
    for (const spec of specs) {
      const [result] = await Promise.allSettled([this.attemptSpec(spec)]);
      settled.push(result);
      if (result.status === 'rejected' || !result.value.ok) break;
    }
    return settled;
  }

  private attemptSpec(spec: P): Promise<AttemptResult<T>> {
    const { journal, deadline } = this.saga;
    return attempt<T>(
      {
        step: spec.step,
        journal,
        ...definedOnly({ before: spec.before, inFlight: spec.inFlight }),
        ...(this.hooks.undoing ? { undoing: true } : { deadline }),
        onSuccess: (value, detail) => {
          this.hooks.succeed(spec, value, detail);
        },
      },
      spec.act,
    );
  }
}
