/**
 * The view of a saga while it runs and after: the `progress` query's answer, and the search attributes by which an
 * operator finds it.
 *
 * A search attribute is written only once something happened that an operator filters on: a saga that meets no trouble
 * writes no event for it, but for the servers that it bought.
 */
import type { SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { WorkflowName } from '../../domain/identity';
import { isOutcome, type Leftover } from '../../domain/outcomes';
import { cutWell } from '../../domain/markdown';
import type {
  DecisionRecord,
  Milestone,
  ProgressView,
  Queued,
  Reached,
  SagaState,
  Settling,
  StepStatus,
  StepView,
  Waiting,
} from '../../domain/progress';
import { sagaAttributes, serverIdsOf } from '../../temporal/search-attributes';

const { state: stateKey, step: stepKey, servers: serversKey, waitingSince: sinceKey } = sagaAttributes;
const { question: questionKey, failure: failureKey } = sagaAttributes;

/** The first decisions are kept as they came; words of later ones are cut: a report fits one payload of Temporal. */
const decisionsInFullMax = 50;
const wordsMax = 100;

export class Step {
  status: StepStatus = 'pending';
  attempts = 0;
  private startedAt?: string;
  private endedAt?: string;
  private detail?: string;

  constructor(
    readonly id: string,
    readonly title: string,
    /** A step of our own bookkeeping: shown only where there is something to say of it. */
    readonly isInternal = false,
  ) {}

  get isShown(): boolean {
    return !this.isInternal || this.detail !== undefined || this.status === 'stuck';
  }

  get isUnderWay(): boolean {
    return this.status === 'running' || this.status === 'undoing';
  }

  begin(status: 'running' | 'undoing'): void {
    this.status = status;
    this.attempts += 1;
    this.startedAt ??= now();
    delete this.endedAt;
  }

  /** Goes on without a call. */
  resume(detail: string): void {
    this.status = 'running';
    this.startedAt ??= now();
    delete this.endedAt;
    this.setDetail(detail);
  }

  end(status: Exclude<StepStatus, 'pending' | 'running' | 'undoing'>, detail?: string): void {
    this.status = status;
    // A step that is stuck has not ended: it may go on.
    if (status !== 'stuck') this.endedAt = now();
    this.setDetail(detail);
  }

  setDetail(detail: string | undefined): void {
    if (detail === undefined) delete this.detail;
    else this.detail = detail;
  }

  view(): StepView {
    const { id, title, status, attempts, startedAt, endedAt, detail } = this;
    return { id, title, status, attempts, startedAt, endedAt, detail };
  }
}

export class Progress {
  state: SagaState = 'running';
  readonly steps: Step[] = [];
  private readonly reached: Reached[] = [];
  readonly leftovers: Leftover[] = [];
  /** Ids of the steps that a person left out. */
  readonly skipped: string[] = [];
  readonly decisions: DecisionRecord[] = [];
  /** The report names these: the ids of what was made, the order, quotes. */
  readonly facts: Record<string, unknown> = {};
  private waiting?: Waiting;
  private queued?: Queued;
  /** By step: until when a call of it may be in flight. */
  private readonly settling = new Map<string, Settling>();
  /** The saga was doing this when it began to wait, and goes on with it. */
  private resumes: 'running' | 'undoing' = 'running';
  private everShown = false;
  /** Trouble has made it wait for a person. */
  neededPerson = false;
  /** The saga does nothing more but undo, look and say how it has ended. */
  isEnding = false;

  constructor(
    readonly workflow: WorkflowName,
    readonly reference: string,
  ) {}

  /** If a saga begins again, the first time counts. */
  reach(milestone: Milestone, { vmObjectIds }: Pick<Reached, 'vmObjectIds'>): void {
    if (this.reached.some((one) => one.milestone === milestone)) return;
    this.reached.push({ milestone, at: now(), vmObjectIds });
  }

  addLeftovers(...leftovers: readonly Leftover[]): void {
    this.leftovers.push(...leftovers);
  }

  /** The report that was told counts, and not this run's findings; this run's decisions stay beside it. */
  adoptReport({ leftovers, decisions }: Pick<ProgressView, 'leftovers' | 'decisions'>): void {
    this.leftovers.splice(0, this.leftovers.length, ...leftovers);
    const isOf = (one: DecisionRecord) => (other: DecisionRecord) =>
      other.at === one.at && other.question === one.question;
    for (const decision of decisions) if (!this.decisions.some(isOf(decision))) this.decide(decision);
  }

  addFacts(facts: Readonly<Record<string, unknown>>): void {
    Object.assign(this.facts, facts);
  }

  /** The servers that an order brought: the saga is found by each of them. One event, whatever becomes of the saga. */
  nameServers(vmObjectIds: readonly number[]): void {
    if (vmObjectIds.length > 0) upsertSearchAttributes([{ key: serversKey, value: serverIdsOf(vmObjectIds) }]);
  }

  /** The step of this id; a new one stands last. @param quiet see {@link Step.isShown} */
  step(id: string, title: string, quiet = false): Step {
    const known = this.find(id);
    if (known) return known;
    const step = new Step(id, title, quiet);
    this.steps.push(step);
    return step;
  }

  find(id: string): Step | undefined {
    return this.steps.find((step) => step.id === id);
  }

  /** The saga waits for a person, and the list shows at what, why and since when. One event. */
  wait(waiting: Waiting): void {
    this.waiting = waiting;
    this.enterWait(waiting.kind, waiting.step, [
      { key: questionKey, value: waiting.id },
      ...(waiting.lastFailure ? [{ key: failureKey, value: waiting.lastFailure.failure }] : []),
      { key: sinceKey, value: new Date(waiting.since) },
    ]);
  }

  /** @param at undefined: not any more */
  planTry(at: string | undefined): void {
    if (this.waiting) this.waiting.nextTryAt = at;
  }

  answered(): void {
    this.stopWaiting();
    this.enter(this.resumes);
  }

  /** It waits at a step. One event. @param asked for a question, of which alone the list shows since when it waits */
  enterWait(
    state: Waiting['kind'] | 'held' | 'queued' | 'settling',
    step: string,
    asked: SearchAttributePair[] = [],
  ): void {
    if (this.state === 'running' || this.state === 'undoing') this.resumes = this.state;
    this.state = state;
    this.everShown = true;
    upsertSearchAttributes([{ key: stateKey, value: state }, { key: stepKey, value: step }, ...asked]);
  }

  /** The saga waits for its turn. One event, however often it looks. */
  queue(step: string, queued: Queued): void {
    this.queued = queued;
    if (this.state !== 'queued') this.enterWait('queued', step);
  }

  stopQueueing(): void {
    delete this.queued;
  }

  /** The saga waits until no call of a step can be in flight. One event, however often it looks; none beside a question. */
  enterSettling(step: string, untilMs: number): void {
    this.settling.set(step, { step, until: new Date(untilMs).toISOString() });
    if (this.state !== 'settling' && !this.waiting) this.enterWait('settling', step);
  }

  leaveSettling(step: string): void {
    if (this.settling.delete(step) && this.settling.size === 0 && !this.waiting) this.enter(this.resumes);
  }

  /** The wait is over; what comes next says {@link enter}. */
  stopWaiting(): void {
    delete this.waiting;
  }

  /** @param isTold found by it, also where it met no trouble: what it came to, unless it is simply done */
  enter(
    state: Exclude<SagaState, Waiting['kind'] | 'held' | 'queued' | 'settling'>,
    isTold = isOutcome(state) && state !== 'done',
  ): void {
    if (this.state === state) return;
    this.state = state;
    if (!this.everShown && !isTold) return;
    // Empty lists, not null: the server hands on what it was given, and the Python SDK can neither describe nor list a
    // run with a time that is null.
    const noWait = [stepKey, questionKey, failureKey, sinceKey].map(({ name }) => [name, []] as const);
    upsertSearchAttributes({ [stateKey.name]: [state], ...Object.fromEntries(noWait) });
  }

  decide(decision: DecisionRecord): void {
    this.decisions.push(this.decisions.length < decisionsInFullMax ? decision : inFewWords(decision));
  }

  view(): ProgressView {
    const { reference, workflow, state, reached, waiting, queued, leftovers, decisions } = this;
    const steps = this.steps.filter(({ isShown }) => isShown).map((step) => step.view());
    const [settling] = [...this.settling.values()].sort((one, other) => other.until.localeCompare(one.until));
    return { reference, workflow, state, steps, reached, waiting, queued, settling, leftovers, decisions };
  }
}

function inFewWords(decision: DecisionRecord): DecisionRecord {
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? cutWell(value, wordsMax) : value);
  return JSON.parse(JSON.stringify(decision, cut)) as DecisionRecord;
}

export function now(): string {
  return new Date().toISOString();
}

/** A sweep that has not ended a round of all servers is found by that. */
export function markPartly(): void {
  upsertSearchAttributes([{ key: stateKey, value: 'partly' }]);
}
