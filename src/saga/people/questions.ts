/** The questions that a person is asked when a step does not go on by itself, in plain words. */
import type { z } from 'zod';
import type { Decision, DecisionName } from '../../domain/decisions';
import { isForbidden, type CallFailure, type CallFailureName } from '../../domain/failures';
import type { WaitKind } from '../../domain/progress';
import type { OnRefusal } from '../../domain/requests';
import { whyFull } from '../history-left';
import type { Step } from '../shown/progress';

/** Fields that a `retry` may correct at the step that waits. */
export interface Correction {
  /** A strict one: it names what may be corrected. */
  schema: () => z.ZodObject;
  /** A sentence where each field is valid, and the whole is not. */
  objection?: (correction: Record<string, unknown>) => string | undefined;
  apply: (correction: Record<string, unknown>, said: Attribution) => Promise<void> | void;
}

/** Who has corrected, and at which step. */
export interface Attribution {
  step: string;
  by: string;
  note?: string | undefined;
}

/** A refused step allows more corrections than a stuck one: it has surely not been done. */
export interface Corrections {
  stuck?: Correction;
  /** Without it a refusal is not asked about before the pivot. */
  refused?: Correction;
}

export interface Question<K extends WaitKind = WaitKind> {
  kind: K;
  /** The id of what it is about, a row or a quote: no replay and no restored history gives it twice. */
  subject?: string | undefined;
  step: string;
  /** Ids of all that wait together, where more than one does. */
  steps?: string[] | undefined;
  /** How many object ids are asked for. */
  servers?: number;
  question: string;
  /** Whether those fit that do not fit every question of the kind. */
  fits?: Partial<Record<DecisionName, boolean | undefined>>;
  lastFailure?: CallFailure | undefined;
  correction?: Correction | undefined;
  /** Decides for a person who has not answered in time. Never a yes. */
  expiry?: { inMs: number; decision: OurOwn<'reject'> } | undefined;
  /** Decides if the run has no room to wait on. Without it the saga fails then. */
  whenFull?: OurOwn<'skip'> | undefined;
  /** A sentence where a well-formed decision does not fit, such as a wrong number of servers. */
  objection?: ((decision: Decision) => string | undefined) | undefined;
}

/** A decision of the saga itself: of the question that is open then, and nobody's. */
export type OurOwn<D extends DecisionName> = Omit<Extract<Decision, { decision: D }>, 'question' | 'by'>;

export interface Stuck {
  spec: { step: Step; title?: string; byHand?: unknown };
  failure: CallFailure;
}

export interface Offers {
  undoing?: boolean;
  skippable?: boolean;
  skippedWhenFull?: boolean | undefined;
  /** It follows what was placed, which the provider may have cancelled. */
  cancellable?: boolean;
  /** A person may say that the provider has refused it. */
  refusable?: boolean;
  correction?: Correction | undefined;
}

export function stuckQuestion(stuck: readonly Stuck[], offers: Offers = {}): Question<'stuck'> {
  const { undoing, skippable, skippedWhenFull, cancellable, refusable, correction } = offers;
  const [first] = stuck;
  if (first === undefined) throw new Error('nothing is stuck');
  const steps = stuck.map(({ spec }) => spec.step.id);
  const markable = stuck.every(({ spec }) => spec.byHand !== undefined);
  const what = `${undoing ? 'Undoing' : 'Stuck'}: “${titlesOf(stuck.map(({ spec }) => spec))}” did not succeed. ${cause(first.failure)}`;
  return {
    kind: 'stuck',
    step: first.spec.step.id,
    question: `${what}${advice(first.failure, offers, markable)}`,
    fits: { markDone: markable, skip: skippable, reject: refusable, markCancelled: cancellable },
    whenFull: skippable || skippedWhenFull ? { decision: 'skip', note: whyFull } : undefined,
    lastFailure: first.failure,
    correction,
    steps: steps.length > 1 ? steps : undefined,
    objection: markable ? (decision) => wrongSteps(decision, steps) : undefined,
  };
}

/** The setting counts if the request does not say it; it came with the answer: a workflow reads none. */
export function asksAfterRefusal(requested: OnRefusal | undefined, { asks }: { asks?: true }): boolean {
  return requested === undefined ? asks === true : requested === 'ask';
}

/** Before the pivot, and surely not done. @param why as the provider says it */
export function refusedQuestion(
  steps: readonly Stuck['spec'][],
  why: string,
  { lastFailure, correction }: Pick<Question, 'lastFailure' | 'correction'>,
): Question<'refused'> {
  const [first] = steps;
  if (first === undefined) throw new Error('nothing is refused');
  return {
    kind: 'refused',
    step: first.step.id,
    question:
      `Refused: “${titlesOf(steps)}” was not done. ${why} ` +
      'Retry with a correction, or as it is; or request cancellation.',
    lastFailure,
    correction,
  };
}

/** An order of many servers may be stuck at all of them: the question stays short enough to say what can be done. */
const titlesMax = 3;

function titlesOf(specs: readonly Stuck['spec'][]): string {
  const titles = specs.map(({ title, step }) => title ?? step.title);
  const more = titles.length - titlesMax;
  return titles.slice(0, titlesMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Explains a failure, and whose it is, to a reader who does not know our names for it. */
export function cause(failure: CallFailure): string {
  return causes[failure.failure](failure);
}

const because =
  (what: string) =>
  ({ message }: CallFailure): string =>
    `${what}: ${message}.`;

const causes: Record<CallFailureName, (failed: CallFailure) => string> = {
  Unauthorized: (failed) => {
    if (!isForbidden(failed)) return 'The provider refuses our credentials: they must be fixed first.';
    return (
      'The provider forbids it (403). Either our credentials are not allowed this, or the provider refuses this request ' +
      `(a quota, a plan). ${failed.body ? `It says: ${failed.body}.` : 'It does not say which.'}`
    );
  },
  UnexpectedResponse: () => 'The answer did not come from the provider’s service: is its base URL right?',
  Rejected: because('The provider refuses it'),
  NotSent: () => 'The provider could not be reached, again and again; nothing was sent.',
  TokenUnreadable: () => 'Our own token for the provider could not be read, again and again; nothing was sent.',
  RateLimited: () => 'The provider keeps asking us to slow down.',
  NotYet: because('The provider does not take it yet'),
  // The question has the answer: it may be a refusal in words that nobody here knows.
  UnknownOutcome: ({ message, status }) =>
    status === undefined
      ? 'The provider did not answer, again and again.'
      : `Whether the provider has done it is not known: ${message}.`,
  JournalUnavailable: ({ message }) =>
    `Our own journal fails, not the provider: ${message}. Nothing is sent without it.`,
  JournalUnreadable: because('Our own journal fails, not the provider'),
  JournalRestored: ({ message }) =>
    `Our own journal was restored or replaced: ${message}. Have docs/journal.md followed first (\`order-saga journal restored\`).`,
  TemporalUnavailable: because('Temporal fails, not the provider'),
  StoodStill: because('Our own worker stood still before it could send, again and again'),
  WorkerLost: () => 'Our own workers were lost in the middle of it, again and again.',
  NotVisibleYet: because('The provider’s own list does not show it'),
  NotDeclared: because('Nobody can know it from the provider’s own answer'),
  SecretMissing: because('Our own secret cannot be read'),
  UnderWay: because('Our own earlier call may still be in flight'),
  StateChanged: because('Our own run goes by what is not so any more, again and again'),
  Ordered: because('An order has it, or may'),
  DeadlinePassed: because('The request’s time is over'),
  QuoteAged: because('Our own quote is too old'),
  GuardViolated: because('The guard forbids it'),
  OrderCancelled: because('The provider has cancelled it'),
  NeedsApproval: because('A person has to say yes first'),
};

/** A refusal shows so many of the steps; `progress` has them all. */
const stepsToldMax = 20;

/** Which steps were done must be said: what is true of one server may not be true of another. */
function wrongSteps(decision: Decision, waiting: readonly string[]): string | undefined {
  if (decision.decision !== 'markDone') return undefined;
  const those = `those that wait are ${waiting.slice(0, stepsToldMax).join(', ')}${waiting.length > stepsToldMax ? ', …' : ''}`;
  const { steps } = decision;
  if (steps === undefined) {
    return waiting.length > 1 ? `steps: is required: name the steps that you have done; ${those}` : undefined;
  }
  const other = steps.find((step) => !waiting.includes(step));
  return other === undefined ? undefined : `steps: ${other.slice(0, 100)} does not wait; ${those}`;
}

/** Something is to be put right before these are tried again. */
const fixedFirst: CallFailureName[] = ['Unauthorized', 'UnexpectedResponse', 'JournalUnreadable', 'JournalRestored'];

function advice({ failure }: CallFailure, offers: Offers, markable: boolean): string {
  const { undoing, skippable, refusable, correction } = offers;
  if (refusable) {
    return (
      ` Fix the credentials and retry${correction ? ', or retry with a correction' : ''}; ` +
      'or reject it: it counts as refused, and the saga undoes and ends.'
    );
  }
  const retry = fixedFirst.includes(failure) ? ' Then retry' : ' Retry';
  const marked = markable ? ', or mark it as done once you have done it by hand' : '';
  if (undoing && !skippable) return `${retry}${marked}.`;
  if (undoing) return `${retry}${marked}, or skip it: what is left behind will be listed in the outcome.`;
  return `${retry}${marked}, or ${skippable ? 'skip it and go on without' : 'request cancellation'}.`;
}
