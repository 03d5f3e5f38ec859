/** A job lists the sagas that it reaches, and sends each its decision. */
import { setTimeout as pause } from 'node:timers/promises';
import { Context, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  beginJob,
  countsOf,
  describeJob,
  filteredDecisions,
  readJob,
  record,
  sagasOf,
  sumOf,
  wordsOf,
  type Decided,
  type Job,
  type JobPlace,
  type JobReport,
  type OneDecision,
} from '../domain/decide-many';
import { describeProblems, type Problem } from '../domain/problems';
import { listWaiting, sendDecision, WrongFilter } from '../temporal/service';

/** Whom a job reaches by its filter, as `[workflow id, question]`; empty where it names each itself. */
export interface Listed {
  sagas: [saga: string, question: string][];
  /** How many wait beyond its limit. */
  beyond: number;
}

/** A saga that does not answer holds up no other, up to so many. */
const underWayMax = 20;

/** A heartbeat shows that the worker lives, also where the pace is slow. */
const beatEveryMs = 3_000;

/** A decision that Temporal cannot take is sent again, for about four minutes: one saga does not stop the job. */
const triesMax = 10;
const triesPauseMs = 500;

export function createDecideManyActivities() {
  return {
    /** In an activity of its own, so that whoever takes the job over decides about the same sagas. */
    async listDecisions(request: unknown): Promise<Listed> {
      const { what, limit } = checked(request);
      if ('decisions' in what) return { sagas: [], beyond: 0 };
      const filter = { kinds: filteredDecisions[what.decision], where: what.where };
      try {
        const { sagas, more } = await listWaiting(Context.current().client, filter, limit);
        return { sagas: sagas.map(({ workflowId, question }) => [workflowId, question]), beyond: more };
      } catch (error) {
        if (error instanceof WrongFilter) throw refused([{ field: 'where', message: error.message }]);
        throw error;
      }
    },

    /** Sends each decision as an update, at the pace, and reports what came of each. A cancellation stops it. */
    async decideAll(request: unknown, listed: Listed): Promise<JobReport> {
      const context = Context.current();
      const { info, cancellationSignal: signal } = context;
      const job = checked(request);
      const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
      const decisions = decisionsOf(job, listed, workflowId);
      const place = (info.heartbeatDetails as JobPlace | undefined) ?? beginJob(decisions.length);
      const beat = setInterval(() => {
        context.heartbeat(place);
      }, beatEveryMs);
      try {
        context.heartbeat(place);
        await sendAll(decisions, place, { perSecond: job.perSecond, signal, updateId: runId });
      } finally {
        clearInterval(beat);
      }
      const isStopped = signal.aborted && context.cancellationDetails?.cancelRequested === true;
      // The worker stops, or Temporal took it for dead: the next one goes on from this heartbeat.
      if (signal.aborted && !isStopped) throw ApplicationFailure.retryable('the worker stops', 'WorkerStops');
      const counts = countsOf(place);
      log.info('the job has ended', { ...counts });
      return {
        job: workflowId,
        asked: describeJob(job),
        by: job.by,
        note: job.note,
        outcome: isStopped ? 'stopped' : 'done',
        endedAt: new Date().toISOString(),
        counts,
        notReached: decisions.length - sumOf(counts) + listed.beyond,
        ...sagasOf(
          place,
          decisions.map(({ saga }) => saga),
        ),
      };
    },
  };
}

function decisionsOf(job: Job, { sagas }: Listed, workflowId: string): OneDecision[] {
  const words = wordsOf(job, workflowId);
  const { what } = job;
  if ('decisions' in what) {
    return what.decisions.map(({ saga, decision, body }) => {
      const said = { by: job.by, note: job.note, ...(body as Partial<typeof words>) };
      return { saga, decision, body: { ...body, ...wordsOf(said, workflowId) } };
    });
  }
  const { decision } = what;
  return sagas.map(([saga, question]) => ({ saga, decision, body: { question, ...words } }));
}

/** One begins, then a pause, then the next one: at most as many as the rate allows begin in any second. */
async function sendAll(
  decisions: readonly OneDecision[],
  place: JobPlace,
  { perSecond, signal, updateId }: { perSecond: number; signal: AbortSignal; updateId: string },
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for (const [index, decision] of decisions.entries()) {
    if (place.came[index] !== null) continue;
    if (signal.aborted) break;
    const sending = send(decision, `${updateId}/${index}`, signal)
      .then((decided) => {
        if (decided) record(place, index, decided);
      })
      .finally(() => underWay.delete(sending));
    underWay.add(sending);
    await pause(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
    while (underWay.size >= underWayMax) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

/** @returns undefined where it was stopped before it was known */
async function send(decision: OneDecision, updateId: string, signal: AbortSignal): Promise<Decided | undefined> {
  const { client } = Context.current();
  for (let tries = 1; ; tries += 1) {
    try {
      return await sendDecision(client, decision, updateId);
    } catch (err) {
      log.warn('a decision could not be sent', { saga: decision.saga, err });
      if (tries >= triesMax) return { outcome: 'unanswered' };
    }
    await pause(triesPauseMs * 2 ** (tries - 1), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
}

function checked(request: unknown): Job {
  const read = readJob(request);
  if (read.ok) return read.value;
  throw refused(read.problems);
}

function refused(problems: Problem[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`nothing was sent: ${describeProblems(problems)}`, 'InvalidRequest', problems);
}
