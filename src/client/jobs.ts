/** Many decisions at once: whom they would reach, the job that sends them, and the job's handle. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import {
  decideManyWorkflow,
  describeJob,
  filteredDecisions,
  isJobId,
  jobIdOf,
  readJob,
  type Job,
  type JobPlace,
  type JobReport,
} from '../domain/decide-many';
import { cutWell } from '../domain/markdown';
import type { Problem } from '../domain/problems';
import type { WaitKind } from '../domain/progress';
import { listWaiting, type WaitingSaga } from '../temporal/service';
import { valueOf } from './checked';
import { InvalidRequestError, JobEndedError, JobLostError, UnknownReferenceError } from './errors';
import { decode } from './first-request';
import { startUnlessThere } from './runs';
import { withTemporalErrors } from './temporal-errors';

/** A job before it is started. `asked` is its request in words. */
export interface ManyPreview {
  asked: string;
  perSecond: number;
  /** How many decisions it would send. */
  count: number;
  /** Whom it reaches by its filter, the longest waiting first. */
  sagas?: WaitingSaga[];
  /** How many more wait, beyond its limit. */
  beyond: number;
}

/** @throws InvalidRequestError, SearchAttributesMissingError, NoConnectionError */
export async function previewMany(temporal: Client, request: unknown): Promise<ManyPreview> {
  const job = checkJob(request);
  const { what, perSecond, limit } = job;
  const asked = describeJob(job);
  if ('decisions' in what) return { asked, perSecond, count: what.decisions.length, beyond: 0 };
  const filter = { kinds: filteredDecisions[what.decision], where: what.where };
  const { sagas, more } = await withTemporalErrors(temporal, () => listWaiting(temporal, filter, limit));
  return { asked, perSecond, count: sagas.length, sagas, beyond: more };
}

/** A line of a job that nobody has filled in yet. */
export interface OpenLine {
  /** The workflow id. */
  saga: string;
  kind: WaitKind;
  question: string;
  decision: null;
}

/** @throws InvalidRequestError, also where there is a job of that name; NoConnectionError */
export async function startJob(
  temporal: Client,
  taskQueue: string,
  request: unknown,
  name = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-${randomBytes(2).toString('hex')}`,
): Promise<JobHandle> {
  const job = checkJob(request);
  const workflowId = jobIdOf(name);
  if (!isJobId(workflowId)) {
    const message = 'must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -';
    throw new InvalidRequestError([{ field: 'name', message }]);
  }
  const runId = await startUnlessThere(temporal, decideManyWorkflow, {
    workflowId,
    taskQueue,
    // As it came: the job reads it itself, like one from the Web UI.
    args: [request],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    staticSummary: cutWell(describeJob(job), 200),
  });
  if (runId === undefined) {
    throw new InvalidRequestError([{ field: 'name', message: `there is a job ${workflowId}` }]);
  }
  return new JobHandle(temporal, workflowId);
}

/** @param id with or without its prefix. @throws UnknownReferenceError, also where it is no job; NoConnectionError */
export async function findJob(temporal: Client, id: string): Promise<JobHandle> {
  const workflowId = isJobId(id) ? id : jobIdOf(id);
  if (!isJobId(workflowId)) throw new UnknownReferenceError(id);
  const info = await withTemporalErrors(temporal, () => temporal.workflow.getHandle(workflowId).describe());
  if (info.type !== decideManyWorkflow) throw new UnknownReferenceError(workflowId);
  return new JobHandle(temporal, workflowId);
}

/** @throws InvalidRequestError with every wrong field or line */
export function checkJob(request: unknown): Job {
  return valueOf(readJob(request));
}

/** A bar moves every second. */
const lookEveryMs = 1_000;

export class JobHandle {
  constructor(
    private readonly temporal: Client,
    readonly workflowId: string,
  ) {}

  /**
   * Tells where it stands, as of its last heartbeat some seconds ago, without a worker. @returns undefined before the
   * first one, and after its end. @throws UnknownReferenceError, NoConnectionError
   */
  async progress(): Promise<JobPlace | undefined> {
    const { raw } = await withTemporalErrors(this.temporal, () => this.handle.describe());
    const payloads = raw.pendingActivities?.find(({ heartbeatDetails }) => heartbeatDetails)?.heartbeatDetails
      ?.payloads;
    return (await decode(this.temporal, payloads?.[0])) as JobPlace | undefined;
  }

  /** Asks it to end: what was decided stays decided, and {@link report} says what was not. @throws JobEndedError */
  async stop(): Promise<void> {
    const { closeTime } = await withTemporalErrors(this.temporal, () => this.handle.describe());
    if (closeTime !== undefined) throw new JobEndedError(this.workflowId);
    await withTemporalErrors(this.temporal, () => this.handle.cancel());
  }

  /**
   * Waits for its end, and tells what came of each saga.
   *
   * @throws InvalidRequestError where the job refused its request, and nothing was sent; JobLostError where it was
   * ended from outside
   */
  async report(): Promise<JobReport> {
    try {
      return await withTemporalErrors(this.temporal, async () => (await this.handle.result()) as JobReport);
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const cause = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
      if (cause instanceof ApplicationFailure && cause.type === 'InvalidRequest') {
        const problems = cause.details?.[0] as Problem[] | undefined;
        throw new InvalidRequestError(problems ?? [{ field: '', message: cause.message }]);
      }
      throw new JobLostError(this.workflowId, cause?.message ?? error.message);
    }
  }

  /** Shows where it stands until it ends. @returns its report. @throws as {@link report} */
  async follow(show: (place: JobPlace) => void): Promise<JobReport> {
    const over = new AbortController();
    const isOver = () => over.signal.aborted;
    const showing = (async () => {
      while (!isOver()) {
        const place = await this.progress().catch(() => undefined);
        if (place && !isOver()) show(place);
        await pause(lookEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
      }
    })();
    try {
      return await this.report();
    } finally {
      over.abort();
      await showing;
    }
  }

  private get handle() {
    return this.temporal.workflow.getHandle(this.workflowId);
  }
}
