/** One saga, seen from outside. A handle follows the reference: after a *Reset* it is about the run that goes on. */
import { createHash, randomUUID } from 'node:crypto';
import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import {
  cancellationSchema,
  cancelledBySignal,
  decisionRefused,
  type Cancellation,
  type DecisionName,
} from '../domain/decisions';
import type { Deed } from '../domain/deeds';
import { workflowIdOf, type WorkflowName } from '../domain/identity';
import type { Milestone, ProgressView, Reached } from '../domain/progress';
import type { Report, ResultOf } from '../domain/results';
import { holdsSecret } from '../domain/secrets';
import { check } from '../domain/validation';
import { describeRun, grpcCodeOf, grpcCodes, grpcDetailsOf, isOpen, requestCancel } from '../temporal/service';
import { deedsOf } from '../temporal/deeds';
import { sagaAttributes } from '../temporal/search-attributes';
import { checkDecision, valueOf } from './checked';
import {
  DecisionRefusedError,
  MilestoneMissedError,
  NoWorkerError,
  SagaCancelledError,
  SagaEndedError,
  SagaFailedError,
  SagaLostError,
  SagaWaitsError,
  UnknownReferenceError,
} from './errors';
import { changesOf, silentAfterMs } from './events';
import { requireSharedKeys } from './workers';
import { throughCuts, withTemporalErrors } from './temporal-errors';

/** A worker answers within milliseconds; one that was killed is replaced within seconds. */
const answerWithinMs = 10_000;

export interface DecisionTaken {
  taken: DecisionName;
  step: string;
}

export class SagaHandle<W extends WorkflowName = WorkflowName> {
  readonly workflowId: string;
  private readonly latest: WorkflowHandle;

  constructor(
    private readonly temporal: Client,
    readonly workflow: W,
    readonly reference: string,
    /** The run that was started or found; a reset goes on in another one. */
    readonly runId: string,
    /** True when the saga was there before: it was found, or started again with the same request. */
    readonly existing: boolean,
  ) {
    this.workflowId = workflowIdOf(workflow, reference);
    this.latest = temporal.workflow.getHandle(this.workflowId);
  }

  /** The state, step by step; also after the end. @throws NoWorkerError, UnknownReferenceError, NoConnectionError */
  progress({ withinMs = answerWithinMs }: { withinMs?: number } = {}): Promise<ProgressView> {
    const deadline = Date.now() + withinMs;
    return withTemporalErrors(this.temporal, async () => {
      for (;;) {
        try {
          return await this.temporal.withDeadline(deadline, () => this.latest.query<ProgressView>('progress'));
        } catch (error) {
          if (isCutOff(error) && Date.now() < deadline) continue;
          if (!isUnanswered(error, deadline)) throw error;
          throw await this.noWorker();
        }
      }
    });
  }

  /**
   * The progress, now and whenever it has changed, until the saga has ended: the last one is its end, where a worker
   * answers then. Whoever reads no more (`break`, `return()`) leaves no call behind.
   *
   * @throws UnknownReferenceError, NoConnectionError as {@link result}. While no worker answers, or Temporal is away, it
   * waits, and says so to `onSilence` once
   */
  events({ onSilence }: { onSilence?: (why: string) => void } = {}): AsyncIterableIterator<ProgressView> {
    return changesOf(this.temporal, this.workflowId, () => this.progress({ withinMs: silentAfterMs }), onSilence);
  }

  /**
   * Waits until the saga reaches the milestone.
   *
   * @param throughWaits goes on while the saga waits for a person
   * @throws SagaWaitsError where it waits for a person; MilestoneMissedError where it has ended well without it, or
   * NoWorkerError where nobody tells; what {@link result} throws where it has not ended well
   */
  async reached(milestone: Milestone, { throughWaits = false } = {}): Promise<Reached> {
    const reachedIn = ({ reached }: ProgressView) => reached.find((one) => one.milestone === milestone);
    for await (const progress of this.events()) {
      const reached = reachedIn(progress);
      if (reached) return reached;
      if (progress.waiting && !throughWaits) throw new SagaWaitsError(this.workflowId, progress.waiting);
    }
    await this.result();
    // Without a worker the last that was told is not its end.
    const end = await this.progress();
    const reached = reachedIn(end);
    if (reached) return reached;
    throw new MilestoneMissedError(this.workflowId, milestone, end);
  }

  /**
   * Waits for the saga's end, however long it takes, and while Temporal is away.
   *
   * @throws SagaFailedError, SagaCancelledError, SagaLostError, UnknownReferenceError; NoConnectionError where Temporal
   * refuses the credentials or the namespace
   */
  result(): Promise<ResultOf[W]> {
    return throughCuts(this.temporal, async () => {
      for (;;) {
        try {
          return (await this.temporal.workflow.result(this.workflowId)) as ResultOf[W];
        } catch (error) {
          if (!(error instanceof WorkflowFailedError)) throw error;
          const end = await this.endOf(error);
          if (end !== undefined) throw end;
        }
      }
    });
  }

  /**
   * Decides what the saga waits for.
   *
   * @param body the decision's JSON object: `question` (`waiting.id` of the progress that was read), `note` where
   * evidence is needed, `by`, and what belongs to the decision
   * @param since when that question was asked (`waiting.since`), where the caller has read it: the same decision about the
   * same asking counts once, however often it is sent, and is answered with what it came to, also after the saga's end
   * @throws DecisionRefusedError with a sentence that says what would fit; SagaEndedError; NoWorkerError, after which
   * only the progress shows whether it was taken; UnknownReferenceError, NoConnectionError
   */
  async decide(name: DecisionName, body: unknown, { since }: { since?: string } = {}): Promise<DecisionTaken> {
    checkDecision(name, body);
    await requireSharedKeys(this.temporal);
    return this.unlessEnded(async () => {
      const updateId = await this.updateIdOf(name, body as { question: string }, since);
      try {
        return await this.temporal.withDeadline(Date.now() + answerWithinMs, () =>
          this.latest.executeUpdate<DecisionTaken, [unknown]>(name, { args: [body], updateId }),
        );
      } catch (error) {
        throw await this.whyNotTaken(name, error);
      }
    });
  }

  /** @returns the error of the decision; the same one, where it says nothing about that */
  private async whyNotTaken(name: DecisionName, error: unknown): Promise<unknown> {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
      return this.noWorker(' The progress will show whether the decision was taken');
    if (!(error instanceof WorkflowUpdateFailedError)) return error;
    const { type, details } = error.cause instanceof ApplicationFailure ? error.cause : {};
    // It ended in the moment in which it would have taken it.
    if (type === 'AcceptedUpdateCompletedWorkflow') return new UnknownReferenceError(this.workflowId);
    const { movedOn = false } = (details?.[0] ?? {}) as { movedOn?: boolean };
    return new DecisionRefusedError(name, error.cause?.message ?? error.message, type === decisionRefused && movedOn);
  }

  /**
   * Temporal answers a known id with the outcome that it had. Question ids come back, so the time at which it was asked
   * belongs to it. No digest is made of a secret, and none where another question waits: the saga says so then.
   */
  private async updateIdOf(name: DecisionName, body: { question: string }, read?: string): Promise<string> {
    const { question } = body;
    const since = holdsSecret(body) ? undefined : (read ?? (await this.askedAt(question)));
    if (since === undefined) return randomUUID();
    const said = JSON.stringify([name, Object.entries(body).sort(([one], [other]) => (one < other ? -1 : 1))]);
    return `${question.slice(0, 40)}/${since}/${createHash('sha256').update(said).digest('hex').slice(0, 32)}`;
  }

  private async askedAt(question: string): Promise<string | undefined> {
    const { typedSearchAttributes: listed } = await describeRun(this.temporal, this.workflowId);
    const asks = listed.get(sagaAttributes.question) === question;
    return asks ? listed.get(sagaAttributes.waitingSince)?.toISOString() : undefined;
  }

  /**
   * Asks the saga to stop: before the point of no return it undoes what it did. Returns when Temporal knows; the end
   * comes later, see {@link result}. Asking twice does no harm.
   *
   * @param said who wants it, and why: it stays in the report and in the journal. Without it, the report says that
   * nobody said so. With `question`, only while the saga waits at it: it takes no decision there any more
   * @throws InvalidRequestError where `said` lacks one of both; DecisionRefusedError where it waits at another question,
   * or at none; SagaEndedError, also where it ended in that moment;
   * UnknownReferenceError, NoConnectionError
   */
  async cancel(said?: Cancellation): Promise<void> {
    if (said !== undefined) valueOf(check<unknown>(cancellationSchema(), said));
    if (said !== undefined) await requireSharedKeys(this.temporal);
    // A server may take the request for a run that has ended, and do nothing.
    if (!isOpen(await this.describe())) throw new SagaEndedError(this.workflowId);
    await this.unlessEnded(async () => {
      // The words belong to the cancellation of this reason: any other one does not get them.
      const reason = said && randomUUID();
      // Before it, so that no report is written without it.
      if (reason !== undefined) await this.latest.signal(cancelledBySignal, { ...said, token: reason });
      if (said?.question !== undefined && (await this.progress()).waiting?.id !== said.question) {
        throw new DecisionRefusedError('cancel', `question ${said.question} is not the one that waits now`, true);
      }
      await requestCancel(this.temporal, this.workflowId, reason);
    });
  }

  /** @throws NoConnectionError: a server that went away is as silent as a worker */
  private async noWorker(advice?: string): Promise<NoWorkerError> {
    await this.temporal.withDeadline(Date.now() + silentAfterMs, () => describeRun(this.temporal, this.workflowId));
    return new NoWorkerError(this.workflowId, advice);
  }

  /** The saga's latest run, without asking a worker. @throws UnknownReferenceError, NoConnectionError */
  describe(): Promise<WorkflowExecutionDescription> {
    return withTemporalErrors(this.temporal, () => describeRun(this.temporal, this.workflowId));
  }

  /** Who has asked something of the latest run, as Temporal knows it. @throws UnknownReferenceError, NoConnectionError */
  deeds(): Promise<Deed[]> {
    return withTemporalErrors(this.temporal, () => deedsOf(this.temporal, this.workflowId));
  }

  /** Temporal says "not found" also where the saga has ended. */
  private async unlessEnded<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await withTemporalErrors(this.temporal, call);
    } catch (error) {
      if (!(error instanceof UnknownReferenceError)) throw error;
      await this.describe();
      throw new SagaEndedError(this.workflowId);
    }
  }

  /** @returns nothing where the saga goes on: *Reset* ends the run, and starts another one of the same saga */
  private async endOf({ cause, message }: WorkflowFailedError): Promise<Error | undefined> {
    const lost = (status: SagaLostError['status'], why: string) => new SagaLostError(this.workflowId, status, why);
    if (cause instanceof CancelledFailure) {
      const { status, memo } = await this.describe();
      if (status.name !== 'CANCELLED') return undefined;
      const report = readReport(memo?.['report']);
      return report ? new SagaCancelledError(this.workflowId, report) : lost('cancelled', 'not by the saga itself');
    }
    if (cause instanceof TerminatedFailure) {
      const { status } = await this.describe();
      return status.name === 'TERMINATED' ? lost('terminated', cause.message) : undefined;
    }
    if (cause instanceof TimeoutFailure) return lost('timed-out', cause.message);
    if (!(cause instanceof ApplicationFailure)) return lost('failed', cause?.message ?? message);
    const { type, details, message: why } = cause;
    const report = readReport(details?.[0]);
    return type && report ? new SagaFailedError(this.workflowId, type, why, report) : lost('failed', why);
  }
}

/** No worker took the query. One whose time is over may also end as a cancelled call: the two sides race. */
function isUnanswered(error: unknown, deadline: number): boolean {
  const code = grpcCodeOf(error);
  if (code === grpcCodes.cancelled) return Date.now() >= deadline;
  return code === grpcCodes.deadlineExceeded || code === grpcCodes.failedPrecondition;
}

/** The worker that had the query stopped, so that the server cancelled it: the next worker may answer it. */
function isCutOff(error: unknown): boolean {
  return grpcCodeOf(error) === grpcCodes.cancelled && grpcDetailsOf(error) === 'context canceled';
}

/** Not held to today's schema: a saga of another release may have written a field more or less. */
function readReport(value: unknown): Report | undefined {
  return typeof value === 'object' && value !== null && 'leftovers' in value ? (value as Report) : undefined;
}
