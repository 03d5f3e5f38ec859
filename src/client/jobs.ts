/** One decision over many sagas: what it would reach, the job that carries it out, and the job's handle. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  bulkDecisions,
  decideManyWorkflow,
  describeJob,
  isJobId,
  jobIdOf,
  readJobRequest,
  type JobControl,
  type JobRequest,
} from '../domain/decide-many';
import { definedOnly } from '../domain/defined-only';
import { evidenceLinesMax } from '../domain/evidence';
import { dryListOf, type DryList } from '../domain/dry-list';
import type { JobProgress, JobReport } from '../domain/job-report';
import type { Problem } from '../domain/problems';
import { findNamed } from '../temporal/evidence-sagas';
import { ListRefused, listWaiting } from '../temporal/waiting-sagas';
import {
  InvalidRequestError,
  JobEndedError,
  JobLostError,
  NoWorkerError,
  SearchAttributesMissingError,
  UnknownReferenceError,
} from './errors';
import { answerWithinMs, query } from './query';
import { lacksSearchAttributes } from './saga-list';
import { withTemporalErrors } from './temporal-errors';

/** What a job would do. `asked` is its request in words. */
export type ManyPreview = { asked: string } & (
  { by: 'query'; list: DryList } | { by: 'evidence'; lines: number; placed: number; notPlaced: number }
);

/** Who says it, and why: the job's progress and report have it. */
export interface ControlWords {
  by?: string;
  note?: string;
}

/** @throws InvalidRequestError, SearchAttributesMissingError, NoConnectionError */
export async function previewMany(temporal: Client, request: unknown): Promise<ManyPreview> {
  const job = checkJob(request);
  const asked = describeJob(job);
  if ('evidence' in job) {
    const found = await withTemporalErrors(temporal, () => findNamed(temporal, job.evidence));
    if (!found.ok) throw new InvalidRequestError(found.problems);
    const placed = job.evidence.filter((line) => line.placed).length;
    return { asked, by: 'evidence', lines: job.evidence.length, placed, notPlaced: job.evidence.length - placed };
  }
  const filter = { kinds: bulkDecisions[job.decision].reaches, ...definedOnly({ where: job.where }) };
  const { sagas, more } = await listed(temporal, () => listWaiting(temporal, filter, job.limit));
  return { asked, by: 'query', list: dryListOf(sagas, more, Date.now()) };
}

async function listed<T>(temporal: Client, list: () => Promise<T>): Promise<T> {
  try {
    return await withTemporalErrors(temporal, list);
  } catch (error) {
    if (error instanceof ListRefused) throw new InvalidRequestError([{ field: error.field, message: error.message }]);
    if (lacksSearchAttributes(error)) throw new SearchAttributesMissingError(temporal.options.namespace);
    throw error;
  }
}

/** A line of evidence that nobody has filled in yet. */
export interface OpenLine {
  /** The workflow id. */
  reference: string;
  question: string;
  placed: null;
}

/** As much as one file takes. */
export interface OpenEvidence {
  lines: OpenLine[];
  /** How many more ask. */
  more: number;
}

/** @throws InvalidRequestError, SearchAttributesMissingError, NoConnectionError */
export async function listDoubtful(temporal: Client, where: string | undefined): Promise<OpenEvidence> {
  const filter = { kinds: ['outcome-unknown'], ...definedOnly({ where }) } as const;
  const { sagas, more } = await listed(temporal, () => listWaiting(temporal, filter, evidenceLinesMax));
  return { lines: sagas.map(({ workflowId, question }) => ({ reference: workflowId, question, placed: null })), more };
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
  try {
    await withTemporalErrors(temporal, () =>
      temporal.workflow.start(decideManyWorkflow, {
        workflowId,
        taskQueue,
        // As it came: the job reads it itself, like one from the Web UI.
        args: [request],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: describeJob(job).slice(0, 200),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
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
export function checkJob(request: unknown): JobRequest {
  const read = readJobRequest(request);
  if (read.ok) return read.job;
  throw new InvalidRequestError(read.problems);
}

/** A bar moves every second. */
const lookEveryMs = 1_000;

/** A run of a job begins a moment after the one before it has ended. */
const betweenRunsMs = 200;

export class JobHandle {
  constructor(
    private readonly temporal: Client,
    readonly workflowId: string,
  ) {}

  /** How far it is; also after its end. @throws NoWorkerError, UnknownReferenceError, NoConnectionError */
  progress({ withinMs = answerWithinMs }: { withinMs?: number } = {}): Promise<JobProgress> {
    return query<JobProgress>(this.temporal, this.workflowId, { name: 'progress', withinMs });
  }

  /** No more decisions are sent until it is resumed; those that are on their way are. @throws as {@link stop} */
  pause(words: ControlWords = {}): Promise<JobProgress['state']> {
    return this.control('pause', words);
  }

  /** @throws as {@link stop} */
  resume(words: ControlWords = {}): Promise<JobProgress['state']> {
    return this.control('resume', words);
  }

  /**
   * Ends it: what was decided stays decided, and {@link report} says what was not.
   *
   * @throws InvalidRequestError, JobEndedError, NoWorkerError, UnknownReferenceError, NoConnectionError
   */
  stop(words: ControlWords = {}): Promise<JobProgress['state']> {
    return this.control('stop', words);
  }

  /**
   * Waits for its end, and tells what came of each saga.
   *
   * @throws InvalidRequestError where the job refused its request, and nothing was sent; JobLostError where it was
   * ended from outside
   */
  async report(): Promise<JobReport> {
    try {
      return await withTemporalErrors(
        this.temporal,
        async () => (await this.temporal.workflow.result(this.workflowId)) as JobReport,
      );
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause } = error;
      if (cause instanceof ApplicationFailure && cause.type === 'InvalidRequest') {
        const problems = cause.details?.[0] as Problem[] | undefined;
        throw new InvalidRequestError(problems ?? [{ field: '', message: cause.message }]);
      }
      throw new JobLostError(this.workflowId, cause?.message ?? error.message);
    }
  }

  /**
   * Shows its progress until it ends.
   *
   * @param onProgress called when it has changed
   * @returns its report. @throws as {@link report}
   */
  async follow(onProgress: (progress: JobProgress) => void): Promise<JobReport> {
    const over = new AbortController();
    const isOver = () => over.signal.aborted;
    let shown = '';
    const show = (progress: JobProgress) => {
      const now = JSON.stringify(progress);
      if (now !== shown) onProgress(progress);
      shown = now;
    };
    const showing = (async () => {
      while (!isOver()) {
        const progress = await this.progress().catch(() => undefined);
        if (progress && !isOver()) show(progress);
        await pause(lookEveryMs, undefined, { signal: over.signal }).catch(() => undefined);
      }
    })();
    try {
      return await this.report();
    } finally {
      over.abort();
      await showing;
      await this.progress().then(show, () => undefined);
    }
  }

  private async control(name: JobControl, words: ControlWords): Promise<JobProgress['state']> {
    const deadline = Date.now() + answerWithinMs;
    for (;;) {
      try {
        const { state } = await withTemporalErrors(this.temporal, () =>
          this.temporal.withDeadline(deadline, () =>
            this.temporal.workflow
              .getHandle(this.workflowId)
              .executeUpdate<{ state: JobProgress['state'] }, [unknown]>(name, { args: [words] }),
          ),
        );
        return state;
      } catch (error) {
        if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) throw new NoWorkerError(this.workflowId);
        if (!(await this.goesOn())) throw new JobEndedError(this.workflowId);
        if (error instanceof WorkflowUpdateFailedError && isOfRequest(error.cause)) {
          throw new InvalidRequestError([{ field: '', message: error.cause.message }]);
        }
        // It came between two runs of the job.
        const wasBetween = error instanceof UnknownReferenceError || error instanceof WorkflowUpdateFailedError;
        if (!wasBetween || Date.now() >= deadline) throw error;
        await pause(betweenRunsMs);
      }
    }
  }

  private async goesOn(): Promise<boolean> {
    const { status } = await withTemporalErrors(this.temporal, () =>
      this.temporal.workflow.getHandle(this.workflowId).describe(),
    );
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  }
}

function isOfRequest(cause: unknown): cause is ApplicationFailure {
  return cause instanceof ApplicationFailure && cause.type === 'InvalidRequest';
}
