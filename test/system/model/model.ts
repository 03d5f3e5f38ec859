/**
 * What a saga may be in, from the contract and the design alone: where it stands, what it waits for, which decisions
 * fit, and whether the provider has what was asked for.
 *
 * ```text
 *   states before ──command──▶ states that may follow ──what the real saga shows──▶ the ones that remain; none: a bug
 * ```
 *
 * A state is where a saga has come to rest: it waits, one of its calls is held, or it has ended. Mostly one state
 * follows another. After a reset there are many, since nobody told the model how far back it went.
 *
 * What the journal knows is part of a state, and no reset takes it back: whether the pivot was placed (`fate`), and how
 * many calls to add an item nobody knows the end of (`doubts`). What was placed is taken from it; only what it does not
 * know is asked.
 *
 * It is pure: a state is never changed, only followed by others.
 */
import type { EndpointName } from '../../../sandbox/endpoints';
import type { DecisionName } from '../../../src/domain/decisions';
import type { SagaFailureName } from '../../../src/domain/failures';
import type { Leftover } from '../../../src/domain/leftovers';
import { isOutcome } from '../../../src/domain/outcomes';
import type { ProgressView, WaitKind } from '../../../src/domain/progress';
import type { Calls, Stage, Story } from './stories';
import { meaningOf, type Meaning, type Trouble } from './troubles';

/** Tries of a call that is repeated by itself, as the rig has it. */
const attemptsMax = 3;

/** What is going to happen to the next call, or to all calls, of an endpoint. */
export interface Armed {
  trouble?: Trouble;
  lasting?: boolean;
  /** The next call is held, after its effect, until somebody lets it go on. */
  held?: boolean;
}

export interface Wait {
  kind: WaitKind;
  step: string;
  choices: DecisionName[];
}

type Rest =
  | { is: 'waiting'; wait: Wait }
  | { is: 'held'; endpoint: EndpointName; answer: Answer; then: Effects }
  | { is: 'ended'; as: 'done' | 'cancelled' }
  | { is: 'ended'; as: 'failed'; type: SagaFailureName };

/** What a call changes outside of the saga, and whether the saga knows its servers by it. */
type Effects = Pick<State, 'placed' | 'serversKnown' | 'assigned'>;

/** What came of the calls of a stage. */
interface Answer {
  through: number;
  /** Of those: how many only when tried again. */
  repeated: number;
  failed: number;
  why?: 'refused' | 'barred' | 'lost';
}

/** What is undone together. */
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
  /** What would have to be undone, the oldest first. */
  levels: Level[];
  /** Set once it undoes: which call of the last level is next. */
  undoing: number | undefined;
  failing: SagaFailureName | undefined;
  cancelled: boolean;
  /**
   * What the journal knows of the pivot: nothing that stands, a call of which nobody knows what became, or that it was
   * placed.
   */
  fate: 'before' | 'unknown' | 'past';
  /** Calls to add an item of which nobody knows whether they did, by the journal; and how many of them were told. */
  doubts: number;
  told: number;
  serversKnown: boolean;
  /** The provider has what was asked for. */
  placed: boolean;
  /** The server has the firewalls that were to be assigned. */
  assigned: boolean;
  /** Servers whose firewalls a person left out: told when it ends. */
  leftOut: number;
  /** Sorted; undefined where the model cannot know them all. */
  leftovers: Leftover['kind'][] | undefined;
  /** A later run, after a reset, finds what earlier ones did. */
  run: 'first' | 'later';
  /** What an earlier run took back was done again by this one. */
  doneAgain: boolean;
  /** It has taken its turn at the server or the subscription anew: an earlier run's ended with that run. */
  tookTurn: boolean;
  /** Items of earlier runs are being deleted that are in no order: so many, and what comes after. */
  strays?: { count: number; then: 'end' | 'on' } | undefined;
  /** Where this saga ever rested, and what was ever decided: what a reset may come back to. */
  past: readonly State[];
  decided: readonly DecisionName[];
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
    told: 0,
    serversKnown: false,
    placed: false,
    assigned: false,
    leftOut: 0,
    leftovers: [],
    run: 'first',
    doneAgain: false,
    tookTurn: false,
    past: [],
    decided: [],
  };
  return enter(fresh, 0);
}

/** The decisions that fit, by their names; whether they are true is another question. */
export function fitting({ rest }: State): readonly DecisionName[] {
  return rest.is === 'waiting' ? rest.wait.choices : [];
}

/** A decision that fits is taken. `named`: it names the servers. */
export function decide(before: State, decision: DecisionName, named: boolean): State[] {
  const state = { ...remembering(before), decided: [...before.decided, decision] };
  switch (decision) {
    case 'retry':
      if (state.strays) return deleteStrays(state, state.strays);
      if (state.undoing !== undefined) return undo({ ...state, undoing: 0 });
      return callsOf(state)?.pivot ? dareAgain(state) : goOn(state);
    case 'skip':
      if (state.strays) return afterStrays({ ...state, leftovers: undefined }, state.strays.then);
      return state.undoing === undefined ? leaveOut(state) : leaveBehind(state);
    case 'markDone':
      if (state.strays) return afterStrays(state, state.strays.then);
      return state.undoing === undefined ? doneByHand(state) : undoneByHand(state);
    case 'confirmPlaced':
      return ifPlaced(state, named).flatMap(pastPivot);
    // The sandbox cancels nothing, and nobody says so.
    case 'markCancelled':
      return [];
    case 'confirmNotPlaced':
      return notPlaced(state).flatMap(dareAgain);
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
  const state = { ...remembering(before), cancelled: true };
  if (state.undoing !== undefined || state.strays?.then === 'end') return [state];
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
  const state = { ...remembering(before), ...(goesOn ? rest.then : {}) };
  if (state.strays) return settleStrays(state, rest.answer);
  return state.undoing === undefined ? settle(state, rest.answer) : settleUndo(state, rest.answer);
}

export function arm(state: State, endpoint: EndpointName, armed: Armed): State {
  return { ...state, armed: { ...state.armed, [endpoint]: { ...state.armed[endpoint], ...armed } } };
}

export function disarm(state: State): State {
  return { ...state, armed: {} };
}

/**
 * It goes on from an earlier point, in another run. What that run remembers is not known: it may have any stage behind
 * it that was reached, an answer that made the old one wait or give up, the cancellation, and a decision of the old run
 * may reach it. What it may never do is send a pivot that the journal knows of.
 */
export function reset(states: readonly State[]): State[] {
  const past = distinct(states.flatMap((state) => remembering(state).past));
  // All that matters beside the past is how the world is.
  const worlds = new Map(
    states.map((state) => [JSON.stringify([state.armed, state.placed, state.assigned, state.fate]), state] as const),
  );
  return distinct([...worlds.values()].flatMap((state) => resetIn(state, past)));
}

function resetIn(before: State, past: readonly State[]): State[] {
  const shared = {
    story: before.story,
    armed: before.armed,
    placed: before.placed,
    assigned: before.assigned,
    fate: before.fate,
    leftovers: undefined,
    run: 'later',
    doneAgain: false,
    tookTurn: false,
    strays: undefined,
  } as const;
  const cancelling = past.some(({ cancelled }) => cancelled) ? [false, true] : [false];
  const failing = [...new Set([undefined, ...past.map((state) => state.failing)])];
  const reached = Math.max(...past.map(({ stage }) => stage));

  const waited = past
    .filter(({ rest, strays }) => rest.is === 'waiting' && strays === undefined)
    .map((state): State => ({ ...state, ...shared }));
  const came = upTo(reached).flatMap((stage) => standingsAt({ ...before, ...shared, undoing: undefined }, stage));
  const resumed = [
    ...waited.flatMap((state) => [
      ...(state.cancelled ? [state] : cancelling.flatMap((cancelled) => (cancelled ? cancel(state) : [state]))),
      ...before.decided
        .filter((one) => fitting(state).includes(one))
        .flatMap((one) => [...decide(state, one, true), ...decide(state, one, false)]),
    ]),
    ...came.flatMap((state) =>
      cancelling.flatMap((cancelled) => [
        ...again({ ...state, cancelled }),
        ...stuck({ ...state, cancelled }),
        ...failing.flatMap((why) =>
          why === undefined && !cancelled ? [] : gaveUp({ ...state, cancelled, failing: why }),
        ),
      ]),
    ),
  ];
  return resumed.map((state) => ({ ...state, leftovers: undefined, past, decided: before.decided }));
}

/** Whether the real saga may be in this state, by what it shows and by what the provider has. */
export function allows(state: State, view: ProgressView, isPlaced: boolean): boolean {
  const { rest, undoing, strays, leftovers, placed } = state;
  if (placed !== isPlaced) return false;
  if (rest.is === 'held') {
    if (strays?.then === 'end') return view.waiting === undefined && !isOutcome(view.state);
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

/** What it comes to at the provider, in a word; both where the model does not know all that was left. */
function endsAs({ rest, fate, leftovers, decided, run }: State): ProgressView['state'][] {
  if (rest.is === 'ended' && rest.as === 'done') {
    if (run === 'later' || leftovers === undefined) return ['done', 'partly'];
    return leftovers.length > 0 || decided.includes('skip') ? ['partly'] : ['done'];
  }
  if (fate === 'past') return leftovers?.length ? ['partly'] : ['done', 'partly'];
  if (leftovers === undefined) return ['reversed', 'reversed-with-leftovers'];
  return leftovers.length > 0 ? ['reversed-with-leftovers'] : ['reversed'];
}

/** Two ways to the same state are one. */
export function distinct(states: readonly State[]): State[] {
  const keyed = states.map((state) => [JSON.stringify({ ...state, story: '', past: '', decided: '' }), state] as const);
  return [...new Map(keyed).values()];
}

/** For whoever reads why none fitted. */
export function describeState({ rest, placed, leftovers, run }: State): string {
  const facts = `${placed ? 'placed' : 'not placed'}, ${leftovers ? `leftovers [${leftovers.join()}]` : 'any leftovers'}, ${run} run`;
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
    return state.cancelled ? giveUp(state) : [{ ...leavingOpen(state), rest: { is: 'ended', as: 'done' } }];
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
  if (stage.pivot && state.fate === 'past') return recorded(state).flatMap(pastPivot);
  if (stage.pivot && state.fate === 'unknown') return doubt(state);
  if (state.open === 0) return enter(state, state.stage + 1);
  const doneAgain = [...takenBack(state), ...turnLost(state)];
  if (!stage.undo || 'each' in stage.undo) return [...call(state, stage.endpoint, state.open, settle), ...doneAgain];
  const called = call(armedFor(state, stage, stage.undo.armed), stage.endpoint, state.open, settle);
  // What an earlier run changed is not changed again.
  return state.run === 'first' ? called : [...called, ...enter(state, state.stage + 1), ...doneAgain];
}

/** Another saga may have worked on the same thing since: where something is to be changed, all is looked at anew. */
function turnLost(state: State): State[] {
  const stage = callsOf(state);
  const changes = stage?.pivot === true || stage?.undo !== undefined;
  if (!mayHaveLostTurn(state) || !changes) return [];
  return enter({ ...state, levels: [], tookTurn: true }, 0);
}

function mayHaveLostTurn({ story, run, tookTurn }: State): boolean {
  return story.workflow !== 'provisionServers' && run === 'later' && !tookTurn;
}

/** What this stage rests on was taken back by an earlier run: it is done again first, as much of it as is gone. */
function takenBack(state: State): State[] {
  if (state.run === 'first' || state.doneAgain) return [];
  const before = state.story.stages[state.stage - 1];
  if (before?.is !== 'calls' || before.undo === undefined) return [];
  const rests = callsOf(state)?.pivot === true || callsOf(state)?.endpoint === 'unassign-firewalls';
  if (!rests) return [];
  const levels = 'each' in before.undo ? state.levels : [];
  return upTo(before.calls)
    .slice(1)
    .flatMap((open) =>
      again({ ...state, levels, stage: state.stage - 1, open, through: before.calls - open, doneAgain: true }),
    );
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
      return pastPivot({ ...state, fate: 'past' });
    case 'refused':
      return refused(state, step, refusal);
    case 'barred':
      return stuck(state);
    case 'lost':
      return doubt(state);
  }
}

/** Once it is placed, the journal is asked what else there is: what may have been added unseen is told. */
function pastPivot(state: State): State[] {
  return deletingStrays({ ...state, levels: [] }, 'on');
}

/** What was answered when it was placed; a person may have said less of it since. */
function recorded(state: State): State[] {
  return state.run === 'first'
    ? [state]
    : [
        { ...state, serversKnown: true },
        { ...state, serversKnown: false },
      ];
}

/** A later run may be told of a row that stands no more: what the journal has instead is taken. */
function ifPlaced(state: State, named: boolean): State[] {
  const placed: State = { ...state, fate: 'past', serversKnown: named };
  return state.run === 'first' ? [placed] : recorded(placed);
}

function notPlaced(state: State): State[] {
  const denied: State = { ...state, fate: 'before' };
  // Said of a row that an earlier run was asked about: another one may stand by now.
  if (state.run === 'first' || state.fate === 'before') return [denied];
  return state.fate === 'past' ? [state] : [denied, state];
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

/** Where there were terms, they may have moved: it comes to terms again. */
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
  if (level === undefined) return deletingStrays({ ...state, undoing: undefined }, 'end');
  const endpoint = level.calls[state.undoing ?? 0];
  const over: State = { ...state, undoing: 0, levels: state.levels.slice(0, -1) };
  if (endpoint === undefined) return undo(over);
  // What another saga may rely on by now is left, and told; and what never took effect need not be undone, but is where
  // its outcome is not known.
  const mayBeOver = mayHaveLostTurn(state) || (endpoint === 'unassign-firewalls' && !state.assigned);
  return [...call(state, endpoint, level.count, settleUndo), ...(mayBeOver ? undo(over) : [])];
}

function settleUndo(state: State, { failed }: Answer): State[] {
  const level = state.levels.at(-1);
  if (level === undefined) throw new Error('nothing is being undone');
  if (failed === 0) return undo({ ...state, undoing: (state.undoing ?? 0) + 1 });
  const levels = [...state.levels.slice(0, -1), { ...level, count: failed }];
  return waits({ ...state, levels }, 'stuck', level.step, ['retry', 'markDone', 'skip']);
}

/** What earlier runs left in the cart, by the journal; and the calls to add an item that nobody knows the end of. */
function deletingStrays(state: State, then: 'end' | 'on'): State[] {
  const { story, run } = state;
  const none = afterStrays(state, then);
  if (run === 'first' || story.workflow !== 'provisionServers') return none;
  const items = story.stages[0]?.is === 'calls' ? story.stages[0].calls : 0;
  const some = upTo(items)
    .slice(1)
    .flatMap((count) => deleteStrays(state, { count, then }));
  return distinct([...none, ...some]);
}

function deleteStrays(state: State, strays: NonNullable<State['strays']>): State[] {
  return call({ ...state, strays }, 'delete-cart-item', strays.count, settleStrays);
}

function settleStrays(state: State, { failed }: Answer): State[] {
  const { strays } = state;
  if (strays === undefined) throw new Error('nothing is being deleted');
  if (failed === 0) return afterStrays(state, strays.then);
  const cancelled = state.cancelled && strays.then === 'on';
  if (cancelled) return giveUp({ ...state, strays: undefined });
  const choices: DecisionName[] = [
    'retry',
    'markDone',
    'skip',
    ...(strays.then === 'on' ? ['markCancelled' as const] : []),
  ];
  return waits({ ...state, strays: { ...strays, count: failed } }, 'stuck', 'delete-cart-item-*', choices);
}

function afterStrays(before: State, then: 'end' | 'on'): State[] {
  const told = before.doubts - before.told;
  const state: State = {
    ...leaving(before, Array<Leftover['kind']>(told).fill('cart-item-unknown')),
    told: before.doubts,
    strays: undefined,
  };
  if (then === 'on') return enter(state, state.stage + 1);
  const { cancelled, failing } = state;
  if (cancelled || failing === undefined) return [{ ...state, rest: { is: 'ended', as: 'cancelled' } }];
  return [{ ...state, rest: { is: 'ended', as: 'failed', type: failing } }];
}

function doneByHand(state: State): State[] {
  const { open, through, assigned } = state;
  const isAssigning = callsOf(state)?.endpoint === 'assign-firewalls';
  return enter({ ...state, through: through + open, assigned: assigned || isAssigning }, state.stage + 1);
}

function undoneByHand(state: State): State[] {
  const level = state.levels.at(-1);
  const assigned = state.assigned && level?.calls.includes('unassign-firewalls') !== true;
  return undo({ ...state, assigned, undoing: 0, levels: state.levels.slice(0, -1) });
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

function leaveBehind(state: State): State[] {
  const left = state.levels.slice(-1).flatMap(leftoversOf);
  return undo({ ...leaving(state, left), undoing: 0, levels: state.levels.slice(0, -1) });
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
  const isPivot = callsOf(state)?.pivot === true && state.undoing === undefined && state.strays === undefined;
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

/** What the journal will have of a call to the pivot that was made once. */
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

// Remembering

function remembering(state: State): State {
  return { ...state, past: [...state.past, { ...state, past: [] }] };
}

/** It has come to a stage and made some of its calls, or none. */
function standingsAt(state: State, stage: number): State[] {
  const { stages } = state.story;
  const pivot = stages.findIndex((one) => one.is === 'calls' && one.pivot);
  const isPast = pivot >= 0 && stage > pivot;
  // Whoever came past it has it in the journal.
  if (isPast && state.fate !== 'past') return [];
  const at = stages[stage];
  const calls = at?.is === 'calls' ? at.calls : 0;
  const made = isPast ? [[]] : levelsBefore(state.story, stage);
  const knows = isPast ? [true, false] : [false];
  return upTo(calls).flatMap((open) =>
    made.flatMap((levels) =>
      knows.map((serversKnown): State => ({
        ...state,
        stage,
        open,
        through: calls - open,
        levels: isPast || at?.is !== 'calls' ? levels : withOwn(levels, at, calls - open),
        serversKnown,
      })),
    ),
  );
}

/** What may have to be undone of the stages before this one: of armed undos each may be there or not. */
function levelsBefore({ stages }: Story, stage: number): Level[][] {
  return stages.slice(0, stage).reduce<Level[][]>(
    (all, one) => {
      if (one.is !== 'calls' || one.undo === undefined) return all;
      const { step, undo } = one;
      if ('each' in undo) return all.map((levels) => withMade(levels, one, undo.each, one.calls));
      return all.flatMap((levels) => [
        levels,
        [...levels, { step, calls: undo.armed, count: 1, leftover: 'firewalls' as const }],
      ]);
    },
    [[]],
  );
}

function withOwn(levels: Level[], stage: Calls, made: number): Level[] {
  if (stage.undo === undefined) return levels;
  if ('each' in stage.undo) return withMade(levels, stage, stage.undo.each, made);
  return [...levels, { step: stage.step, calls: stage.undo.armed, count: 1, leftover: 'firewalls' }];
}

/** It gave up, and has undone some of it, or nothing. */
function gaveUp(state: State): State[] {
  const undone = upTo(state.levels.length).flatMap((kept) => {
    const levels = state.levels.slice(0, kept);
    const last = levels.at(-1);
    if (last === undefined) return [levels];
    return upTo(last.count - 1).map((less) => [...levels.slice(0, -1), { ...last, count: last.count - less }]);
  });
  return undone.flatMap((levels) => [
    ...undo({ ...state, levels, undoing: 0 }),
    ...undo({ ...state, levels, undoing: 1 }),
  ]);
}

function callsOf(state: State): Calls | undefined {
  const stage: Stage | undefined = state.story.stages[state.stage];
  return stage?.is === 'calls' ? stage : undefined;
}

function waits(state: State, kind: WaitKind, step: string, choices: DecisionName[]): State[] {
  return [{ ...state, rest: { is: 'waiting', wait: { kind, step, choices } } }];
}

/** 0, 1, … max */
function upTo(max: number): number[] {
  return Array.from({ length: max + 1 }, (_, index) => index);
}
