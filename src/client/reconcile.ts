/** Sweeps as an operator schedules, starts and reads them: see `src/domain/reconcile.ts`. */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleHandle,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { ignoreErrors } from '../domain/ignore-errors';
import { reconcileSchema, reconcileWorkflow, type ReconcileOptions, type SweepReport } from '../domain/reconcile';
import { check } from '../domain/validation';
import { describeRun, listRuns, reportOf } from '../temporal/service';
import { valueOf } from './checked';
import { InvalidRequestError } from './errors';
import { withTemporalErrors } from './temporal-errors';
import { startUnlessThere } from './workers';

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
  /** The request of its sweeps. */
  options: ReconcileOptions;
  paused: boolean;
  note?: string;
  next?: Date;
}

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
      // Temporal adds the time to the id.
      action: {
        ...({ type: 'startWorkflow', workflowType: reconcileWorkflow } as const),
        ...this.startOf(valueOf(check(reconcileSchema(), options)), 'by the schedule'),
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

  /** Reads the schedule. @returns undefined where there is none. @throws NoConnectionError */
  async scheduled(): Promise<SweepSchedule | undefined> {
    const schedule = await this.orNone((handle) => handle.describe());
    if (schedule === undefined) return undefined;
    const { spec, state, info, action } = schedule;
    const intervals = spec.intervals ?? [];
    const everyMs = intervals.length === 1 ? intervals[0]?.every : undefined;
    // Somebody may have changed it in Temporal.
    const options = check(reconcileSchema(), (action.args as readonly unknown[] | undefined)?.[0] ?? {});
    return {
      options: options.ok ? options.value : {},
      paused: state.paused,
      everyMs,
      note: state.note,
      next: info.nextActionTimes[0],
    };
  }

  /** Ends the schedule; sweeps under way go on. @returns whether there was one. @throws NoConnectionError */
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
    const request = valueOf(check(reconcileSchema(), { ...(await this.scheduled())?.options, ...options }));
    const runId = await startUnlessThere(this.temporal, reconcileWorkflow, this.startOf(request, 'at once'));
    if (runId !== undefined) return { runId, existing: false };
    const there = await this.asked(() => describeRun(this.temporal, reconcileWorkflow));
    return { runId: there.runId, existing: true };
  }

  private startOf(request: ReconcileOptions, how: string) {
    const staticSummary = `a sweep, ${how}`;
    return { workflowId: reconcileWorkflow, taskQueue: this.taskQueue, args: [request], staticSummary };
  }

  /** Waits for its end. @throws NoConnectionError */
  ended(runId: string): Promise<SweepRun> {
    return this.asked(async () => {
      // It may have gone on in another run, which has the report.
      const report = await reportOf(this.temporal, reconcileWorkflow, runId);
      return described(await describeRun(this.temporal, reconcileWorkflow), report);
    });
  }

  /** The sweep that runs, or else the one that has ended last, as visibility has it. @throws NoConnectionError */
  latest(): Promise<SweepRun | undefined> {
    return this.asked(async () => {
      const query = `WorkflowType = '${reconcileWorkflow}' AND ExecutionStatus != 'ContinuedAsNew'`;
      for await (const run of listRuns(this.temporal, query, 1)) {
        return described(run, run.closeTime && (await reportOf(this.temporal, run.workflowId, run.runId)));
      }
      return undefined;
    });
  }

  private orNone<T>(work: (handle: ScheduleHandle) => Promise<T>): Promise<T | undefined> {
    const handle = this.temporal.schedule.getHandle(reconcileWorkflow);
    return this.asked(() => work(handle).catch(ignoreErrors(ScheduleNotFoundError)));
  }

  private asked<T>(call: () => Promise<T>): Promise<T> {
    return withTemporalErrors(this.temporal, call);
  }
}

function described(run: Omit<WorkflowExecutionInfo, 'raw'>, report: SweepReport | undefined): SweepRun {
  const { workflowId, runId, status, startTime, closeTime } = run;
  return { workflowId, runId, status: status.name, startTime, closeTime, report };
}
