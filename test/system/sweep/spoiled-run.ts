/**
 * One story, told with its n-th call spoiled in one way, and brought to its end by an operator who takes the k-th of
 * the decisions that fit the first wait after that.
 *
 * ```text
 *   prepare ─▶ start ─▶ … ─▶ n-th call, held: which step makes it? ─▶ spoiled ─▶ … [k-th decision] … ─▶ end ─▶ ask the ledger
 * ```
 */
import { fits } from '../../../sandbox/faults';
import type { EndpointName } from '../../../sandbox/endpoints';
import type { Call } from '../../../sandbox/ledger';
import type { SagaHandle } from '../../../src/client/handle';
import type { WorkflowName } from '../../../src/domain/identity';
import type { StepView } from '../../../src/domain/progress';
import { brokenPromises, type Asked } from '../../support/promises';
import { operate, Operator, unlessOver } from '../../support/operator';
import type { Rig } from '../../support/rig';
import { callsOf, pivotOf } from '../../support/saga-calls';
import { progressOf, type Ended } from '../../support/sagas';
import type { Scene, Story } from './sagas';
import type { Way } from './ways';

export interface Spoiling {
  way: Way;
  /** The call of the story that is spoiled, counted from 1. */
  nth: number;
  whileHeld?: () => Promise<void>;
}

export interface SpoiledRun {
  /** The call that was spoiled; undefined where the story ended before its n-th. */
  call: Call | undefined;
  /** True where that call put something back. */
  undoing: boolean;
  /** How many decisions fitted the first wait after it. */
  choices: number;
  /** The rows that the story called, one for each call. */
  calls: EndpointName[];
  ended: Ended;
  broken: string[];
}

export async function tellSpoiled(
  rig: Rig,
  story: Story,
  spoiling: Spoiling | undefined,
  choice = 0,
): Promise<SpoiledRun> {
  const { sandbox } = rig;
  const scene = await story.prepare(rig);
  const { asked, besides = [] } = scene;
  const match = callsOf(asked);
  const before = sandbox.ledger.calls.length;
  const spoiled = spoiling && spoil(rig, spoiling, scene);
  for (const fault of besides) sandbox.faults.add({ ...fault, match });

  const saga = await rig.sagas.start<WorkflowName>(asked.workflow, asked.request);
  const meanwhile = scene.meanwhile?.(rig, saga).catch(unlessOver);
  const operator = new Operator(choice, () => spoiled?.lift());
  operator.attends = !spoiling;
  const ending = operate(rig, saga, asked, operator);

  const held = spoiled && (await Promise.race([spoiled.held, ending]));
  const call = held && 'seq' in held ? held : undefined;
  let steps: StepView[] = [];
  if (call) {
    steps = (await progressOf(saga)).steps.filter(({ status }) => status === 'running' || status === 'undoing');
    if (spoiling?.way.cancelled) await saga.cancel();
    await spoiling?.whileHeld?.();
    operator.attends = true;
    spoiled?.release();
  }
  // Somebody's deed meanwhile may wait for a call that is never made.
  const ended = await Promise.race([ending, ...(meanwhile ? [meanwhile.then(() => ending)] : [])]);
  spoiled?.lift();

  const broken = brokenPromises(sandbox.ledger, asked, ended);
  if (call && spoiling) {
    broken.push(...(await missingProof(saga, { way: spoiling.way, call, steps, ended })));
  }
  const calls = sandbox.ledger.calls
    .slice(before)
    .flatMap((call) => (fits(call, { endpoint: '*', match }) && call.endpoint ? [call.endpoint] : []));
  const undoing = steps.some(({ status }) => status === 'undoing');
  return { call, undoing, choices: operator.choices, calls, ended, broken };
}

/** Holds the n-th call, so that it can be looked at, and spoils it. */
function spoil({ sandbox }: Rig, { way, nth }: Spoiling, { asked }: Scene) {
  const match = callsOf(asked);
  const hold = way.hold ?? 'before';
  const endpoint = rowOf(way, asked);
  const gate = sandbox.faults.add({ endpoint, kind: 'gate', nth, match, hold });
  const window = way.lasting ? ({ from: nth, times: 'all' } as const) : { nth };
  const fault = way.fault && sandbox.faults.add({ endpoint, match, ...way.fault, ...window });
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

/** The row that a way spoils in a story; `*` for all, and none where a story has no pivot. */
function rowOf({ at }: Way, asked: Asked): EndpointName | '*' {
  return at === 'pivot' ? (pivotOf(asked) ?? 'find-servers') : (at ?? '*');
}

function callOf({ ledger }: Rig['sandbox'], seq: number | undefined): Call {
  const call = ledger.calls.find((one) => one.seq === seq);
  if (call === undefined) throw new Error('a strike belongs to a call');
  return call;
}

interface Evidence {
  way: Way;
  call: Call;
  /** Those that were under way while the call was held. */
  steps: readonly StepView[];
  ended: Ended;
}

/** Proves that the call was spoiled, and that the saga noticed it at the step that made it. @returns what is missing */
async function missingProof(saga: SagaHandle, evidence: Evidence): Promise<string[]> {
  const { way, call, steps, ended } = evidence;
  const missing: string[] = [];
  if (steps.length === 0) missing.push('no step was under way while the call was held');
  if (way.cancelled && !ended.cancelled) missing.push('it was cancelled, and ended otherwise');
  if (way.fault && !call.faults.some(({ kind }) => kind === way.fault?.kind)) {
    missing.push(`${way.fault.kind} did not strike`);
  }
  if (way.fault && !way.worker && !way.mayPass) missing.push(...(await leftNoTrace(saga, evidence)));
  return missing;
}

/** A question to a saga that has ended replays it: only where its outcome does not tell. */
async function leftNoTrace(saga: SagaHandle, { steps, ended }: Evidence): Promise<string[]> {
  const after = (ended.failure?.report ?? ended.cancelled ?? (await progressOf(saga))).steps;
  const isTold = steps.some((step) =>
    isTroubled(
      step,
      after.find(({ id }) => id === step.id),
    ),
  );
  if (isTold) return [];
  return [`the step (${steps.map(({ id }) => id).join()}) shows no trace`];
}

/** True if a step ended otherwise than one that was left alone: not in its one call, or not done. */
function isTroubled(held: StepView, after: StepView | undefined): boolean {
  const expected = held.status === 'undoing' ? 'undone' : 'done';
  return after?.status !== expected || after.attempts !== held.attempts || after.detail !== undefined;
}
