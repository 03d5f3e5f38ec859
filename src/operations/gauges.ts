/**
 * Gauges that need a question to Temporal: how many sagas wait for a person and since when, how many tasks wait for a worker, and,
 * together with the journal, how many sagas are lost. Every worker reports the same values: take the maximum, not the sum.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { defaultPayloadConverter, type MetricMeter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { WorkerConfig } from '../config';
import type { Hold } from '../domain/hold';
import { searchAttributeNames, workflowNames } from '../domain/identity';
import { metrics } from '../domain/metrics';
import { waitKinds, type SagaState } from '../domain/progress';
import type { Log } from './logging';
import type { LostSagas } from './lost-sagas';
import { beginAtZero } from './metrics';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;
const taskTypes = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY };

/** Soon enough for an alert; a hundred workers ask some twenty small questions a second. */
const everyMs = 30_000;

/** Up to so many waiting sagas are read one by one. Where more wait, Temporal counts them, and the oldest is searched for. */
const pageSize = 200;

/** No saga waits longer than this. */
const oldestMs = 400 * 24 * 60 * 60 * 1000;
const closeMs = 1_000;

const { state, waitingSince } = searchAttributeNames;

/** Temporal's own search attribute: set while an activity is paused, and on newer servers while a run is. */
const pausedQuery = `CloseTime IS NULL AND TemporalPauseInfo IS NOT NULL AND WorkflowType IN (${workflowNames
  .map((name) => `'${name}'`)
  .join(', ')})`;

type Since = typeof waitingSince | 'StartTime';

interface Page {
  sinceMs: number[];
  more: boolean;
}

export class Gauges {
  private readonly stopping = new AbortController();

  constructor(
    private readonly connection: Pick<NativeConnection, 'workflowService'>,
    private readonly config: Pick<WorkerConfig, 'namespace' | 'taskQueue'>,
    private readonly meter: MetricMeter,
    private readonly log: Pick<Log, 'warn'>,
    private readonly lost: Pick<LostSagas, 'look'>,
    private readonly holding: () => Promise<Hold | undefined>,
  ) {}

  start(): void {
    beginAtZero(this.meter);
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
    const nowMs = Date.now();
    const ageOf = (oldest: number | undefined) => (oldest === undefined ? 0 : Math.max(0, nowMs - oldest) / 1000);
    for (const kind of waitKinds) {
      const { count, oldest } = await this.inState(kind, waitingSince, nowMs);
      this.set(metrics.waiting, count, { kind });
      this.set(metrics.oldestWait, ageOf(oldest), { kind });
    }
    const hold = await this.holding();
    this.set(metrics.hold, hold ? 1 : 0, {});
    this.set(metrics.outageHold, ageOf(hold?.detected ? Date.parse(hold.since) : undefined), {});
    // They have been queued since their start and wait for no person: no search attribute says since when.
    const { count, oldest } = await this.inState('queued', 'StartTime', nowMs);
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
    this.set(metrics.paused, await this.count(pausedQuery), {});
    // This comes last, because it also asks the journal: if the journal does not answer, the other gauges are already set.
    for (const [how, lost] of Object.entries(await this.lost.look())) this.set(metrics.lost, lost, { how });
  }

  private async inState(
    name: SagaState,
    since: Since,
    nowMs: number,
  ): Promise<{ count: number; oldest: number | undefined }> {
    const query = `ExecutionStatus = 'Running' AND ${state} = '${name}'`;
    const page = await this.list(query, since);
    if (!page.more) return { count: page.sinceMs.length, oldest: earliest(page) };
    return { count: await this.count(query), oldest: await this.searchOldest(query, since, page, nowMs) };
  }

  private async count(query: string): Promise<number> {
    const { namespace } = this.config;
    return Number((await this.connection.workflowService.countWorkflowExecutions({ namespace, query })).count);
  }

  /** A binary search, because SQL visibility does not sort: until what is older than the middle fits one page. */
  private async searchOldest(query: string, since: Since, first: Page, nowMs: number): Promise<number | undefined> {
    let page = first;
    let [from, to] = [nowMs - oldestMs, earliest(page) ?? nowMs];
    while (page.more && to - from > closeMs) {
      const middle = from + (to - from) / 2;
      const older = await this.list(`${query} AND ${since} < '${new Date(middle).toISOString()}'`, since);
      const found = earliest(older);
      if (found === undefined) from = middle;
      else [page, to] = [older, found];
    }
    return earliest(page);
  }

  private async list(query: string, since: Since): Promise<Page> {
    const { executions, nextPageToken } = await this.connection.workflowService.listWorkflowExecutions({
      namespace: this.config.namespace,
      pageSize,
      query,
    });
    const sinceMs = executions.flatMap(({ searchAttributes, startTime }) => {
      if (since === 'StartTime') return startTime ? [secondsOf(startTime) * 1000] : [];
      const payload = searchAttributes?.indexedFields?.[waitingSince];
      return payload ? [Date.parse(defaultPayloadConverter.fromPayload<string>(payload))] : [];
    });
    return { sinceMs, more: nextPageToken.length > 0 };
  }

  private set({ name, help }: { name: string; help: string }, value: number, labels: Record<string, string>): void {
    this.meter.createGauge(name, 'float', '', help).set(value, labels);
  }
}

/** @returns the seconds of a duration, or of a time since 1970 */
function secondsOf(proto: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(proto?.seconds ?? 0) + (proto?.nanos ?? 0) / 1e9;
}

function earliest({ sinceMs }: Page): number | undefined {
  return sinceMs.length === 0 ? undefined : Math.min(...sinceMs);
}
