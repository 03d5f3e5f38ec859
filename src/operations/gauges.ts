/**
 * Gauges that need a question to Temporal: how many sagas wait for a person and since when, how many tasks wait for a
 * worker and, together with the journal, how many sagas are lost. Every worker
 * reports the same values: take the maximum, not the sum.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { defaultPayloadConverter, type MetricMeter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { WorkerConfig } from '../config';
import type { Hold } from '../domain/hold';
import { searchAttributeNames, workflowNames } from '../domain/identity';
import { metrics } from '../domain/metrics';
import { notifyWorkflow } from '../domain/notifications';
import { waitKinds, type SagaState } from '../domain/progress';
import { reconcileWorkflow } from '../domain/reconcile';
import type { JournalHealth } from '../journal/health';
import type { OpenServer } from '../journal/servers';
import { grpcCodeOf, grpcCodes } from '../temporal/grpc';
import { quoted } from '../temporal/list-filter';
import { timeWithFewBefore } from '../temporal/oldest';
import type { Log } from './logging';
import type { LostSagas } from './lost-sagas';
import { beginAtZero } from './metrics';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;
const taskTypes = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY };

/** Soon enough for an alert; a hundred workers ask some sixty small questions a second. */
const everyMs = 30_000;

/**
 * Up to so many waiting sagas are read one by one. Where more wait, Temporal counts them, and the oldest is searched
 * for.
 */
const pageSize = 200;

const dayMs = 24 * 60 * 60 * 1000;

/** A receiver that restarts is back before. */
const lateMs = 10 * 60 * 1000;

const { state, waitingSince } = searchAttributeNames;

/** Temporal's own search attribute: set while an activity is paused, and on newer servers while a run is. */
const pausedQuery = `CloseTime IS NULL AND TemporalPauseInfo IS NOT NULL AND WorkflowType IN (${workflowNames
  .map((name) => `'${name}'`)
  .join(', ')})`;

type Since = typeof waitingSince | 'StartTime';

interface Row {
  state: string | undefined;
  since: Partial<Record<Since, number>>;
}

interface Page {
  rows: Row[];
  more: boolean;
}

/** What they show beside Temporal's own counts. */
interface GaugeSources {
  lost: Pick<LostSagas, 'look'>;
  openServers: () => Promise<readonly Pick<OpenServer, 'saga'>[]>;
  holding: () => Promise<Hold | undefined>;
  /** Sagas whose version has no workers. */
  unserved: () => Promise<number>;
  journal: () => Promise<JournalHealth>;
}

export class Gauges {
  private readonly stopping = new AbortController();

  constructor(
    private readonly connection: Pick<NativeConnection, 'workflowService'>,
    private readonly config: Pick<WorkerConfig, 'namespace' | 'taskQueue'> & { routes: readonly string[] },
    private readonly meter: MetricMeter,
    private readonly log: Pick<Log, 'warn'>,
    private readonly sources: GaugeSources,
  ) {}

  start(): void {
    beginAtZero(this.meter, this.config.routes);
    void this.run();
  }

  stop(): void {
    this.stopping.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      // A gauge keeps its value where Temporal does not answer.
      await this.look().catch((err: unknown) => {
        if (!signal.aborted)
          this.log.warn({ err }, 'the gauges keep their last values: Temporal or the journal does not answer');
      });
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    await this.lookAtJournal();
    const nowMs = Date.now();
    const ageOf = (oldest: number | undefined) => (oldest === undefined ? 0 : Math.max(0, nowMs - oldest) / 1000);
    // Mostly few wait, and one list has them all.
    const all = await this.list(
      `ExecutionStatus = 'Running' AND ${state} IN (${quoted([...waitKinds, 'held', 'queued'])})`,
    );
    for (const kind of waitKinds) {
      const { count, oldest } = await this.inState(kind, waitingSince, all, nowMs);
      this.set(metrics.waiting, count, { kind });
      this.set(metrics.oldestWait, ageOf(oldest), { kind });
    }
    const hold = await this.sources.holding();
    this.set(metrics.hold, hold ? 1 : 0, {});
    this.set(metrics.outageHold, ageOf(hold?.until === undefined ? undefined : Date.parse(hold.since)), {});
    this.set(metrics.oldestHeld, ageOf((await this.inState('held', 'StartTime', all, nowMs)).oldest), {});
    // They have been queued since their start and wait for no person: no search attribute says since when.
    const { count, oldest } = await this.inState('queued', 'StartTime', all, nowMs);
    this.set(metrics.queued, count, {});
    this.set(metrics.oldestQueued, ageOf(oldest), {});
    for (const [taskType, type] of Object.entries(taskTypes)) {
      const { stats } = await this.connection.workflowService.describeTaskQueue({
        namespace: this.config.namespace,
        taskQueue: { name: this.config.taskQueue },
        taskQueueType: type,
        reportStats: true,
      });
      this.set(metrics.backlog, Number(stats?.approximateBacklogCount ?? 0), { taskType });
      this.set(metrics.backlogAge, secondsOf(stats?.approximateBacklogAge), { taskType });
    }
    const lateSince = new Date(nowMs - lateMs).toISOString();
    for (const route of this.config.routes) {
      const query = `ExecutionStatus = 'Running' AND WorkflowType = '${notifyWorkflow}' AND WorkflowId STARTS_WITH '${notifyWorkflow}/${route}/'`;
      this.set(metrics.notificationsLate, await this.count(`${query} AND StartTime < '${lateSince}'`), { route });
    }
    this.set(metrics.unserved, await this.sources.unserved(), {});
    this.set(metrics.paused, await this.count(pausedQuery), {});
    try {
      const { everySeconds, wellSinceMs, endedSinceMs } = await this.sweeps();
      this.set(metrics.sweepEvery, everySeconds, {});
      this.set(metrics.sweepAge, everySeconds === 0 ? 0 : ageOf(wellSinceMs), {});
      this.set(metrics.sweepEndedAge, everySeconds === 0 ? 0 : ageOf(endedSinceMs), {});
    } finally {
      // These come last, because they also ask the journal: if the journal does not answer, the other gauges are
      // already set.
      const open = await this.sources.openServers();
      for (const saga of ['open', 'ended'] as const) {
        this.set(metrics.openServers, open.filter((server) => server.saga === saga).length, { saga });
      }
      for (const [how, lost] of Object.entries(await this.sources.lost.look())) this.set(metrics.lost, lost, { how });
    }
  }

  private async lookAtJournal(): Promise<void> {
    const { reachable, answerSeconds, restored } = await this.sources.journal();
    this.set(metrics.journalReachable, reachable ? 1 : 0, {});
    this.set(metrics.journalAnswer, answerSeconds, {});
    if (reachable) this.set(metrics.journalRestored, restored ? 1 : 0, {});
  }

  /**
   * Since when no sweep has looked at everything: since the last that did, or since the schedule was made. And since
   * when none has looked at all.
   */
  private async sweeps(): Promise<{
    everySeconds: number;
    wellSinceMs: number | undefined;
    endedSinceMs: number | undefined;
  }> {
    const { namespace } = this.config;
    const scheduleId = reconcileWorkflow;
    const found = await this.connection.workflowService
      .describeSchedule({ namespace, scheduleId })
      .catch((error: unknown) => {
        if (grpcCodeOf(error) === grpcCodes.notFound) return undefined;
        throw error;
      });
    if (found === undefined) return { everySeconds: 0, wellSinceMs: undefined, endedSinceMs: undefined };
    const sinceMs = async (which: string) => {
      const query = `WorkflowType = '${reconcileWorkflow}' AND ExecutionStatus = 'Completed'${which}`;
      const { executions } = await this.connection.workflowService.listWorkflowExecutions({
        namespace,
        query,
        pageSize: 1,
      });
      // The newest first.
      const since = executions[0]?.closeTime ?? found.info?.createTime;
      return since ? secondsOf(since) * 1000 : undefined;
    };
    const every = found.schedule?.spec?.interval?.[0]?.interval;
    return {
      // A schedule with other times than ours says nothing: then a day counts.
      everySeconds: secondsOf(every) || dayMs / 1000,
      // Only a sweep that has not looked at all servers has a state.
      wellSinceMs: await sinceMs(` AND ${state} IS NULL`),
      endedSinceMs: await sinceMs(''),
    };
  }

  /** @param all of every state, or the first of them */
  private async inState(
    name: SagaState,
    since: Since,
    all: Page,
    nowMs: number,
  ): Promise<{ count: number; oldest: number | undefined }> {
    const query = `ExecutionStatus = 'Running' AND ${state} = '${name}'`;
    const page = all.more
      ? await this.list(query)
      : { rows: all.rows.filter((row) => row.state === name), more: false };
    if (!page.more) return { count: page.rows.length, oldest: earliest(page, since) };
    return { count: await this.count(query), oldest: await this.searchOldest(query, since, nowMs) };
  }

  private async count(query: string): Promise<number> {
    const { namespace } = this.config;
    return Number((await this.connection.workflowService.countWorkflowExecutions({ namespace, query })).count);
  }

  private async searchOldest(query: string, since: Since, nowMs: number): Promise<number | undefined> {
    const before = (ms: number) => `${query} AND ${since} < '${new Date(ms).toISOString()}'`;
    const to = await timeWithFewBefore((ms) => this.count(before(ms)), { most: pageSize, nowMs });
    return earliest(await this.list(before(to)), since);
  }

  private async list(query: string): Promise<Page> {
    const { executions, nextPageToken } = await this.connection.workflowService.listWorkflowExecutions({
      namespace: this.config.namespace,
      pageSize,
      query,
    });
    const rows = executions.map(({ searchAttributes, startTime }): Row => {
      const read = (name: string) => {
        const payload = searchAttributes?.indexedFields?.[name];
        return payload ? defaultPayloadConverter.fromPayload<string | undefined>(payload) : undefined;
      };
      const waits = read(waitingSince);
      return {
        state: read(state),
        since: {
          ...(startTime ? { StartTime: secondsOf(startTime) * 1000 } : {}),
          ...(typeof waits === 'string' ? { [waitingSince]: Date.parse(waits) } : {}),
        },
      };
    });
    return { rows, more: nextPageToken.length > 0 };
  }

  private set({ name, help }: { name: string; help: string }, value: number, labels: Record<string, string>): void {
    this.meter.createGauge(name, 'float', '', help).set(value, labels);
  }
}

/** @returns the seconds of a duration, or of a time since 1970 */
function secondsOf(proto: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(proto?.seconds ?? 0) + (proto?.nanos ?? 0) / 1e9;
}

function earliest({ rows }: Page, since: Since): number | undefined {
  const known = rows.flatMap((row) => row.since[since] ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}
