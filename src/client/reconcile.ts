/** Sweeps as an operator schedules, starts and reads them: see `src/domain/reconcile.ts`. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  WorkflowFailedError,
  type Client,
  type ScheduleDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { definedOnly } from '../domain/defined-only';
import {
  couldNotLook,
  reconcileSchema,
  reconcileWorkflow,
  sweepReportSchema,
  type ReconcileOptions,
  type SweepReport,
} from '../domain/reconcile';
import { check } from '../domain/validation';
import { InvalidRequestError } from './errors';
import { withTemporalErrors } from './temporal-errors';

/** A sweep of many servers takes minutes; after a month, what it looks at has become too old. */
const everyMinMs = 5 * 60_000;
const everyMaxMs = 31 * 24 * 60 * 60_000;

/** One sweep, as Temporal has it. */
export interface SweepRun {
  workflowId: string;
  runId: string;
  /** Temporal's word: `RUNNING`, `COMPLETED`, `FAILED`, `CANCELLED`, `TERMINATED`, `TIMED_OUT`. */
  status: string;
  startTime: Date;
  closeTime?: Date;
  /** Absent where it has not ended by itself. */
  report?: SweepReport;
}

export interface SweepSchedule {
  /** Milliseconds; undefined where somebody has given it other times in Temporal. */
  everyMs?: number;
  /** What its sweeps are asked. */
  options: ReconcileOptions;
  paused: boolean;
  note?: string;
  next?: Date;
  /** Sweeps that were not started, because one was still running. */
  skipped: number;
}

/** Where the client comes from, it is told the task queue, too. */
export class Sweeps {
  constructor(
    private readonly temporal: Client,
    private readonly taskQueue: string,
  ) {}

  /**
   * Makes the schedule, or changes it; one that is paused stays paused.
   *
   * @param everyMs 5 minutes to 31 days
   * @returns whether there was one
   * @throws InvalidRequestError, NoConnectionError
   */
  async schedule(everyMs: number, options: ReconcileOptions = {}): Promise<{ existing: boolean }> {
    if (!(everyMs >= everyMinMs && everyMs <= everyMaxMs)) {
      throw new InvalidRequestError([{ field: 'every', message: 'must be from 5 minutes to 31 days' }]);
    }
    const wanted = {
      spec: { intervals: [{ every: everyMs }] },
      action: {
        type: 'startWorkflow' as const,
        workflowType: reconcileWorkflow,
        // Temporal adds the time.
        workflowId: reconcileWorkflow,
        taskQueue: this.taskQueue,
        args: [checked(options)],
        staticSummary: 'a sweep, by the schedule',
      },
      // After an outage of Temporal one sweep is enough.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: everyMs, pauseOnFailure: false },
    };
    return this.asked(async () => {
      try {
        await this.temporal.schedule.create({ scheduleId: reconcileWorkflow, ...wanted });
        return { existing: false };
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      }
      const handle = this.temporal.schedule.getHandle(reconcileWorkflow);
      await handle.update(({ state }) => ({ ...wanted, state }));
      return { existing: true };
    });
  }

  /** @returns undefined where there is none. @throws NoConnectionError */
  async scheduled(): Promise<SweepSchedule | undefined> {
    const schedule = await this.orNone((handle) => handle.describe());
    if (schedule === undefined) return undefined;
    const { spec, state, info } = schedule;
    const intervals = spec.intervals ?? [];
    const everyMs = intervals.length === 1 ? intervals[0]?.every : undefined;
    return {
      options: optionsIn(schedule),
      paused: state.paused,
      skipped: info.numActionsSkippedOverlap,
      ...definedOnly({ everyMs, note: state.note, next: info.nextActionTimes[0] }),
    };
  }

  /** Sweeps under way go on. @returns whether there was one. @throws NoConnectionError */
  async unschedule(): Promise<boolean> {
    return (await this.orNone((handle) => handle.delete().then(() => true))) ?? false;
  }

  /**
   * Starts a sweep at once, whether there is a schedule or not. Where one was started so and still runs, it is that
   * one.
   *
   * @param options what is not named is as the schedule has it
   * @throws InvalidRequestError, NoConnectionError
   */
  async start(options: ReconcileOptions = {}): Promise<{ runId: string; existing: boolean }> {
    const request = checked({ ...(await this.scheduled())?.options, ...options });
    return this.asked(async () => {
      try {
        const run = await this.temporal.workflow.start(reconcileWorkflow, {
          workflowId: reconcileWorkflow,
          taskQueue: this.taskQueue,
          args: [request],
          staticSummary: 'a sweep, at once',
        });
        return { runId: run.firstExecutionRunId, existing: false };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      return { runId: (await this.temporal.workflow.getHandle(reconcileWorkflow).describe()).runId, existing: true };
    });
  }

  /** Waits for the end of the sweep that was started at once. @throws NoConnectionError */
  async ended(runId: string): Promise<SweepRun> {
    return this.asked(async () => {
      // It may have gone on in another run, which has the report.
      const report = await this.temporal.workflow
        .getHandle(reconcileWorkflow, runId)
        .result()
        .then(readReport, reportOf);
      const last = await this.temporal.workflow.getHandle(reconcileWorkflow).describe();
      return described(last, report);
    });
  }

  /**
   * The sweep that runs, or else the one that has ended last. Visibility may lag by a moment. @throws NoConnectionError
   */
  async latest(): Promise<SweepRun | undefined> {
    return this.asked(async () => {
      const query = `WorkflowType = '${reconcileWorkflow}' AND ExecutionStatus != 'ContinuedAsNew'`;
      for await (const run of this.temporal.workflow.list({ query, pageSize: 1 })) {
        if (run.closeTime === undefined) return described(run, undefined);
        const handle = this.temporal.workflow.getHandle(run.workflowId, run.runId);
        return described(run, await handle.result().then(readReport, reportOf));
      }
      return undefined;
    });
  }

  private orNone<T>(work: (handle: ReturnType<Client['schedule']['getHandle']>) => Promise<T>): Promise<T | undefined> {
    return this.asked(async () => {
      try {
        return await work(this.temporal.schedule.getHandle(reconcileWorkflow));
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return undefined;
        throw error;
      }
    });
  }

  private asked<T>(call: () => Promise<T>): Promise<T> {
    return withTemporalErrors(this.temporal, call);
  }
}

function described(
  { workflowId, runId, status, startTime, closeTime }: Omit<WorkflowExecutionInfo, 'raw'>,
  report: SweepReport | undefined,
): SweepRun {
  return { workflowId, runId, status: status.name, startTime, ...definedOnly({ closeTime, report }) };
}

/** @throws InvalidRequestError */
function checked(options: ReconcileOptions) {
  const read = check(reconcileSchema(), options);
  if (read.ok) return read.value;
  throw new InvalidRequestError(read.problems);
}

/** Somebody may have changed it in Temporal. */
function optionsIn({ action }: ScheduleDescription): ReconcileOptions {
  const [first] = (action.args ?? []) as readonly unknown[];
  const read = check(reconcileSchema(), first ?? {});
  return read.ok ? read.value : {};
}

function readReport(result: unknown): SweepReport | undefined {
  const read = sweepReportSchema().safeParse(result);
  return read.success ? read.data : undefined;
}

function onlyFailed(error: unknown): void {
  if (!(error instanceof WorkflowFailedError)) throw error;
}

/** Undefined where it was ended from outside, or refused its request. */
function reportOf(error: unknown): SweepReport | undefined {
  onlyFailed(error);
  const { cause } = error as WorkflowFailedError;
  return cause instanceof ApplicationFailure && cause.type === couldNotLook
    ? readReport(cause.details?.[0])
    : undefined;
}
