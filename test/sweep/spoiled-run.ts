/**
 * One story, told with its n-th call spoiled in one way, and brought to its end by an operator who takes the k-th of the
 * decisions that fit the first wait after that.
 *
 * ```text
 *   prepare ─▶ start ─▶ … ─▶ n-th call, held: which step makes it? ─▶ spoiled ─▶ … [k-th decision] … ─▶ end ─▶ ask the ledger
 *                       └─▶ end: the story has no n-th call, and the sweep of it is complete
 * ```
 */
import type { Call } from '../../sandbox/ledger';
import type { SagaHandle } from '../../src/client/handle';
import { DecisionRefusedError, SagaEndedError } from '../../src/client/errors';
import type { WorkflowName } from '../../src/domain/identity';
import type { StepView } from '../../src/domain/progress';
import { fittingDecisions } from '../support/operator';
import { brokenPromises, type Asked } from '../support/promises';
import type { Rig } from '../support/rig';
import { outcomeOf, type Ended } from '../support/sagas';
import type { WaitingRoom } from '../support/waiting-room';
import { failedCalls } from './failed-calls';
import { threadOf, type Scene, type Story } from './stories';
import type { Way } from './ways';

export interface World {
  rig: Rig;
  waitingRoom: WaitingRoom;
}

export interface Spoiling {
  way: Way;
  /** The call of the story that is spoiled, counted from 1. */
  nth: number;
}

export interface SpoiledRun {
  /** The call that was spoiled; undefined where the story ended before its n-th. */
  call: Call | undefined;
  /** True where that call put something back. */
  undoing: boolean;
  /** How many decisions fitted the first wait after it. */
  choices: number;
  ended: Ended;
  /** What is wrong, in sentences. */
  broken: string[];
}

export async function tellSpoiled(
  world: World,
  story: Story,
  spoiling: Spoiling | undefined,
  choice: number,
): Promise<SpoiledRun> {
  const { rig } = world;
  const scene = await story.prepare(rig);
  const { asked } = scene;
  const match = threadOf(asked);
  const spoiled = spoiling && spoil(rig, spoiling, scene);
  for (const fault of scene.besides ?? []) rig.sandbox.faults.add({ ...fault, match });

  const saga = await rig.sagas.start<WorkflowName>(asked.workflow, asked.request);
  const meanwhile = scene.meanwhile?.(rig, saga).catch(unlessEnded);
  let struck = spoiling === undefined;
  const operator = { choice, choices: 0, lift: () => spoiled?.lift() };
  const ending = operate(world, saga, asked, operator, () => struck);

  const held = spoiled && (await Promise.race([spoiled.held, ending]));
  const call = held && 'seq' in held ? held : undefined;
  let steps: StepView[] = [];
  if (call) {
    steps = underWay((await saga.progress()).steps);
    if (spoiling?.way.cancelled !== undefined) await saga.cancel();
    struck = true;
    spoiled?.release();
  }
  const ended = await ending;
  await meanwhile;
  spoiled?.lift();

  const broken = brokenPromises(rig.sandbox.ledger, asked, ended);
  if (call && spoiling) broken.push(...(await unproven(world, saga, { call, steps, spoiling, scene, ended })));
  return { call, undoing: steps.some(({ status }) => status === 'undoing'), choices: operator.choices, ended, broken };
}

/** Holds the n-th call, so that it can be looked at, and spoils it. */
function spoil({ sandbox }: Rig, { way, nth }: Spoiling, { asked }: Scene) {
  const match = threadOf(asked);
  const gate = sandbox.faults.add({
    endpoint: '*',
    kind: 'gate',
    nth,
    match,
    ...(way.cancelled === undefined ? {} : { hold: way.cancelled }),
  });
  const window = way.lasting ? ({ from: nth, times: 'all' } as const) : { nth };
  const fault = way.fault && sandbox.faults.add({ endpoint: '*', match, ...way.fault, ...window });
  return {
    held: sandbox.whenStruck(gate).then(([strike]) => callOf(sandbox, strike?.callSeq)),
    release: () => {
      sandbox.faults.release(gate);
    },
    lift: () => {
      sandbox.faults.lift(gate);
      if (fault !== undefined) sandbox.faults.lift(fault);
    },
  };
}

function callOf({ ledger }: Rig['sandbox'], seq: number | undefined): Call {
  const call = ledger.calls.find((one) => one.seq === seq);
  if (call === undefined) throw new Error('a strike belongs to a call');
  return call;
}

/** One fault makes a saga ask once or twice; one that asks on and on runs in circles. */
const decisionsMax = 12;

interface Operator {
  /** Which of the fitting decisions is taken at the first wait after the strike; everywhere else the first. */
  choice: number;
  choices: number;
  /** Whatever lasts until somebody decides is over. */
  lift: () => void;
}

/** Decides whatever the saga waits for, until it ends. */
async function operate(
  { rig, waitingRoom }: World,
  saga: SagaHandle,
  asked: Asked,
  operator: Operator,
  isStruck: () => boolean,
): Promise<Ended> {
  const ending = outcomeOf(saga);
  try {
    for (let decided = 0; decided < decisionsMax;) {
      const ended = await Promise.race([ending, waitingRoom.whenListed(saga.workflowId)]);
      if (ended !== undefined) return ended;
      const { waiting } = await saga.progress();
      if (waiting === undefined) continue;
      const fitting = fittingDecisions(waiting, rig.sandbox.ledger, asked);
      const isFirst = isStruck() && operator.choices === 0;
      if (isFirst) operator.choices = fitting.length;
      const { decision, body } = fitting[isFirst ? operator.choice : 0] ?? { decision: 'cancel', body: {} };
      if (decision !== 'cancel') operator.lift();
      decided += 1;
      try {
        await (decision === 'cancel' ? saga.cancel() : saga.decide(decision, body));
      } catch (error) {
        unlessEnded(error);
      }
    }
    throw new Error(`${saga.workflowId} was decided for ${String(decisionsMax)} times, and still waits`);
  } finally {
    waitingRoom.forget(saga.workflowId);
  }
}

/** Somebody else was quicker: the wait, or the saga, is over. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof SagaEndedError) && !(error instanceof DecisionRefusedError)) throw error;
}

function underWay(steps: readonly StepView[]): StepView[] {
  return steps.filter(({ status }) => status === 'running' || status === 'undoing');
}

interface Evidence {
  call: Call;
  steps: StepView[];
  spoiling: Spoiling;
  scene: Scene;
  ended: Ended;
}

/** What is missing to prove that the spoiling struck, at the step that was spoiled and nowhere else. */
async function unproven(
  { rig }: World,
  saga: SagaHandle,
  { call, steps, spoiling: { way }, scene, ended }: Evidence,
): Promise<string[]> {
  const missing: string[] = [];
  if (steps.length === 0) missing.push('no step was under way while the call was held');
  if (way.cancelled !== undefined && ended.cancelled === undefined)
    missing.push('it was cancelled, and ended otherwise');
  if (way.fault === undefined) return missing;

  if (!call.faults.some(({ kind }) => kind === way.fault?.kind)) missing.push(`${way.fault.kind} did not strike`);
  const { events } = await rig.temporal.workflow.getHandle(saga.workflowId).fetchHistory();
  const failed = await failedCalls(rig.temporal, events ?? []);
  if (!way.mayPass && !failed.some(({ is }) => is(call))) {
    missing.push(`${call.method} ${call.path} was spoiled, and the history shows no such failure`);
  }
  const others = failed.filter(({ is }) => !is(call));
  if (!way.lasting && scene.besides === undefined && others.length > 0) {
    missing.push(`beside ${call.path}, ${others.map(({ endpoint }) => endpoint).join()} failed`);
  }
  if (way.mayPass) return missing;
  // A question to a saga that has ended replays it: only where its outcome does not tell.
  const after = (ended.failure?.report ?? ended.cancelled ?? (await saga.progress())).steps;
  if (
    !steps.some((step) =>
      isTroubled(
        step,
        after.find(({ id }) => id === step.id),
      ),
    )
  ) {
    missing.push(`the step (${steps.map(({ id }) => id).join()}) shows no trace`);
  }
  return missing;
}

/** Whether a step ended otherwise than one that was left alone: not in its one call, or not done. */
function isTroubled(held: StepView, after: StepView | undefined): boolean {
  const expected = held.status === 'undoing' ? 'undone' : 'done';
  return after?.status !== expected || after.attempts !== held.attempts || after.detail !== undefined;
}
