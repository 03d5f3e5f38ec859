/**
 * The states of a saga, from the contract and the design alone: where it stands, what it waits for, which decisions
 * fit, and whether the provider has what was asked for.
 *
 * ```text
 *   states before ──command──▶ states that may follow ──what the real saga shows──▶ the ones that remain; none: a bug
 * ```
 *
 * A state is where a saga has come to rest: it waits, one of its calls is held, or it has ended. Mostly one state
 * follows another. After a reset the model says nothing of it: nobody told how far back it went, and only the promises
 * hold (`commands.ts`).
 *
 * It is pure: a state is never changed, only followed by others.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { DecisionName } from '../../../src/domain/decisions';
import type { SagaFailureName } from '../../../src/domain/failures';
import type { Leftover } from '../../../src/domain/outcomes';
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import type { Calls, Stage, Story } from './sagas';
import { meaningOf, type Meaning, type Trouble } from './troubles';

/** Tries of a call that is repeated by itself, as the rig has it. */
const attemptsMax = 3;

/** The trouble of the next call, or of all calls, of an endpoint. */
export interface Armed {
  trouble?: Trouble;
  lasting?: boolean;
  /** The next call is held, after its effect, until somebody lets it go on. */
  held?: boolean;
}

interface Wait {
  kind: WaitKind;
  step: string;
  choices: DecisionName[];
}

type Rest =
  | { is: 'waiting'; wait: Wait }
  | { is: 'held'; endpoint: EndpointName; answer: Answer; then: Effects }
  | { is: 'ended'; as: 'done' | 'cancelled' }
  | { is: 'ended'; as: 'failed'; type: SagaFailureName };

/** A call's change outside of the saga, and whether the saga knows its servers by it. */
type Effects = Pick<State, 'placed' | 'serversKnown' | 'assigned' | 'isNameless'>;

interface Answer {
  through: number;
  /** How many of those only when tried again. */
  repeated: number;
  failed: number;
  why?: 'refused' | 'barred' | 'lost';
}

interface Level {
  step: string;
  calls: EndpointName[];
  /** How many side by side. */
  count: number;
  leftover: Leftover['kind'];
}

export interface State {
  story: Story;
  armed: Partial<Record<EndpointName, Armed>>;
  rest: Rest;
  /** The stage it is at, and how many of its calls are not through. */
  stage: number;
  open: number;
  /** How many calls of this stage got through. */
  through: number;
  levels: Level[];
  /** Set once it undoes: which call of the last level is next. */
  undoing: number | undefined;
  failing: SagaFailureName | undefined;
  cancelled: boolean;
  /**
   * The journal's knowledge of the pivot: nothing that stands, a call of which nobody knows what became, or that it was
   * placed.
   */
  fate: 'before' | 'unknown' | 'past';
  /** Calls to add an item of which nobody knows whether they did, and which were not told yet. */
  doubts: number;
  serversKnown: boolean;
  /** The answer to the order names no servers. */
  isNameless: boolean;
  /** The provider has what was asked for. */
  placed: boolean;
  /** The server has the firewalls that were to be assigned. */
  assigned: boolean;
  /** Servers whose firewalls a person left out: told when it ends. */
  leftOut: number;
  /** Sorted; undefined where the model cannot know them all. */
  leftovers: Leftover['kind'][] | undefined;
  /** A person has left something out. */
  skipped: boolean;
}

/** The states in which a saga of this story may come to rest after its start. */
export function begin(story: Story, armed: State['armed']): State[] {
  const fresh: State = {
    story,
    armed,
    rest: { is: 'ended', as: 'done' },
    stage: 0,
    open: 0,
    through: 0,
    levels: [],
    undoing: undefined,
    failing: undefined,
    cancelled: false,
    fate: 'before',
    doubts: 0,
    serversKnown: false,
    isNameless: false,
    placed: false,
    assigned: false,
    leftOut: 0,
    leftovers: [],
    skipped: false,
  };
  return enter(fresh, 0);
}

/** A decision that fits is taken. `named`: it names the servers. */
export function decide(before: State, decision: DecisionName, named: boolean): State[] {
  const state = { ...before, skipped: before.skipped || decision === 'skip' };
  switch (decision) {
    case 'retry':
      if (state.undoing !== undefined) return undo({ ...state, undoing: 0 });
      return callsOf(state)?.pivot ? dareAgain(state) : goOn(state);
    case 'skip':
      return state.undoing === undefined ? leaveOut(state) : leaveBehind(state);
    case 'confirmPlaced':
      return pastPivot({ ...state, serversKnown: named });
    // Nobody does anything by hand here, and the sandbox cancels nothing.
    case 'markDone':
    case 'markCancelled':
      return [];
    case 'confirmNotPlaced':
      return dareAgain({ ...state, fate: 'before' });
    case 'approve':
      return enter(state, state.stage + 1);
    case 'reject':
      return giveUp({ ...state, failing: 'NotApproved' });
    case 'provideServers':
      return enter({ ...state, serversKnown: true }, state.stage + 1);
  }
}

/** Its cancellation is asked for. What is under way, or being undone, is not cut short. */
export function cancel(before: State): State[] {
  const state = { ...before, cancelled: true };
  if (state.undoing !== undefined) return [state];
  if (state.rest.is !== 'held') return giveUp(state);
  // How often the other calls of the stage were tried by then is a matter of moments.
  const { failed, repeated } = state.rest.answer;
  return [failed + repeated > 0 ? { ...state, leftovers: undefined } : state];
}

/** The call that is held goes on. */
export function release(before: State): State[] {
  const { rest } = before;
  if (rest.is !== 'held') return [before];
  const goesOn = !before.cancelled || before.undoing !== undefined || rest.answer.repeated === 0;
  const state = { ...before, ...(goesOn ? rest.then : {}) };
  return state.undoing === undefined ? settle(state, rest.answer) : settleUndo(state, rest.answer);
}

export function arm(state: State, endpoint: EndpointName, armed: Armed): State {
  return { ...state, armed: { ...state.armed, [endpoint]: { ...state.armed[endpoint], ...armed } } };
}

export function disarm(state: State): State {
  return { ...state, armed: {} };
}

/** True if the real saga may be in this state, by what it shows and by what the provider has. */
export function allows(state: State, view: ProgressView, isPlaced: boolean): boolean {
  const { rest, undoing, leftovers, placed } = state;
  if (placed !== isPlaced) return false;
  if (rest.is === 'held') {
    // The undo of an assignment that has waited for it, while it was in flight, shows so until it is through.
    const settles = undoing !== undefined && rest.endpoint === 'unassign-firewalls' && view.state === 'settling';
    return (settles || view.state === (undoing === undefined ? 'running' : 'undoing')) && view.waiting === undefined;
  }
  const left = view.leftovers.map(({ kind }) => kind).sort();
  if (leftovers !== undefined && leftovers.join() !== left.join()) return false;
  if (rest.is === 'ended') return endsAs(state).includes(view.state) && view.waiting === undefined;
  const { kind, step, choices } = rest.wait;
  const { waiting } = view;
  if (waiting === undefined || view.state !== kind || waiting.kind !== kind) return false;
  const isStep = step.endsWith('*') ? waiting.step.startsWith(step.slice(0, -1)) : waiting.step === step;
  return isStep && waiting.choices.join() === choices.join();
}

/** Its outcome at the provider, in a word; both if the model does not know all that was left. */
function endsAs({ rest, fate, leftovers, skipped }: State): ProgressView['state'][] {
  if (rest.is === 'ended' && rest.as === 'done') {
    if (leftovers === undefined) return ['done', 'partly'];
    return leftovers.length > 0 || skipped ? ['partly'] : ['done'];
  }
  if (fate === 'past') return leftovers?.length ? ['partly'] : ['done', 'partly'];
  if (leftovers === undefined) return ['reversed', 'reversed-with-leftovers'];
  return leftovers.length > 0 ? ['reversed-with-leftovers'] : ['reversed'];
}

/** Two ways to the same state are one. */
export function distinct(states: readonly State[]): State[] {
  const keyed = states.map((state) => [JSON.stringify({ ...state, story: '' }), state] as const);
  return [...new Map(keyed).values()];
}

/** For whoever reads why none fitted. */
export function describeState({ rest, placed, leftovers }: State): string {
  const facts = `${placed ? 'placed' : 'not placed'}, ${leftovers ? `leftovers [${leftovers.join()}]` : 'any leftovers'}`;
  switch (rest.is) {
    case 'waiting':
      return `waits as ${rest.wait.kind} at ${rest.wait.step} for ${rest.wait.choices.join(' or ')} (${facts})`;
    case 'held':
      return `its call ${rest.endpoint} is held (${facts})`;
    case 'ended':
      return `ended as ${rest.as}${rest.as === 'failed' ? ` ${rest.type}` : ''} (${facts})`;
  }
}

// Going forward

function enter(state: State, stage: number): State[] {
  const next = state.story.stages[stage];
  const open = next?.is !== 'calls' ? 0 : next.follows ? state.through : next.calls;
  return goOn({ ...state, stage, open, through: 0 });
}

function goOn(state: State): State[] {
  const stage = state.story.stages[state.stage];
  if (stage === undefined) {
    return state.cancelled ? giveUp(state) : [{ ...leavingOpen(miscounted(state)), rest: { is: 'ended', as: 'done' } }];
  }
  if (stage.is === 'servers' && state.serversKnown) return enter(state, state.stage + 1);
  if (state.cancelled) return giveUp(state);
  if (stage.is === 'approval') return waits(state, 'approval', stage.step, ['approve', 'reject']);
  if (stage.is === 'servers') return waits(state, 'servers', stage.step, ['provideServers', 'markCancelled']);
  return again(state);
}

/** Makes the calls of the stage that are not through. */
function again(state: State): State[] {
  const stage = callsOf(state);
  if (stage === undefined) return goOn(state);
  if (state.open === 0) return enter(state, state.stage + 1);
  const { undo } = stage;
  const armed = undo && 'armed' in undo ? armedFor(state, stage, undo.armed) : state;
  return call(armed, stage.endpoint, state.open, settle);
}

function settle(state: State, answer: Answer): State[] {
  const stage = callsOf(state);
  if (stage === undefined) throw new Error('only calls are answered');
  // A cancelled saga tries nothing again, but what it undoes.
  const { through, failed, why } = state.cancelled ? triedOnce(answer) : answer;
  if (stage.pivot) return settlePivot(state, stage, why);
  const { undo } = stage;
  const next: State = {
    ...state,
    open: failed,
    through: state.through + through,
    levels: undo && 'each' in undo ? withMade(state.levels, stage, undo.each, through) : state.levels,
  };
  if (failed === 0) return next.cancelled ? giveUp(next) : enter(next, next.stage + 1);
  if (why === 'refused' && stage.refusal) return refused(next, stage.step, stage.refusal);
  return stuck(next);
}

function settlePivot(state: State, { step, refusal }: Calls, why: Answer['why']): State[] {
  switch (why) {
    case undefined:
      return pastPivot(state);
    case 'refused':
      return refused(state, step, refusal);
    case 'barred':
      return stuck(state);
    case 'lost':
      return doubt(state);
  }
}

/** Nothing before it is undone any more; what may have been added unseen is told. */
function pastPivot(state: State): State[] {
  return enter({ ...tellingDoubts(state), fate: 'past', levels: [] }, state.stage + 1);
}

function refused(state: State, step: string, failing: State['failing']): State[] {
  if (!state.story.asksWhenRefused || state.cancelled) return giveUp({ ...state, failing });
  return waits(state, 'refused', step, ['retry']);
}

function stuck(state: State): State[] {
  const stage = callsOf(state);
  if (stage === undefined) return [];
  if (state.cancelled) return giveUp(state);
  const markable =
    ['assign-firewalls', 'unassign-firewalls'].includes(stage.endpoint) || stage.step.startsWith('verify');
  const { stages } = state.story;
  const isPast = stages.slice(0, state.stage).some((one) => one.is === 'calls' && one.pivot);
  const choices: DecisionName[] = [
    'retry',
    ...(markable ? ['markDone' as const] : []),
    ...(stage.skippable ? ['skip' as const] : []),
    ...(isPast ? ['markCancelled' as const] : []),
  ];
  return waits(state, 'stuck', stage.step, choices);
}

/** Nobody knows whether the pivot happened: nothing is tried again, and nothing undone, before somebody says. */
function doubt(before: State): State[] {
  const state: State = { ...before, fate: 'unknown' };
  if (state.cancelled) return giveUp(state);
  return waits(state, 'outcome-unknown', callsOf(state)?.step ?? '', [
    'confirmPlaced',
    'confirmNotPlaced',
    'markCancelled',
  ]);
}

/** If there were terms, they may have moved: it comes to terms again. */
function dareAgain(state: State): State[] {
  return state.story.stages[0]?.step === 'quote' ? enter(state, 0) : goOn(state);
}

// Going back

/** The journal says what is not to be undone. */
function giveUp(state: State): State[] {
  const { fate, levels } = state;
  if (fate === 'past') return undo({ ...leavingOpen(state), undoing: 0, levels: [] });
  if (fate === 'before') return undo({ ...state, undoing: 0 });
  return undo({ ...leaving(state, [...levels.flatMap(leftoversOf), 'placement-unknown']), undoing: 0, levels: [] });
}

function undo(state: State): State[] {
  const level = state.levels.at(-1);
  if (level === undefined) return [ended({ ...tellingDoubts(state), undoing: undefined })];
  const endpoint = level.calls[state.undoing ?? 0];
  const over: State = { ...state, undoing: 0, levels: state.levels.slice(0, -1) };
  if (endpoint === undefined) return undo(over);
  // A call without effect need not be undone, but is if its outcome is not known.
  const mayBeOver = endpoint === 'unassign-firewalls' && !state.assigned;
  return [...call(state, endpoint, level.count, settleUndo), ...(mayBeOver ? undo(over) : [])];
}

function settleUndo(state: State, { failed }: Answer): State[] {
  const level = state.levels.at(-1);
  if (level === undefined) throw new Error('nothing is being undone');
  if (failed === 0) return undo({ ...state, undoing: (state.undoing ?? 0) + 1 });
  const levels = [...state.levels.slice(0, -1), { ...level, count: failed }];
  return waits({ ...state, levels }, 'stuck', level.step, ['retry', 'markDone', 'skip']);
}

function ended(state: State): State {
  const { cancelled, failing } = state;
  const failed = cancelled ? undefined : failing;
  return { ...state, rest: failed ? { is: 'ended', as: 'failed', type: failed } : { is: 'ended', as: 'cancelled' } };
}

function tellingDoubts(state: State): State {
  const told = Array<Leftover['kind']>(state.doubts).fill('cart-item-unknown');
  return { ...leaving(state, told), doubts: 0 };
}

function leaveOut(state: State): State[] {
  const isAssigning = callsOf(state)?.endpoint === 'assign-firewalls';
  const leftOut = state.leftOut + (isAssigning ? state.open : 0);
  return enter({ ...state, leftOut }, state.stage + 1);
}

/**
 * Every server that was bought and has not got its firewalls is told; where nobody knows the servers, all of them as
 * one.
 */
function leavingOpen(state: State): State {
  const { story, stage, open, serversKnown, leftOut } = state;
  const assigning = story.stages.findIndex((one) => one.is === 'calls' && one.endpoint === 'assign-firewalls');
  const { [assigning]: stageOfIt } = story.stages;
  if (story.workflow !== 'provisionServers' || stageOfIt?.is !== 'calls') return state;
  const ahead = serversKnown ? stageOfIt.calls : 1;
  const lacking = stage < assigning ? ahead : stage === assigning ? open : leftOut;
  return leaving(state, Array<Leftover['kind']>(lacking).fill('server-unprotected'));
}

/** Where nobody asks for the servers of an order, it is told that its answer names none. */
function miscounted(state: State): State {
  const { story, isNameless } = state;
  const asks = story.stages.some((stage) => stage.is === 'servers');
  return story.workflow === 'provisionServers' && isNameless && !asks ? leaving(state, ['servers-miscounted']) : state;
}

function leaveBehind(state: State): State[] {
  const last = state.levels.slice(-1);
  // What has replaced a firewall that is not there again stays.
  const over = last[0]?.calls.includes('assign-firewalls') ? state.levels : last;
  return undo({
    ...leaving(state, over.flatMap(leftoversOf)),
    undoing: 0,
    levels: state.levels.slice(0, -over.length),
  });
}

function withMade(levels: readonly Level[], { step }: Calls, undo: EndpointName, made: number): Level[] {
  const count = made + (levels.find((level) => level.step === step)?.count ?? 0);
  const others = levels.filter((level) => level.step !== step);
  return count === 0 ? others : [...others, { step, calls: [undo], count, leftover: 'cart-item' }];
}

function armedFor(state: State, { step }: Calls, calls: EndpointName[]): State {
  if (state.levels.some((level) => level.step === step)) return state;
  return { ...state, levels: [...state.levels, { step, calls, count: 1, leftover: 'firewalls' }] };
}

function leftoversOf({ leftover, count }: Level): Leftover['kind'][] {
  return Array<Leftover['kind']>(count).fill(leftover);
}

function leaving(state: State, kinds: Leftover['kind'][]): State {
  return { ...state, leftovers: state.leftovers && [...state.leftovers, ...kinds].sort() };
}

// Calling

function call(
  state: State,
  endpoint: EndpointName,
  count: number,
  settled: (state: State, answer: Answer) => State[],
): State[] {
  const { trouble, lasting = false, held = false } = state.armed[endpoint] ?? {};
  const isPivot = callsOf(state)?.pivot === true && state.undoing === undefined;
  const struck = trouble === undefined ? 0 : lasting ? count : 1;
  // The undo of an assignment looks first: what took effect unseen is then seen.
  const looks = endpoint === 'unassign-firewalls' && state.undoing !== undefined;
  const answer = answerTo(trouble, { struck, count, lasting, isPivot, looks });
  const meaning = trouble && meaningOf(trouble, isPivot);
  // Only a pivot does not believe a refusal.
  const leaves = trouble?.leavesDoubt === true && trouble.meaning !== 'refused';
  const doubts = endpoint === 'add-cart-item' && leaves ? struck : 0;
  const hasEffect = answer.failed === 0 || trouble?.effect === true;
  const then: Effects = {
    placed: state.placed || (isPivot && hasEffect),
    serversKnown: isPivot ? hasEffect && meaning !== 'nameless' : state.serversKnown,
    isNameless: isPivot ? meaning === 'nameless' : state.isNameless,
    assigned: hasEffect ? assignedAfter(state, endpoint) : state.assigned,
  };
  const called: State = {
    ...state,
    doubts: state.doubts + doubts * (lasting && meaning === 'lost' ? attemptsMax : 1),
    armed: { ...state.armed, [endpoint]: lasting && trouble ? { trouble, lasting } : {} },
  };
  if (!held) return settled({ ...called, ...then }, answer);
  // It is the first try that is held: what only another one brings about is not there yet.
  const isThere = trouble === undefined || trouble.effect;
  const first = { ...called, ...(isThere ? then : {}), ...(isPivot ? { fate: fateAfter(meaning, state.fate) } : {}) };
  return [{ ...first, rest: { is: 'held', endpoint, answer, then } }];
}

/** The journal's word on a call to the pivot that was made once. */
function fateAfter(meaning: Meaning | undefined, before: State['fate']): State['fate'] {
  if (meaning === undefined || meaning === 'nameless') return 'past';
  return meaning === 'lost' ? 'unknown' : before;
}

function answerTo(
  trouble: Trouble | undefined,
  {
    struck,
    count,
    lasting,
    isPivot,
    looks,
  }: { struck: number; count: number; lasting: boolean; isPivot: boolean; looks: boolean },
): Answer {
  const failed = (why: Answer['why']): Answer => ({
    through: count - struck,
    repeated: 0,
    failed: struck,
    ...(why && { why }),
  });
  const repeated = (times: number): Answer => ({ through: count, repeated: times, failed: 0 });
  switch (trouble && meaningOf(trouble, isPivot)) {
    case undefined:
    case 'nameless':
      return repeated(0);
    case 'refused':
      return failed('refused');
    case 'barred':
      return failed('barred');
    case 'slowed':
      return lasting ? failed('barred') : repeated(struck);
    case 'lost':
      if (isPivot) return failed('lost');
      return lasting && !(looks && trouble?.effect) ? failed('barred') : repeated(struck);
  }
}

function triedOnce({ through, repeated, failed, why }: Answer): Answer {
  if (repeated === 0) return { through, repeated, failed, ...(why && { why }) };
  return { through: through - repeated, repeated: 0, failed: failed + repeated, why: why ?? 'barred' };
}

/**
 * Assigning is an undo, too, of other firewalls; and unassigning is one of those that were to be assigned only as an
 * undo.
 */
function assignedAfter({ assigned, undoing }: State, endpoint: EndpointName): boolean {
  if (endpoint === 'assign-firewalls') return assigned || undoing === undefined;
  if (endpoint === 'unassign-firewalls') return assigned && undoing === undefined;
  return assigned;
}

function callsOf(state: State): Calls | undefined {
  const stage: Stage | undefined = state.story.stages[state.stage];
  return stage?.is === 'calls' ? stage : undefined;
}

function waits(state: State, kind: WaitKind, step: string, choices: DecisionName[]): State[] {
  return [{ ...state, rest: { is: 'waiting', wait: { kind, step, choices } } }];
}
