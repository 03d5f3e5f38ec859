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
import { CancellationScope, log } from '@temporalio/workflow';
import type { Decision } from '../domain/decisions';
import type { EffectCall, Unwritten } from '../domain/effects';
import { describeFailure, type CallFailure, type SagaFailureName } from '../domain/failures';
import type { Leftover } from '../domain/leftovers';
import type { OnRefusal } from '../domain/requests';
import type { Concern } from '../domain/spending';
import { askToRetry, questionOfRefusal } from './ask-to-retry';
import { attempt, throwIfCancelled, type Act, type Settled } from './attempts';
import { callsByHand, describeByHand, type ByHand, type MarkDone } from './by-hand';
import { Deadline } from './deadline';
import type { Desk } from './desk';
import { hasRoomForMany } from './history-left';
import { JournalMemory } from './journal-memory';
import { countUndo } from './metrics';
import { Step, type Progress } from './progress';
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
  corrections?: Corrections;
}

/** `note`: what a person said who left it out. */
export type Outcome<T> = { skipped: false; value: T } | { skipped: true; note?: string };

/** The saga cannot go on and ends as failed, with this name, after undoing. */
export class SagaFailed extends Error {
  constructor(
    readonly type: SagaFailureName,
    message: string,
  ) {
    super(message);
  }
}

/** Steps on which this one rests were taken back since, by another run: they have to be done again first. */
export class TakenBack extends Error {
  constructor(
    readonly plan: { step: Step },
    readonly failure: CallFailure,
  ) {
    super(failure.message);
  }
}

/** Its turn is over, and another saga may have worked on the same thing since: what it has seen there does not count any more. */
export class TurnLost extends Error {
  constructor({ message }: CallFailure) {
    super(message);
  }
}

/** The request was corrected in another run: what this one has done is not what is wanted any more. */
export class CorrectedSince extends Error {
  constructor({ message }: CallFailure) {
    super(message);
  }
}

/** So often what was taken back is done again before a person is asked. */
const doneAgainMax = 3;

interface ArmedUndo extends Undo {
  step: Step;
}

type UndoPlan = Plan<unknown> & Pick<Undo, 'leftover'>;

export class Saga {
  private readonly levels: ArmedUndo[][] = [];
  readonly journal = new JournalMemory(writeOutcome);
  /** The pivot has happened, in whichever run. */
  isPlaced = false;
  readonly deadline = new Deadline();
  /** As the request says it. */
  onRefusal?: OnRefusal | undefined;
  /** What a person has agreed to that stood against the pivot. */
  readonly approved: Concern[] = [];
  /** Set while nobody knows whether the pivot happened: undoing under an order that may be in work could harm it. */
  private untouchable?: string | undefined;

  constructor(
    readonly progress: Progress,
    readonly desk: Desk,
  ) {}

  step(id: string, title: string): Step {
    return this.progress.step(id, title);
  }

  quietStep(id: string, title: string): Step {
    return this.progress.quietStep(id, title);
  }

  /** Runs one step; see {@link together}. */
  async one<T>(plan: Plan<T>, manner: Manner): Promise<Outcome<T>> {
    const [outcome] = await this.together([plan], manner);
    if (outcome === undefined) throw new Error('one plan has one outcome');
    return outcome;
  }

  /** Runs one step that cannot be left out. */
  async must<T>(plan: Plan<T>, manner: Omit<Manner, 'skippable'>): Promise<T> {
    const outcome = await this.one(plan, manner);
    if (outcome.skipped) throw new Error(`${plan.step.id} cannot be skipped`);
    return outcome.value;
  }

  /**
   * Runs steps side by side until each has succeeded or was left out by a person.
   *
   * @returns one outcome for each plan, in their order
   * @throws SagaFailed when the provider refuses one and `manner.refusal` names how that ends
   * @throws CancelledFailure when the saga is cancelled; calls in flight were awaited
   */
  together<T>(plans: readonly Plan<T>[], manner: Manner): Promise<Outcome<T>[]> {
    const level: ArmedUndo[] = [];
    this.levels.push(level);
    return this.settleAll(plans, manner, {
      begin: (plan) => {
        if (plan.armed) level.push({ ...plan.armed, step: plan.step });
      },
      succeed: (plan, value, detail) => {
        plan.step.end('done', detail);
        if (plan.undo) level.push({ ...plan.undo(value), step: plan.step });
      },
      skip: (plan) => {
        plan.step.end('skipped');
      },
    });
  }

  /**
   * Does `before`, then `rest`, which relies on it. Where another run has taken some of it back since, both are done again: what
   * still stands is known to the journal, and not done twice.
   */
  async relying<A, T>(before: () => Promise<A>, rest: (made: A) => Promise<T>): Promise<T> {
    for (let again = 1; ; again += 1) {
      const made = await before();
      try {
        return await rest(made);
      } catch (error) {
        if (!(error instanceof TakenBack)) throw error;
        log.warn('done again, because it was taken back since', { steps: error.message });
        this.beginAgain();
        const { plan, failure } = error;
        if (again % doneAgainMax > 0) continue;
        plan.step.end('stuck', describeFailure(failure));
        await this.desk.ask(
          stuckQuestion([{ plan, failure }], { undoing: false, skippable: false, correction: undefined }),
        );
      }
    }
  }

  /** What was done is known to the journal: it is used, or deleted in the end. What was taken back may be only half gone. */
  beginAgain(): void {
    this.levels.length = 0;
    this.journal.inDoubt = true;
  }

  /** Puts back what these steps did, because it is to be done anew. Not cancelled with the saga: half of it would be forgotten. */
  async takeBack(steps: readonly Step[]): Promise<void> {
    const isMeant = ({ step }: ArmedUndo) => steps.includes(step);
    const level = this.levels.flatMap((armed) => armed.filter(isMeant));
    for (const armed of this.levels) armed.splice(0, armed.length, ...armed.filter((undo) => !isMeant(undo)));
    await CancellationScope.nonCancellable(() => this.undoLevel(level));
  }

  /** The pivot has happened: what came before it now belongs to an order and is not undone any more. */
  settle(): void {
    this.isPlaced = true;
    this.deadline.lift();
    this.levels.length = 0;
  }

  /** Nobody knows whether the pivot happened: what came before it is left alone, and reported. */
  leaveAlone(why: string): void {
    this.untouchable = why;
  }

  /** Another saga may rely on what was done by now: none of it is undone, and it is told where the saga does not get to its end. */
  undoNothingSoFar(): void {
    for (const undo of this.levels.flat()) delete undo.act;
  }

  /** What would be left behind if nothing were undone. */
  get undoable(): Leftover[] {
    return this.levels.flat().map(({ leftover }) => leftover(''));
  }

  /**
   * Puts back what was done, the last level first. What cannot be put back waits for a person, who may leave it behind; it
   * is then a leftover. To be run in a scope that cannot be cancelled.
   */
  async undoAll(): Promise<void> {
    for (let level = this.levels.pop(); level !== undefined; level = this.levels.pop()) await this.undoLevel(level);
  }

  private async undoLevel(level: readonly ArmedUndo[]): Promise<void> {
    const plans: UndoPlan[] = [];
    const leaveAlone = (leftover: Undo['leftover'], why: string) => {
      this.progress.leftovers.push(leftover(why));
      countUndo('left-alone');
    };
    for (const { step, title, act, byHand, leftover } of level) {
      if (this.untouchable === undefined && act !== undefined) {
        const manual = byHand ? { byHand } : {};
        plans.push({ step, title, act, ...manual, leftover, leaveAlone: (why) => leaveAlone(leftover, why) });
      } else leaveAlone(leftover, this.untouchable ?? 'it cannot be put back safely');
    }
    await this.settleAll<unknown, UndoPlan>(
      plans,
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
          this.progress.leftovers.push(leftover(note));
        },
      },
    );
  }

  private async settleAll<T, P extends Plan<T>>(
    plans: readonly P[],
    { refusal, skippable, corrections }: Manner,
    hooks: {
      undoing?: boolean;
      begin?: (plan: P) => void;
      succeed: (plan: P, value: T, detail: string | undefined) => void;
      skip: (plan: P, note: string) => void;
    },
  ): Promise<Outcome<T>[]> {
    const outcomes = new Map<P, Outcome<T>>();
    plans.forEach((plan) => hooks.begin?.(plan));
    let open = [...plans];
    while (open.length > 0) {
      const settled = await this.attemptPlans(open, hooks);
      const untried = open.slice(settled.length);
      const failed: { plan: P; failure: CallFailure }[] = [];
      settled.forEach((result, index) => {
        const plan = open[index];
        if (plan === undefined || result.status === 'rejected') return;
        if (result.value.ok) outcomes.set(plan, { skipped: false, value: result.value.value });
        else if (isNotToBeUndone(result.value.failure) && plan.leaveAlone) {
          const { message } = result.value.failure;
          plan.step.end('skipped', `left alone: ${message}`);
          plan.leaveAlone(message);
          outcomes.set(plan, { skipped: true });
        } else failed.push({ plan, failure: result.value.failure });
      });
      const broken = settled.find((result) => result.status === 'rejected');
      if (broken) {
        for (const { plan } of failed) plan.step.end('failed');
        throw broken.reason;
      }
      const [first] = failed;
      if (first === undefined) {
        open = untried;
        continue;
      }

      const takenBack = failed.find(({ failure }) => failure.failure === 'TakenBack');
      if (takenBack) throw new TakenBack(takenBack.plan, takenBack.failure);
      const turnLost = failed.find(({ failure }) => failure.failure === 'TurnLost');
      if (turnLost) throw new TurnLost(turnLost.failure);
      const late = failed.find(({ failure }) => failure.failure === 'DeadlinePassed');
      if (late) {
        for (const { plan, failure } of failed) plan.step.end('failed', describeFailure(failure));
        throw new SagaFailed('DeadlinePassed', `${late.plan.step.title}: ${late.failure.message}`);
      }
      const refused = failed.find(({ failure }) => failure.failure === 'Rejected');
      const others = failed.filter((one) => one !== refused);
      const ofRefusal = refused && questionOfRefusal(this.onRefusal, [refused, ...others], corrections);
      if (refused && refusal !== 'ask' && !ofRefusal) {
        for (const { plan, failure } of failed) plan.step.end('failed', describeFailure(failure));
        throw new SagaFailed(refusal, `${refused.plan.step.title}: ${describeFailure(refused.failure)}`);
      }
      for (const { plan, failure } of failed) plan.step.end('stuck', describeFailure(failure));
      // Those that were not come to are in the same trouble; they come first the next time, so that one cannot keep them back for ever.
      const stuck = [...failed, ...untried.map((plan) => ({ plan, failure: first.failure }))];
      const asking = { undoing: hooks.undoing ?? false, skippable: skippable ?? false, correction: corrections?.stuck };
      const { decision, left } = await this.decide(stuck, { ofRefusal, asking }, (plan: P, value: T) => {
        hooks.succeed(plan, value, undefined);
        outcomes.set(plan, { skipped: false, value });
      });
      open = [...untried.filter((plan) => left.includes(plan)), ...left.filter((plan) => !untried.includes(plan))];
      if (decision.decision === 'skip') {
        for (const plan of open) {
          this.progress.skipped.push(plan.step.id);
          hooks.skip(plan, decision.note);
          outcomes.set(plan, { skipped: true, note: decision.note });
        }
        break;
      }
      // What was corrected may have been done already, and is taken back by now.
      if (decision.decision === 'retry' && decision.correction) {
        open = plans.filter(({ step }) => step.status !== 'done');
      }
    }
    throwIfCancelled();
    return plans.map((plan) => outcomes.get(plan) ?? { skipped: true });
  }

  /** Asks until somebody has said what to do about all that are left: what was done by hand is done, and the others are asked about again. */
  private async decide<T, P extends Plan<T>>(
    stuck: readonly { plan: P; failure: CallFailure }[],
    { ofRefusal, asking }: { ofRefusal: Question | undefined; asking: Parameters<typeof stuckQuestion>[1] },
    succeed: (plan: P, value: T) => void,
  ): Promise<{ decision: Decision; left: P[] }> {
    const decision = await askToRetry(this.desk, ofRefusal ?? stuckQuestion(stuck, asking));
    if (decision.decision !== 'markDone') return { decision, left: stuck.map(({ plan }) => plan) };
    const isNamed = ({ plan }: { plan: P }) => decision.steps?.includes(plan.step.id) ?? true;
    const named = stuck.filter(isNamed).map(({ plan }) => plan);
    await this.writeByHand(callsByHand(named), decision);
    for (const plan of named) {
      if (plan.byHand === undefined) throw new Error(`${plan.step.id} cannot be done by hand`);
      succeed(plan, plan.byHand.counts());
      plan.step.say(describeByHand(decision));
    }
    const left = stuck.filter((one) => !isNamed(one));
    return left.length > 0 ? this.decide(left, { ofRefusal: undefined, asking }, succeed) : { decision, left: [] };
  }

  /** Not cancelled with the saga: what a person has said is kept. */
  private async writeByHand(calls: readonly EffectCall[], { by, note }: MarkDone): Promise<void> {
    if (calls.length === 0) return;
    const act: Act<null> = ({ again, knows }) =>
      once('write what was done by hand into the journal').writeByHand({ calls, by, note, again, knows });
    const step = this.quietStep('write-by-hand', 'Write into the journal what was done by hand');
    await CancellationScope.nonCancellable(() => this.must({ step, act }, { refusal: 'ask' }));
  }

  /** Side by side; where the history has no room for all of them to fail, one after the other, up to the first that does. */
  private async attemptPlans<T, P extends Plan<T>>(
    plans: readonly P[],
    hooks: { undoing?: boolean; succeed: (plan: P, value: T, detail: string | undefined) => void },
  ): Promise<PromiseSettledResult<Settled<T>>[]> {
    if (hasRoomForMany(hooks.undoing ?? false)) {
      return Promise.allSettled(plans.map((plan) => this.attemptPlan(plan, hooks)));
    }
    const settled: PromiseSettledResult<Settled<T>>[] = [];
    for (const plan of plans) {
      const [result] = await Promise.allSettled([this.attemptPlan(plan, hooks)]);
      settled.push(result);
      if (result.status === 'rejected' || !result.value.ok) break;
    }
    return settled;
  }

  private attemptPlan<T, P extends Plan<T>>(
    plan: P,
    hooks: { undoing?: boolean; succeed: (plan: P, value: T, detail: string | undefined) => void },
  ): Promise<Settled<T>> {
    return attempt<T>(
      {
        step: plan.step,
        journal: this.journal,
        ...(hooks.undoing ? { undoing: true } : { deadline: this.deadline }),
        // At once, not when its siblings are through: progress tells the truth, and the undo is armed.
        onSuccess: (value, detail) => {
          hooks.succeed(plan, value, detail);
        },
      },
      plan.act,
    );
  }
}

/** It belongs to an order by now, or to another saga. */
function isNotToBeUndone({ failure }: CallFailure): boolean {
  return failure === 'Ordered' || failure === 'TurnLost';
}

/** Not cancelled with the saga: what is not written down is forgotten. */
async function writeOutcome(unwritten: Unwritten, answer: unknown): Promise<CallFailure | undefined> {
  const step = new Step('write-outcome', 'Write into the journal what came of a call');
  const settled = await CancellationScope.nonCancellable(() =>
    attempt({ step, journal: new JournalMemory(writeOutcome) }, ({ again }) =>
      once('write what came of a call into the journal').writeOutcome({ unwritten, answer, again }),
    ),
  );
  return settled.ok ? undefined : settled.failure;
}
