/** A step as its definition says it, and what the failures of steps say of the saga: it goes on, begins again, or ends. */
import type { EffectCall, PivotNote, Placement } from '../domain/effects';
import { describeFailure, type CallFailure, type CallFailureName, type SagaFailureName } from '../domain/failures';
import type { Leftover } from '../domain/outcomes';
import type { Terms } from '../domain/may-be-sent';
import type { ExpiringRule } from '../domain/quotes';
import type { Act, Attempted } from './attempts';
import { SagaFailed, StateChanged } from './control-flow';
import type { Step } from './shown/progress';
import type { Corrections } from './people/questions';

export interface StepSpec<T> extends Attempted<T> {
  /** For the question, where the step's own title does not say it. */
  title?: string;
  /** Present where a person may do it instead, and say so. */
  byHand?: ByHand<T>;
  /**
   * Present where it takes something back: what that is where it cannot be taken back, or is not to be. Where the
   * journal says that an order has it, or may have, it is left alone, and nobody is asked.
   */
  leftover?: (why: string) => Leftover;
  /** The pivot has other ways on than “retry”. */
  pivot?: {
    /** @returns undefined where a person is to be asked, as about any other step */
    handleFailure: (failure: CallFailure) => Promise<'again' | { value: T; detail: string } | undefined>;
    /** Called before it is tried again because a person says so. */
    beforeAgain: () => Promise<void>;
  };
  /** Present where a repeat would do it twice: how many of its calls are of unknown outcome. */
  doubts?: () => number;
  /** Present where something else is left for it, if it is sold out: takes that. @returns false where none may be bought */
  instead?: (() => Promise<boolean>) | undefined;
}

export type Undo = StepSpec<unknown> & Required<Pick<StepSpec<unknown>, 'leftover'>>;

/**
 * A person has done it by hand, because our own calls would not go through: the step counts as done, nothing is left
 * over, and the journal has who says so. Not offered where the step makes something that later steps need to know (a
 * cart item's id).
 */
interface ByHand<T> {
  counts: () => T;
  /** The call that need not be made any more, for the journal; absent where the step only looks. */
  call?: (step: string) => EffectCall;
}

/** The step that cannot be undone. */
export interface Pivot<T> {
  /** Stands in the progress from when it is called. */
  step: () => Step;
  /** Names for a question what may be placed: "the order", "the switch". */
  noun: string;
  /** The report says this of what was placed, by name. */
  facts: (placed: Placement<T>) => Record<string, unknown>;
  /** Says by what to know it again, as it is sent now. */
  note: () => PivotNote;
  act: Act<Placement<T>>;
  corrections?: Corrections;
  /** How many corrections of the request are in it. */
  timesCorrected: () => number;
  /** The request's rule: how long a person has to approve it. */
  approval: ExpiringRule | undefined;
  /** The question whether it may be placed at these terms. @param why further sentences, each after a space */
  approving: (terms: Terms, why: string) => string;
  /** Runs before each sending, also between automatic retries. */
  beforeSending?: () => Promise<void>;
  /** It is not sent after this time. */
  quoteUntil?: () => string | undefined;
  /** Looks whether it happened, without a person. @param once without automatic retries */
  look?: (once?: boolean) => Promise<Looked>;
  /** Undefined where it brings no servers. */
  confirming?: () => Confirming | undefined;
}

/** A look's finding; undefined if it has not found it, `nobody` if no look can show that. */
export type Looked = number[] | 'nobody' | undefined;

/** A person may say this beside “it was placed”. */
interface Confirming {
  hint?: string | undefined;
  /** A sentence where these object ids do not fit. */
  objection: (vmObjectIds: readonly number[]) => string | undefined;
}

export interface FailurePolicy {
  /** How a provider's refusal ends the saga; `ask`: past the point of no return, a person is asked instead. */
  refusal: SagaFailureName | 'ask';
  skippable?: boolean;
  /** True where it is left out when the history has no room to wait on, though nobody may leave it out by themselves. */
  skippedWhenFull?: boolean;
  corrections?: Corrections | undefined;
  /** Called before something else is tried for what is sold out. */
  beforeInstead?: () => Promise<void>;
  undoing?: boolean;
}

/** `note`: what a person said who left it out. `kept`: why nobody was asked. */
export type StepOutcome<T> = { skipped: false; value: T } | { skipped: true; note?: string; kept?: string };

export interface Failed<T> {
  spec: StepSpec<T>;
  failure: CallFailure;
}

/**
 * Throws where a failure says that the saga has to be begun again, or to end. The first in this order counts.
 *
 * @param refusal how the saga ends where the provider refuses; `ask`: a person is asked
 */
export function throwIfSagaCannotGoOn<T>(failed: readonly Failed<T>[], refusal: FailurePolicy['refusal']): void {
  const first = (name: CallFailureName) => failed.find(({ failure }) => failure.failure === name);
  const changed = first('StateChanged');
  if (changed) throw new StateChanged(changed.spec.step, changed.failure);
  const ends = [
    ['OrderCancelled', 'OrderCancelled'],
    ['DeadlinePassed', 'DeadlinePassed'],
    ['GuardViolated', 'GuardViolated'],
    ['Rejected', refusal],
  ] as const;
  for (const [name, type] of ends) {
    const one = first(name);
    if (one === undefined || type === 'ask') continue;
    markAll(failed, 'failed');
    throw new SagaFailed(type, `${one.spec.title ?? one.spec.step.title}: ${describeFailure(one.failure)}`);
  }
}

export function markAll<T>(failed: readonly Failed<T>[], as: 'failed' | 'stuck'): void {
  for (const { spec, failure } of failed) spec.step.end(as, describeFailure(failure));
}
