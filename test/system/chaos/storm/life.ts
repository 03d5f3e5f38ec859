/**
 * One saga's life: started, perhaps twice; struck; meddled with; waited for until it has ended, whichever way. It is
 * the operator who decides (`random-operator.ts`).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import {
  ReferenceTakenError,
  SagaEndedError,
  SagaLostError,
  UnknownReferenceError,
} from '../../../../src/client/errors';
import type { SagaHandle } from '../../../../src/client/handle';
import { withTemporalErrors } from '../../../../src/client/temporal-errors';
import { grpcCodeOf, grpcCodes } from '../../../../src/temporal/service';
import { defaultTaskQueue } from '../../../../src/domain/identity';
import type { Asked } from '../../../support/promises';
import { outcomeOf, persistently, type Ended } from '../../../support/sagas';
import { anyUnderWay } from '../../../support/saga-calls';
import { resetTo, workflowTasksOf } from '../../../support/web-ui';
import type { Crew } from '../crew';
import { toldByBoth, type Lived as Judged } from '../judgement';
import type { World } from '../world';
import type { Meddling, PlannedSaga } from './plan';

const terminationReason = 'pressed the wrong button';

export interface Storm extends World {
  crew: Crew;
  losses: () => number;
  /** Deeds of people that Temporal has confirmed; it may have forgotten them since. */
  deeds: Record<'cancelled' | 'terminated' | 'reset' | 'startedAgain', number>;
}

export interface Lived extends Judged {
  planned: PlannedSaga;
  ended: Ended;
  startedAnew: number;
  surprises: string[];
  foundTwice?: true;
}

export async function live(world: Storm, planned: PlannedSaga): Promise<Lived> {
  const { asked, meddling, deadlineMs } = planned;
  if (deadlineMs !== undefined) {
    Object.assign(asked.request, { notAfter: new Date(Date.now() + deadlineMs).toISOString() });
  }
  const lived: Lived = { planned, asked, ended: {}, startedAnew: 0, surprises: [] };
  const lift = strike(world, planned);
  try {
    const before = world.losses();
    const saga = await send(world, asked.workflow, asked.request);
    if (planned.twice) await sendAgain(world, lived, saga.runId, before);
    const endOf = () => endOfSaga(world, lived);
    if (meddling && 'afterCalls' in meddling) {
      const called = world.sandbox.whenCalled({ match: planned.calls, times: meddling.afterCalls });
      await Promise.race([called, endOf()]);
      await meddle(world, planned, saga, meddling);
    }
    let ended = await endOf();
    if (ended !== 'terminated' && meddling && !('afterCalls' in meddling)) {
      lived.before = ended;
      await meddle(world, planned, saga, meddling);
      ended = await endOf();
    }
    return await settled(world, lived, ended);
  } finally {
    lift();
  }
}

/**
 * Temporal has forgotten its end, or all of it: the backend sends the request again, and it comes to an end once more.
 */
export async function liveOn(world: Storm, lived: Lived): Promise<Lived> {
  const { planned, asked } = lived;
  const next: Lived = { ...lived, asked: planned.asked, forgotten: true };
  // A clean-up's report is no outcome of the saga that it cleaned up after.
  if (asked.workflow === 'cleanCart') delete next.before;
  else next.before = lived.before ? toldByBoth(lived.before, lived.ended) : lived.ended;
  const last = await settled(world, next, await endOfSaga(world, next, { restart: true }));
  // Nothing of it was forgotten: it says what it said.
  return isDeepStrictEqual(last.ended, lived.ended)
    ? { ...lived, startedAnew: last.startedAnew, forgotten: true }
    : last;
}

async function settled(world: Storm, lived: Lived, ended: Ended | 'terminated'): Promise<Lived> {
  if (ended !== 'terminated') return { ...lived, ended };
  const { reference } = lived.planned.asked.request;
  const cleaned = await cleanUp(world, lived);
  // Forgotten, and started again: it has an end of its own.
  if (cleaned === 'unknown') return settled(world, lived, await endOfSaga(world, lived, { restart: true }));
  return { ...lived, asked: { workflow: 'cleanCart', request: { reference } }, ended: cleaned };
}

/** @returns what takes back the faults that have not struck */
function strike({ sandbox, crew }: Storm, { calls, server, fault, death }: PlannedSaga): () => void {
  if (server) sandbox.addServer(server);
  const ids: string[] = [];
  if (fault) ids.push(sandbox.faults.add({ endpoint: '*', match: calls, ...fault }));
  if (death) {
    const { signal, ...held } = death;
    const gate = sandbox.faults.add({ kind: 'gate', match: calls, ...held });
    ids.push(gate);
    void sandbox
      .whenStruck(gate)
      .then(([struck]) => struck && crew.end(struck.callSeq, signal))
      .finally(() => sandbox.faults.lift(gate))
      // The sandbox closes before the call was made.
      .catch(() => undefined);
  }
  return () => ids.forEach((id) => sandbox.faults.lift(id));
}

/** As a backend does it that asks until it is answered. */
async function send({ sagas }: Storm, workflow: Asked['workflow'], request: object): Promise<SagaHandle> {
  for (;;) {
    try {
      return await persistently(() => sagas.start(workflow, request));
    } catch (error) {
      // While a run is being deleted, it is there, and its history is not.
      if (!(error instanceof ReferenceTakenError) || error.fields.length > 0) throw error;
    }
    await pause(300);
  }
}

async function sendAgain(world: Storm, lived: Lived, runId: string, lossesBefore: number): Promise<void> {
  const { asked } = lived.planned;
  const again = await send(world, asked.workflow, asked.request);
  if (world.losses() > lossesBefore) return;
  if (again.existing && again.runId === runId) lived.foundTwice = true;
  else lived.surprises.push(`sent again, it was another run: ${again.runId}, not ${runId}`);
}

/** If Temporal knows nothing of it, it is started again, as a backend does that has no answer. */
async function endOfSaga(
  world: Storm,
  lived: Lived,
  { restart = false }: { restart?: boolean } = {},
): Promise<Ended | 'terminated'> {
  const { asked, meddling } = lived.planned;
  let isUnknown = restart;
  for (;;) {
    try {
      if (isUnknown) {
        const { existing } = await send(world, asked.workflow, asked.request);
        if (!existing) lived.startedAnew += 1;
      }
      const saga = await persistently(() => world.sagas.get(asked.request.reference, asked.workflow));
      const ended = await endOf(saga);
      // A run is terminated before it is deleted.
      const isDeleting = ended === 'terminated' && meddling?.how === 'delete' && lived.startedAnew === 0;
      if (!isDeleting) return ended;
      isUnknown = true;
    } catch (error) {
      if (!(error instanceof UnknownReferenceError)) throw error;
      isUnknown = true;
    }
    await pause(300);
  }
}

async function endOf(saga: SagaHandle): Promise<Ended | 'terminated'> {
  try {
    return await persistently(() => outcomeOf(saga));
  } catch (error) {
    if (error instanceof SagaLostError && error.status === 'terminated') return 'terminated';
    throw error;
  }
}

async function meddle(
  { temporal, deeds }: Storm,
  { asked }: PlannedSaga,
  saga: SagaHandle,
  meddling: Meddling,
): Promise<void> {
  const { workflowId } = saga;
  try {
    switch (meddling.how) {
      case 'cancel':
        await persistently(() => saga.cancel());
        deeds.cancelled += 1;
        return;
      case 'terminate':
        await persistently(() =>
          withTemporalErrors(temporal, () => temporal.workflow.getHandle(workflowId).terminate(terminationReason)),
        );
        deeds.terminated += 1;
        return;
      case 'reset':
      case 'reset-ended': {
        const isReset = () => withTemporalErrors(temporal, () => reset(temporal, workflowId, meddling.at));
        if (await persistently(isReset)) deeds.reset += 1;
        return;
      }
      case 'delete':
      case 'delete-ended':
        return await persistently(() => withTemporalErrors(temporal, () => deleteForGood(temporal, workflowId)));
      case 'start-again': {
        // The client refuses this; the Web UI and other SDKs do not.
        const options = { workflowId, taskQueue: defaultTaskQueue, args: [asked.request] };
        await persistently(() => withTemporalErrors(temporal, () => temporal.workflow.start(asked.workflow, options)));
        deeds.startedAgain += 1;
      }
    }
  } catch (error) {
    // It has ended meanwhile; or the answer to an earlier try was lost.
    const tooLate =
      error instanceof SagaEndedError ||
      error instanceof UnknownReferenceError ||
      error instanceof WorkflowExecutionAlreadyStartedError ||
      grpcCodeOf(error) === grpcCodes.notFound;
    if (!tooLate) throw error;
  }
}

/**
 * It is gone some time later; a server that dies meanwhile, or is restored, has it still. Each time it is asked, the
 * server takes on a task, which it puts off until the run can go: asked all the time, it comes to nothing else.
 */
async function deleteForGood(temporal: Client, workflowId: string): Promise<never> {
  const { namespace } = temporal.options;
  for (;;) {
    await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    await pause(10_000);
  }
}

/** As the Web UI does it. @returns whether there is such a point */
async function reset(temporal: Client, workflowId: string, at: number): Promise<boolean> {
  const { runId } = await temporal.workflow.getHandle(workflowId).describe();
  const points = await workflowTasksOf(temporal, { workflowId, runId });
  const point = points[Math.floor(at * points.length)];
  if (point === undefined) return false;
  try {
    await resetTo(temporal, { workflowId, runId }, point);
    return true;
  } catch (error) {
    // Temporal cannot reset to some points, such as one with a child or an update in flight, and says so.
    if (grpcCodeOf(error) !== grpcCodes.invalidArgument) throw error;
    return false;
  }
}

/**
 * Somebody tidies up after the termination, once nothing of it is on its way any more.
 *
 * @returns `unknown` where Temporal has forgotten the clean-up
 */
async function cleanUp({ sandbox, sagas }: Storm, { planned }: Lived): Promise<Ended | 'unknown'> {
  const { asked, calls } = planned;
  do await pause(1_000);
  while (anyUnderWay(sandbox.ledger, calls));
  const cleaning = await persistently(() => sagas.clean(asked.request.reference));
  const ended = await endOf(cleaning).catch((error: unknown) => {
    if (error instanceof UnknownReferenceError) return 'unknown' as const;
    throw error;
  });
  if (ended === 'terminated') throw new Error('nobody terminates a clean-up');
  return ended;
}
