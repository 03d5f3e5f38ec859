/**
 * The events of a saga: by its caller, an operator, the provider, and whoever runs the workers. Each command says,
 * as a sentence, what it did, and holds the real saga against the model right after.
 */
import fc from 'fast-check';
import type { EndpointName } from '../../../sandbox/endpoints';
import { decisionNames } from '../../../src/domain/decisions';
import { isOutcome } from '../../../src/domain/outcomes';
import type { ProgressView } from '../../../src/domain/progress';
import {
  allows,
  arm,
  begin,
  cancel,
  decide,
  describeState,
  disarm,
  distinct,
  release,
  type Armed,
  type State,
} from './model';
import type { RealSaga } from './real-saga';
import { endpointsOf, type Story } from './sagas';
import { troubles } from './troubles';

export interface Model {
  story: Story;
  armed: State['armed'];
  /** None before its start, and none after a reset: from then on only the promises hold. */
  states: State[];
  /** Its view when it came to rest last; undefined before its start, and after its termination. */
  view?: ProgressView | undefined;
  held?: EndpointName | undefined;
  /** It was reset when the journal knew that it was placed: nobody is asked about that. */
  isSettled?: boolean;
  wasReset?: boolean;
  isTerminated: boolean;
  /** When the call that is held arrived. */
  heldSinceMs?: number | undefined;
  log: string[];
}

export interface Real {
  saga: RealSaga;
  restartWorker: () => Promise<void>;
  /** How often which command was run. */
  count: (command: string) => void;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Less than a call may take. */
const heldMaxMs = 20_000;

type Happen = (model: Model, real: Real, say: (what: string) => void) => Promise<unknown> | void;

/** @param happen says early what it does: a history that fails in it tells so, too */
function told(name: string, check: (model: Readonly<Model>) => boolean, happen: Happen): Command {
  return {
    check,
    run: async (model, real) => {
      real.count(name);
      let said = '';
      try {
        await happen(model, real, (what) => (said = what));
      } catch (error) {
        // Time ran out for the call that was held, on a machine that is too slow for this history: it tells nothing.
        fc.pre(model.heldSinceMs === undefined || Date.now() - model.heldSinceMs < heldMaxMs);
        throw error;
      } finally {
        model.log.push(said);
      }
    },
    // The name alone: what it says depends on the run, and shrinking runs it in many. The sentences are in the model's
    // log.
    toString: () => name,
  };
}

const isStarted = ({ view }: Model) => view !== undefined;
const hasEnded = ({ view }: Model) => view === undefined || isOutcome(view.state);
const mayDecide = ({ view }: Model) => view?.waiting !== undefined;
const isHeld = ({ held }: Model) => held !== undefined;

const start = () =>
  told(
    'Start',
    ({ view, isTerminated }) => view === undefined && !isTerminated,
    async (model, { saga }, say) => {
      say(`somebody starts ${model.story.name}`);
      expectSame('the start', await saga.start(), 'new');
      await follow(model, saga, begin(model.story, model.armed));
    },
  );

const startAgain = () =>
  told('StartAgain', isStarted, async (model, { saga }, say) => {
    say('somebody sends the same request again');
    expectSame('the second start', await saga.start(), 'existing');
    await follow(model, saga, model.states);
  });

function spoil(where: number, how: number, lasting: boolean): Command {
  const trouble = troubles[how]!;
  const endpointIn = ({ story }: Model) => pickOf(endpointsOf(story), where);
  const check = (model: Model) => {
    const endpoint = endpointIn(model);
    const fits = trouble.meaning !== 'nameless' || endpoint === 'place-order';
    const isFree = armedIn(model).every((armed) => armed[endpoint]?.trouble === undefined);
    return !model.isTerminated && !isHeld(model) && fits && isFree;
  };
  return told('Spoil', check, (model, { saga }, say) => {
    const endpoint = endpointIn(model);
    say(`from now on, ${lasting ? 'every' : 'the next'} call to ${endpoint} ${trouble.said}`);
    armBoth(model, saga, endpoint, { trouble, ...(lasting ? { lasting: true } : {}) });
  });
}

function hold(where: number): Command {
  const check = (model: Model) => {
    const isArmed = armedIn(model).some((armed) => Object.values(armed).some(({ held }) => held));
    return !model.isTerminated && !isHeld(model) && !isArmed;
  };
  return told('Hold', check, (model, { saga }, say) => {
    const endpoint = pickOf(endpointsOf(model.story), where);
    say(`the answer of the next call to ${endpoint} is held back`);
    armBoth(model, saga, endpoint, { held: true });
  });
}

const letHeldGo = () =>
  told('Release', isHeld, async (model, { saga }, say) => {
    say('the answer that was held back arrives');
    await letGo(model, saga);
  });

function getWell(): Command {
  const isArmed = (model: Model) =>
    armedIn(model).some((armed) => Object.values(armed).some(({ trouble, held }) => trouble ?? held));
  return told(
    'Fix',
    (model) => !isHeld(model) && isArmed(model),
    (model, { saga }, say) => {
      say('the provider is well again');
      fix(model, saga);
    },
  );
}

const decideRightly = (pick: number) =>
  told('Decide', mayDecide, async (model, { saga }, say) => {
    const { decision, body } = pickOf(await saga.fitting(), pick);
    if (decision === 'cancel') throw new Error('cancel is no decision');
    const named = body['vmObjectIds'] !== undefined;
    say(`the operator says ${decision}${named ? ', with the servers' : ''}`);
    expectSame('the decision', await saga.decide(decision, body), 'taken');
    await follow(
      model,
      saga,
      model.states.flatMap((state) => decide(state, decision, named)),
    );
  });

/** A decision that does not fit, or one that does with a body that does not. */
const decideWrongly = (pick: number) =>
  told('DecideWrongly', isStarted, async (model, { saga }, say) => {
    const decision = pickOf(decisionNames, pick);
    const fits = model.view?.waiting?.choices.includes(decision) === true;
    const named = decision === 'provideServers' ? { vmObjectIds: [1] } : {};
    const body = fits
      ? { correction: { reference: 'another' }, note: 'in vain' }
      : { by: 'op', note: 'in vain', question: 'deadbeef', ...named };
    const surplus = fits ? ' with fields that it does not have' : '';
    say(`the operator says ${decision}${surplus}, which does not fit`);
    const isOver = hasEnded(model);
    // An ill-formed one is refused on this side already.
    expectSame('the decision', await saga.decide(decision, body), isOver && !fits ? 'ended' : 'refused');
    return follow(model, saga, model.states);
  });

const requestCancellation = () =>
  told('Cancel', isStarted, async (model, { saga }, say) => {
    say('somebody requests cancellation');
    const isOver = hasEnded(model);
    expectSame('the cancellation', await saga.cancel(), isOver ? 'ended' : 'asked');
    await follow(model, saga, isOver ? model.states : model.states.flatMap(cancel));
  });

const resetRun = (pick: number) =>
  told('Reset', isStarted, async (model, { saga }, say) => {
    say('the run is reset');
    const { held, states } = model;
    say(`the run is reset ${await saga.reset(pick)}`);
    if (held !== undefined) saga.release(held);
    if (!model.wasReset) model.isSettled = states.every(({ fate, rest }) => fate === 'past' && rest.is !== 'held');
    Object.assign(model, { wasReset: true, states: [] });
    await follow(model, saga, []);
  });

const restart = () =>
  told(
    'Restart',
    () => true,
    async (model, { saga, restartWorker }, say) => {
      say('the worker stops, and another one starts');
      await restartWorker();
      if (isStarted(model)) await follow(model, saga, model.states);
    },
  );

const terminate = () =>
  told(
    'Terminate',
    (model) => !hasEnded(model),
    async (model, { saga }, say) => {
      say('the run is terminated');
      await saga.terminate();
      fix(model, saga);
      Object.assign(model, { states: [], view: undefined, isTerminated: true });
    },
  );

/** Everything gets well, and the operator decides until the saga has ended. */
export async function finish(model: Model, real: Real): Promise<void> {
  const { saga } = real;
  if (!isStarted(model) && !model.isTerminated) return;
  if (isHeld(model)) await letGo(model, saga);
  fix(model, saga);
  // The first decision is the one that brings a saga on; where that is in vain, the others have their turn.
  for (let decisions = 0; mayDecide(model); decisions += 1) {
    if (decisions === 10) throw new Error('it waits again and again, although nothing is wrong any more');
    // No decision brings about again what an earlier run has undone: the operator gives up.
    const givesUp = decisions === 8 && model.wasReset === true;
    const command = givesUp ? requestCancellation() : decideRightly(decisions);
    await command.run(model, { ...real, count: () => undefined });
  }
  const broken = await saga.broken();
  if (broken.length > 0) throw new Error(`broken: ${broken.join('; ')}`);
}

const any = fc.nat({ max: 999 });
const spoiling = fc
  .tuple(any, fc.nat({ max: troubles.length - 1 }), fc.boolean())
  .map(([where, how, lasting]) => spoil(where, how, lasting));
const holding = any.map(hold);
const deciding = (decide: (pick: number) => Command) => any.map(decide);
const of = (make: () => Command) => fc.constant(null).map(make);

/** The troubles at the start; a saga that nothing befalls is soon told. */
export const preludes: fc.Arbitrary<Command[]> = fc.noBias(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: spoiling }, { weight: 1, arbitrary: holding }), {
      minLength: 1,
      maxLength: 4,
      size: 'max',
    })
    .map((before) => [...before, start()]),
);

/** Commands in the proportions in which they lead somewhere. */
export function histories(replayPath: string | undefined): fc.Arbitrary<Iterable<Command>> {
  const command = fc.oneof(
    { weight: 12, arbitrary: deciding(decideRightly) },
    { weight: 6, arbitrary: spoiling },
    { weight: 3, arbitrary: holding },
    { weight: 3, arbitrary: of(letHeldGo) },
    { weight: 3, arbitrary: of(requestCancellation) },
    { weight: 2, arbitrary: of(getWell) },
    { weight: 2, arbitrary: deciding(decideWrongly) },
    { weight: 2, arbitrary: any.map(resetRun) },
    { weight: 1, arbitrary: of(startAgain) },
    { weight: 1, arbitrary: of(restart) },
    { weight: 1, arbitrary: of(terminate) },
  );
  const commands = fc.commands<Model, Real>([command], {
    maxCommands: 20,
    size: 'max',
    ...(replayPath === undefined ? {} : { replayPath }),
  });
  // Few histories are told at a time: without a bias to short ones.
  return fc.noBias(commands as fc.Arbitrary<Iterable<Command>>);
}

/** The real saga comes to rest, in one of these states; the ones that do not fit were not it. */
async function follow(model: Model, saga: RealSaga, mayBe: readonly State[]) {
  const view = await saga.rest();
  const { placements } = saga;
  if (placements > 1) throw new Error(`it was placed ${placements} times`);
  const { isSettled, wasReset } = model;
  if (isSettled && view.waiting?.kind === 'outcome-unknown') throw new Error('the journal knows that it was placed');
  const left = mayBe.filter((state) => allows(state, view, placements === 1));
  if (left.length === 0 && !wasReset) {
    const { state, waiting, steps, leftovers } = view;
    const shown = {
      state,
      waiting: waiting && { kind: waiting.kind, step: waiting.step, choices: waiting.choices },
      placed: placements === 1,
      leftovers: leftovers.map(({ kind }) => kind),
      steps: steps.map(({ id, status, attempts }) => `${id} ${status} (${attempts})`),
    };
    const allowed = mayBe.slice(0, 5).map((one) => `\n  ${describeState(one)}`);
    const more = mayBe.length > 5 ? `\n  and ${mayBe.length - 5} more` : '';
    throw new Error(`the model allows:${allowed.join('')}${more}\nthe saga shows: ${JSON.stringify(shown, null, 1)}`);
  }
  const { held } = saga;
  Object.assign(model, { view, held, states: distinct(left) });
  model.heldSinceMs = held === undefined ? undefined : (model.heldSinceMs ?? Date.now());
  return view;
}

async function letGo(model: Model, saga: RealSaga): Promise<void> {
  if (model.held === undefined) throw new Error('nothing is held');
  saga.release(model.held);
  await follow(model, saga, model.states.flatMap(release));
}

function fix(model: Model, saga: RealSaga): void {
  saga.disarm();
  Object.assign(model, { armed: {}, held: undefined });
  model.states = distinct(model.states.map(disarm));
}

function armBoth(model: Model, saga: RealSaga, endpoint: EndpointName, armed: Armed): void {
  saga.arm(endpoint, armed);
  model.armed = { ...model.armed, [endpoint]: { ...model.armed[endpoint], ...armed } };
  model.states = model.states.map((state) => arm(state, endpoint, armed));
}

function armedIn({ states, armed }: Model): State['armed'][] {
  return states.length > 0 ? states.map((state) => state.armed) : [armed];
}

function pickOf<T>(list: readonly T[], pick: number): T {
  const one = list[pick % list.length];
  if (one === undefined) throw new Error('there is nothing to pick from');
  return one;
}

function expectSame<T>(what: string, real: T, expected: T): void {
  if (real !== expected) throw new Error(`${what}: the model says ${String(expected)}, and it was ${String(real)}`);
}
