/** Steps that run side by side until each is done, or a person has left it out. What has failed is heard of when all are through. */
import { CancellationScope } from '@temporalio/workflow';
import type { Decision } from '../domain/decisions';
import type { EffectCall } from '../domain/effects';
import { describeFailure, type CallFailure, type SagaFailureName } from '../domain/failures';
import type { Leftover } from '../domain/leftovers';
import type { OnRefusal } from '../domain/requests';
import { askToRetry, questionOfRefusal } from './ask-to-retry';
import { attempt, throwIfCancelled, type Act, type Settled } from './attempts';
import { callsByHand, describeByHand, type ByHand, type MarkDone } from './by-hand';
import type { Deadline } from './deadline';
import type { Desk } from './desk';
import { SagaFailed, TakenBack, TurnLost } from './ends';
import { hasRoomForMany, whyFull } from './history-left';
import type { JournalMemory } from './journal-memory';
import type { Progress, Step } from './progress';
import { stuckQuestion, type Corrections, type Question } from './questions';
import { once } from './temperaments';

/** How to put back what a step did. */
export interface Undo {
  /** "Delete cart item 17" */
  title: string;
  /** Absent where nothing can safely put it back: then it is only told as a leftover. */
  act?: Act<unknown>;
  byHand?: ByHand<unknown>;
  leftover: (why: string) => Leftover;
}

export interface Plan<T> {
  step: Step;
  /** For the question, where the step's own title does not say it. */
  title?: string;
  act: Act<T>;
  /** Present where a person may do it instead, and say so. */
  byHand?: ByHand<T>;
  /** Armed before acting: for an undo that does no harm where nothing was done. */
  armed?: Undo;
  /** Armed with what the step made, for an undo that needs to know it. */
  undo?: (value: T) => Undo;
  /** Told where the journal says that an order has taken what is to be taken back, or may have: it is left, and nobody is asked. */
  leaveAlone?: (why: string) => void;
}

export interface Manner {
  /** How a provider's refusal ends the saga; `ask`: past the point of no return, a person is asked instead. */
  refusal: SagaFailureName | 'ask';
  /** True where the step can be left out. */
  skippable?: boolean;
  /** True where it is left out when the history has no room to wait on, though nobody may leave it out by themselves. */
  skippedWhenFull?: boolean;
  corrections?: Corrections;
}

/** `note`: what a person said who left it out. */
export type Outcome<T> = { skipped: false; value: T } | { skipped: true; note?: string };

/** What is done on the way, at once and not when all are through: progress tells the truth, and undos are armed. */
export interface Hooks<T, P> {
  undoing?: boolean;
  begin?: (plan: P) => void;
  succeed: (plan: P, value: T, detail?: string) => void;
  skip: (plan: P, note: string) => void;
}

/** Of the saga whose steps they are. */
export interface Around {
  readonly progress: Progress;
  readonly desk: Desk;
  readonly journal: JournalMemory;
  readonly deadline: Deadline;
  onRefusal?: OnRefusal | undefined;
}

interface Failed<P> {
  plan: P;
  failure: CallFailure;
}

export class Level<T, P extends Plan<T>> {
  private readonly outcomes = new Map<P, Outcome<T>>();

  constructor(
    private readonly saga: Around,
    private readonly manner: Manner,
    private readonly hooks: Hooks<T, P>,
  ) {}

  /**
   * @returns one outcome for each plan, in their order
   * @throws SagaFailed when the provider refuses one and `manner.refusal` names how that ends
   * @throws TakenBack | TurnLost where another run or another saga was there meanwhile
   * @throws CancelledFailure when the saga is cancelled; calls in flight were awaited
   */
  async through(plans: readonly P[]): Promise<Outcome<T>[]> {
    plans.forEach((plan) => this.hooks.begin?.(plan));
    let open = [...plans];
    while (open.length > 0) {
      const { failed, untried } = await this.attemptAll(open);
      open = failed.length === 0 ? untried : await this.afterFailures(plans, failed, untried);
    }
    throwIfCancelled();
    return plans.map((plan) => this.outcomes.get(plan) ?? { skipped: true });
  }

  /** @returns those that failed, and those that were not come to; throws what broke one of them */
  private async attemptAll(open: readonly P[]): Promise<{ failed: Failed<P>[]; untried: P[] }> {
    const settled = await this.attemptPlans(open);
    const failed: Failed<P>[] = [];
    settled.forEach((result, index) => {
      const plan = open[index];
      if (plan === undefined || result.status === 'rejected') return;
      if (result.value.ok) this.outcomes.set(plan, { skipped: false, value: result.value.value });
      else if (isNotToBeUndone(result.value.failure) && plan.leaveAlone) {
        const { message } = result.value.failure;
        plan.step.end('skipped', `left alone: ${message}`);
        plan.leaveAlone(message);
        this.outcomes.set(plan, { skipped: true });
      } else failed.push({ plan, failure: result.value.failure });
    });
    const broken = settled.find((result) => result.status === 'rejected');
    if (broken === undefined) return { failed, untried: open.slice(settled.length) };
    for (const { plan } of failed) plan.step.end('failed');
    throw broken.reason;
  }

  /** @returns the plans that are tried again */
  private async afterFailures(plans: readonly P[], failed: readonly Failed<P>[], untried: readonly P[]): Promise<P[]> {
    const { refusal, skippable = false, skippedWhenFull, corrections } = this.manner;
    breakOff(failed);
    const refused = failed.find(({ failure }) => failure.failure === 'Rejected');
    const others = failed.filter((one) => one !== refused);
    const ofRefusal = refused && questionOfRefusal(this.saga.onRefusal, [refused, ...others], corrections);
    if (refused && refusal !== 'ask' && !ofRefusal) {
      end(failed, 'failed');
      throw new SagaFailed(refusal, `${refused.plan.step.title}: ${describeFailure(refused.failure)}`);
    }
    end(failed, 'stuck');
    const failure = failed[0]?.failure;
    // Those that were not come to are in the same trouble; they come first the next time, so that one cannot keep them back for ever.
    const stuck = [...failed, ...(failure ? untried.map((plan) => ({ plan, failure })) : [])];
    const asking = {
      undoing: this.hooks.undoing ?? false,
      skippable,
      skippedWhenFull,
      correction: corrections?.stuck,
    };
    const { decision, left } = await this.decide(stuck, ofRefusal, asking);
    if (decision.decision === 'skip') {
      for (const plan of left) this.leaveOut(plan, decision.note);
      return [];
    }
    // What was corrected may have been done already, and is taken back by now.
    if (decision.decision === 'retry' && decision.correction) return plans.filter(({ step }) => step.status !== 'done');
    return [...untried.filter((plan) => left.includes(plan)), ...left.filter((plan) => !untried.includes(plan))];
  }

  private leaveOut(plan: P, note: string): void {
    this.saga.progress.skipped.push(plan.step.id);
    this.hooks.skip(plan, note);
    this.outcomes.set(plan, { skipped: true, note });
  }

  /** Asks until somebody has said what to do about all that are left: what was done by hand is done, and the others are asked about again. */
  private async decide(
    stuck: readonly Failed<P>[],
    ofRefusal: Question | undefined,
    asking: Parameters<typeof stuckQuestion>[1],
  ): Promise<{ decision: Decision; left: P[] }> {
    const decision = await askToRetry(this.saga.desk, ofRefusal ?? stuckQuestion(stuck, asking));
    if (decision.decision !== 'markDone') return { decision, left: stuck.map(({ plan }) => plan) };
    const isNamed = ({ plan }: Failed<P>) => decision.steps?.includes(plan.step.id) ?? true;
    const named = stuck.filter(isNamed).map(({ plan }) => plan);
    const isWritten = await this.writeByHand(callsByHand(named), decision);
    for (const plan of named) {
      if (plan.byHand === undefined) throw new Error(`${plan.step.id} cannot be done by hand`);
      if (!isWritten) {
        // No later run would know it: it is told as what may be left.
        this.leaveOut(plan, `${describeByHand(decision)}; the journal could not be told`);
        continue;
      }
      const value = plan.byHand.counts();
      this.hooks.succeed(plan, value);
      this.outcomes.set(plan, { skipped: false, value });
      plan.step.say(describeByHand(decision));
    }
    const left = stuck.filter((one) => !isNamed(one));
    return left.length > 0 ? this.decide(left, undefined, asking) : { decision, left: [] };
  }

  /**
   * Not cancelled with the saga: what a person has said is kept. There is as much room to wait for that as for what it is about.
   *
   * @returns false where there was no room left
   */
  private async writeByHand(calls: readonly EffectCall[], { by, note }: MarkDone): Promise<boolean> {
    if (calls.length === 0) return true;
    const step = this.saga.progress.quietStep('write-by-hand', 'Write into the journal what was done by hand');
    const act: Act<null> = ({ again, knows }) =>
      once('write what was done by hand into the journal').writeByHand({ calls, by, note, again, knows });
    const writing = new Level<null, Plan<null>>(
      this.saga,
      { refusal: 'ask', skippedWhenFull: this.manner.skippable ?? false },
      {
        undoing: this.hooks.undoing ?? false,
        succeed: (_, __, detail) => step.end('done', detail),
        skip: () => step.end('skipped', whyFull),
      },
    );
    const [outcome] = await CancellationScope.nonCancellable(() => writing.through([{ step, act }]));
    return outcome?.skipped === false;
  }

  /** Side by side; where the history has no room for all of them to fail, one after the other, up to the first that does. */
  private async attemptPlans(plans: readonly P[]): Promise<PromiseSettledResult<Settled<T>>[]> {
    if (hasRoomForMany(this.hooks.undoing ?? false)) {
      return Promise.allSettled(plans.map((plan) => this.attemptPlan(plan)));
    }
    const settled: PromiseSettledResult<Settled<T>>[] = [];
    for (const plan of plans) {
      const [result] = await Promise.allSettled([this.attemptPlan(plan)]);
      settled.push(result);
      if (result.status === 'rejected' || !result.value.ok) break;
    }
    return settled;
  }

  private attemptPlan(plan: P): Promise<Settled<T>> {
    const { journal, deadline } = this.saga;
    return attempt<T>(
      {
        step: plan.step,
        journal,
        ...(this.hooks.undoing ? { undoing: true } : { deadline }),
        onSuccess: (value, detail) => {
          this.hooks.succeed(plan, value, detail);
        },
      },
      plan.act,
    );
  }
}

/** Throws where a failure says that the story has to be begun again, or to end. */
function breakOff(failed: readonly Failed<{ step: Step }>[]): void {
  const takenBack = failed.find(({ failure }) => failure.failure === 'TakenBack');
  if (takenBack) throw new TakenBack(takenBack.plan, takenBack.failure);
  const turnLost = failed.find(({ failure }) => failure.failure === 'TurnLost');
  if (turnLost) throw new TurnLost(turnLost.failure);
  const late = failed.find(({ failure }) => failure.failure === 'DeadlinePassed');
  if (late === undefined) return;
  end(failed, 'failed');
  throw new SagaFailed('DeadlinePassed', `${late.plan.step.title}: ${late.failure.message}`);
}

function end(failed: readonly Failed<{ step: Step }>[], as: 'failed' | 'stuck'): void {
  for (const { plan, failure } of failed) plan.step.end(as, describeFailure(failure));
}

/** It belongs to an order by now, or to another saga. */
function isNotToBeUndone({ failure }: CallFailure): boolean {
  return failure === 'Ordered' || failure === 'TurnLost';
}
