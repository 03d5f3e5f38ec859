/**
 * What may happen to a saga: by its caller, an operator, the provider, and whoever runs the workers. Each command says,
 * as a sentence, what it did, and holds the real saga against the model right after.
 */
import fc from 'fast-check';
import type { EndpointName } from '../../../sandbox/endpoints';
import { decisionNames } from '../../../src/domain/decisions';
import {
  allows,
  arm,
  begin,
  cancel,
  decide,
  describeState,
  disarm,
  distinct,
  fitting,
  release,
  reset,
  type Armed,
  type State,
} from './model';
import { otherRequest, type RealSaga } from './real-saga';
import { endpointsOf, type Story } from './stories';
import { troubles } from './troubles';

/** What a history knows of its saga. */
export interface Model {
  story: Story;
  armed: State['armed'];
  /** None before its start. */
  states: State[];
  isTerminated: boolean;
  /** When the call that is held arrived. */
  heldSinceMs?: number | undefined;
  /** What happened, for whoever reads of a failure. */
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

abstract class Told implements Command {
  /** Set by each run anew. */
  protected said = '';

  abstract check(model: Readonly<Model>): boolean;
  protected abstract happen(model: Model, real: Real): Promise<void>;

  async run(model: Model, real: Real): Promise<void> {
    real.count(this.constructor.name);
    try {
      await this.happen(model, real);
    } catch (error) {
      // Time ran out for the call that was held, on a machine that is too slow for this history: it tells nothing.
      fc.pre(model.heldSinceMs === undefined || Date.now() - model.heldSinceMs < heldMaxMs);
      throw error;
    } finally {
      model.log.push(this.said);
    }
  }

  /**
   * The name alone: what it says depends on the run, and shrinking runs it in many. The sentences are in the model's
   * log.
   */
  toString(): string {
    return this.constructor.name;
  }
}

class Start extends Told {
  check({ states, isTerminated }: Model) {
    return states.length === 0 && !isTerminated;
  }

  async happen(model: Model, { saga }: Real) {
    this.said = `somebody starts ${model.story.name}`;
    expectSame('the start', await saga.start(), 'new');
    await follow(model, saga, begin(model.story, model.armed));
  }
}

class StartAgain extends Told {
  constructor(private readonly same: boolean) {
    super();
  }

  check({ states }: Model) {
    return states.length > 0;
  }

  async happen(model: Model, { saga }: Real) {
    this.said = `somebody starts it again with ${this.same ? 'the same' : 'another'} request`;
    const started = await saga.start(this.same ? undefined : otherRequest(saga.asked));
    expectSame('the second start', started, this.same ? 'existing' : 'taken');
    await follow(model, saga, model.states);
  }
}

class Spoil extends Told {
  constructor(
    private readonly where: number,
    private readonly how: number,
    private readonly lasting: boolean,
  ) {
    super();
  }

  check(model: Model) {
    const { endpoint, trouble } = this.meant(model);
    const fits = trouble?.meaning !== 'nameless' || endpoint === 'place-order';
    const isFree = armedIn(model).every((armed) => armed[endpoint]?.trouble === undefined);
    return !model.isTerminated && heldAt(model) === undefined && fits && isFree;
  }

  happen(model: Model, { saga }: Real) {
    const { endpoint, trouble } = this.meant(model);
    if (trouble === undefined) throw new Error('there is no such trouble');
    this.said = `from now on, ${this.lasting ? 'every' : 'the next'} call to ${endpoint} ${trouble.said}`;
    armBoth(model, saga, endpoint, { trouble, ...(this.lasting ? { lasting: true } : {}) });
    return Promise.resolve();
  }

  private meant({ story }: Model) {
    return { endpoint: pickOf(endpointsOf(story), this.where), trouble: troubles[this.how] };
  }
}

class Hold extends Told {
  constructor(private readonly where: number) {
    super();
  }

  check(model: Model) {
    const isArmed = armedIn(model).some((armed) => Object.values(armed).some(({ held }) => held));
    return !model.isTerminated && heldAt(model) === undefined && !isArmed;
  }

  happen(model: Model, { saga }: Real) {
    const endpoint = pickOf(endpointsOf(model.story), this.where);
    this.said = `the answer of the next call to ${endpoint} is held back`;
    armBoth(model, saga, endpoint, { held: true });
    return Promise.resolve();
  }
}

class Release extends Told {
  check(model: Model) {
    return heldAt(model) !== undefined;
  }

  async happen(model: Model, { saga }: Real) {
    this.said = 'the answer that was held back arrives';
    await letGo(model, saga);
  }
}

class Fix extends Told {
  check(model: Model) {
    const isArmed = armedIn(model).some((armed) => Object.values(armed).some(({ trouble, held }) => trouble ?? held));
    return heldAt(model) === undefined && isArmed;
  }

  happen(model: Model, { saga }: Real) {
    this.said = 'the provider is well again';
    fix(model, saga);
    return Promise.resolve();
  }
}

class Decide extends Told {
  constructor(
    private readonly pick: number,
    private readonly bySignal: boolean,
  ) {
    super();
  }

  check({ states }: Model) {
    return states.some((state) => fitting(state).length > 0);
  }

  async happen(model: Model, { saga, count }: Real) {
    const { decision, body } = pickOf(await saga.fitting(), this.pick);
    if (decision === 'cancel') throw new Error('cancel is no decision');
    const named = body['vmObjectIds'] !== undefined;
    this.said = `the operator says ${decision}${named ? ', with the servers' : ''}${this.bySignal ? ', by a signal' : ''}`;
    if (decision === 'markDone') {
      count('done by hand');
      await saga.doByHand();
    }
    if (this.bySignal) await saga.signal(decision, body);
    else expectSame('the decision', await saga.decide(decision, body), 'taken');
    await follow(
      model,
      saga,
      model.states.flatMap((state) => decide(state, decision, named)),
    );
  }
}

/** A decision that fits, of a question that was answered before. */
class DecideOlder extends Told {
  constructor(
    private readonly pick: number,
    private readonly bySignal: boolean,
  ) {
    super();
  }

  check({ states }: Model) {
    return states.some((state) => fitting(state).length > 0);
  }

  async happen(model: Model, { saga }: Real) {
    const { decision, body } = pickOf(await saga.fitting(), this.pick);
    if (decision === 'cancel') throw new Error('cancel is no decision');
    this.said = `the operator says ${decision} to another question${this.bySignal ? ', by a signal' : ''}`;
    const older = { ...body, question: await saga.otherQuestion() };
    if (!this.bySignal) {
      expectSame('the decision', await saga.decide(decision, older), 'refused');
      await follow(model, saga, model.states);
      return;
    }
    const { ignored } = await saga.progress();
    await saga.signal(decision, older);
    const view = await follow(model, saga, model.states);
    expectSame('ignored signals', view.ignored.length, ignored.length + 1);
  }
}

/** A decision that does not fit, or one that does with a body that does not. */
class DecideWrongly extends Told {
  constructor(
    private readonly pick: number,
    private readonly bySignal: boolean,
  ) {
    super();
  }

  check({ states }: Model) {
    return states.length > 0;
  }

  async happen(model: Model, { saga }: Real) {
    const decision = pickOf(decisionNames, this.pick);
    const fits = model.states.some((state) => fitting(state).includes(decision));
    const body = fits
      ? { correction: { reference: 'another' }, note: 'in vain' }
      : {
          by: 'op',
          note: 'in vain',
          question: 'deadbeef',
          ...(decision === 'provideServers' ? { vmObjectIds: [1] } : {}),
        };
    this.said = `the operator says ${decision}${fits ? ' with fields that it does not have' : ''}, which does not fit${this.bySignal ? ', by a signal' : ''}`;
    const hasEnded = model.states.every(({ rest }) => rest.is === 'ended');
    if (this.bySignal && !hasEnded) {
      const { ignored } = await saga.progress();
      await saga.signal(decision, body);
      const view = await follow(model, saga, model.states);
      expectSame('ignored signals', view.ignored.length, ignored.length + 1);
      return;
    }
    // What is ill-formed is refused on this side already.
    expectSame('the decision', await saga.decide(decision, body), hasEnded && !fits ? 'ended' : 'refused');
    await follow(model, saga, model.states);
  }
}

class Cancel extends Told {
  check({ states }: Model) {
    return states.length > 0;
  }

  async happen(model: Model, { saga }: Real) {
    this.said = 'somebody requests cancellation';
    const hasEnded = model.states.every(({ rest }) => rest.is === 'ended');
    expectSame('the cancellation', await saga.cancel(), hasEnded ? 'ended' : 'asked');
    await follow(model, saga, hasEnded ? model.states : model.states.flatMap(cancel));
  }
}

class Reset extends Told {
  constructor(private readonly pick: number) {
    super();
  }

  check({ states }: Model) {
    return states.length > 0;
  }

  async happen(model: Model, { saga }: Real) {
    this.said = 'the run is reset';
    const held = heldAt(model);
    const point = await saga.reset(this.pick);
    this.said += ` ${point}`;
    if (held !== undefined) saga.release(held);
    await follow(model, saga, reset(model.states));
  }
}

class Restart extends Told {
  check() {
    return true;
  }

  async happen(model: Model, { saga, restartWorker }: Real) {
    this.said = 'the worker stops, and another one starts';
    await restartWorker();
    if (model.states.length > 0) await follow(model, saga, model.states);
  }
}

class Terminate extends Told {
  check({ states }: Model) {
    return states.length > 0 && states.every(({ rest }) => rest.is !== 'ended');
  }

  async happen(model: Model, { saga }: Real) {
    this.said = 'the run is terminated';
    await saga.terminate();
    fix(model, saga);
    model.states = [];
    model.isTerminated = true;
  }
}

/** Everything gets well, and the operator decides until the saga has ended. */
export async function finish(model: Model, real: Real): Promise<void> {
  const { saga } = real;
  if (model.states.length === 0 && !model.isTerminated) return;
  if (heldAt(model) !== undefined) await letGo(model, saga);
  fix(model, saga);
  // The first decision is the one that brings a saga on; where that is in vain, the others have their turn.
  for (let decisions = 0; model.states.some((state) => fitting(state).length > 0); decisions += 1) {
    if (decisions === 10) throw new Error('it waits again and again, although nothing is wrong any more');
    // What an earlier run has undone, no decision brings about again: the operator gives up.
    const command =
      decisions === 8 && model.states.some(({ run }) => run !== 'first') ? new Cancel() : new Decide(decisions, false);
    await command.run(model, { ...real, count: () => undefined });
  }
  const broken = await saga.broken();
  if (broken.length > 0) throw new Error(`broken: ${broken.join('; ')}`);
}

const any = fc.nat({ max: 999 });
const spoiling = fc
  .tuple(any, fc.nat({ max: troubles.length - 1 }), fc.boolean())
  .map(([where, how, lasting]): Command => new Spoil(where, how, lasting));
const holding = any.map((where): Command => new Hold(where));
const of = (make: () => Command) => fc.constant(null).map(make);

/** What is wrong already when the saga starts; a saga that nothing befalls is soon told. */
export const preludes: fc.Arbitrary<Command[]> = fc.noBias(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: spoiling }, { weight: 1, arbitrary: holding }), {
      minLength: 1,
      maxLength: 4,
      size: 'max',
    })
    .map((before) => [...before, new Start()]),
);

/** Commands in the proportions in which they lead somewhere. */
export function histories(replayPath: string | undefined): fc.Arbitrary<Iterable<Command>> {
  const command = fc.oneof(
    { weight: 12, arbitrary: fc.tuple(any, fc.boolean()).map(([pick, signal]): Command => new Decide(pick, signal)) },
    { weight: 6, arbitrary: spoiling },
    { weight: 3, arbitrary: holding },
    { weight: 3, arbitrary: of(() => new Release()) },
    { weight: 3, arbitrary: of(() => new Cancel()) },
    { weight: 2, arbitrary: of(() => new Fix()) },
    {
      weight: 2,
      arbitrary: fc.tuple(any, fc.boolean()).map(([pick, signal]): Command => new DecideWrongly(pick, signal)),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(any, fc.boolean()).map(([pick, signal]): Command => new DecideOlder(pick, signal)),
    },
    { weight: 2, arbitrary: any.map((pick): Command => new Reset(pick)) },
    { weight: 1, arbitrary: fc.boolean().map((same): Command => new StartAgain(same)) },
    { weight: 1, arbitrary: of(() => new Restart()) },
    { weight: 1, arbitrary: of(() => new Terminate()) },
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
  const left = mayBe.filter((state) => allows(state, view, placements === 1));
  if (left.length === 0) {
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
  model.states = distinct(left);
  model.heldSinceMs = heldAt(model) === undefined ? undefined : (model.heldSinceMs ?? Date.now());
  return view;
}

async function letGo(model: Model, saga: RealSaga): Promise<void> {
  const endpoint = heldAt(model);
  if (endpoint === undefined) throw new Error('nothing is held');
  saga.release(endpoint);
  await follow(model, saga, model.states.flatMap(release));
}

function fix(model: Model, saga: RealSaga): void {
  saga.disarm();
  model.armed = {};
  model.states = distinct(model.states.map(disarm));
}

function armBoth(model: Model, saga: RealSaga, endpoint: EndpointName, armed: Armed): void {
  saga.arm(endpoint, armed);
  model.armed = { ...model.armed, [endpoint]: { ...model.armed[endpoint], ...armed } };
  model.states = model.states.map((state) => arm(state, endpoint, armed));
}

/** What is armed, in each state that it may be in. */
function armedIn({ states, armed }: Model): State['armed'][] {
  return states.length > 0 ? states.map((state) => state.armed) : [armed];
}

function heldAt({ states }: Model): EndpointName | undefined {
  return states.flatMap(({ rest }) => (rest.is === 'held' ? [rest.endpoint] : [])).at(0);
}

function pickOf<T>(list: readonly T[], pick: number): T {
  const one = list[pick % list.length];
  if (one === undefined) throw new Error('there is nothing to pick from');
  return one;
}

function expectSame<T>(what: string, real: T, expected: T): void {
  if (real !== expected) throw new Error(`${what}: the model says ${String(expected)}, and it was ${String(real)}`);
}
