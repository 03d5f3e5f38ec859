/** Gauges that need a question to Temporal or the journal. Every worker reports the same: take the maximum, not the sum. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { WorkerConfig } from '../config';
import { workflowNames } from '../domain/identity';
import { metrics, type Metric } from '../domain/metrics';
import { notifyWorkflow } from '../domain/notifications';
import { waitKinds } from '../domain/progress';
import { reconcileWorkflow } from '../domain/reconcile';
import { healthOf } from '../journal/open';
import { openServers } from '../journal/servers';
import { sagaAttributes } from '../temporal/search-attributes';
import { listRuns, lookAtHold, noneIfNotFound, quoted } from '../temporal/service';
import type { Log } from './logging';
import { LostSagas } from './lost-sagas';
import { beginAtZero } from './metrics';
import type { SagaWorker } from './saga-worker';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;
const taskTypes = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY };

/** Soon enough for an alert; a hundred workers ask some ninety small questions a second. */
const everyMs = 30_000;

const dayMs = 24 * 60 * 60 * 1000;

/** Nothing that is open is older than this: no saga waits longer. */
const openMsMax = 400 * dayMs;

/** Up to so many are read to find the oldest of them; of more, only those before a time that few are older than. */
const readMax = 200;

/** A receiver that restarts is back before. */
const lateMs = 10 * 60 * 1000;

const state = sagaAttributes.state.name;

/** Temporal's own search attribute: set while an activity is paused, and on newer servers while a run is. */
const pausedQuery = `CloseTime IS NULL AND TemporalPauseInfo IS NOT NULL AND WorkflowType IN (${quoted(workflowNames)})`;

type GaugesConfig = Pick<WorkerConfig, 'namespace' | 'taskQueue' | 'version'> & { routes: readonly string[] };

export class Gauges {
  private readonly stopping = new AbortController();
  private readonly lost: LostSagas;

  constructor(
    private readonly config: GaugesConfig,
    private readonly log: Pick<Log, 'warn'>,
    private readonly saga: Pick<SagaWorker, 'temporal' | 'journal' | 'meter'>,
  ) {
    this.lost = new LostSagas(saga.temporal, saga.journal);
  }

  start(): void {
    beginAtZero(this.saga.meter, this.config.routes);
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

  /** One question that is not answered keeps no other from being asked. */
  private async look(): Promise<void> {
    const questions = ['health', 'waits', 'holds', 'backlog', 'runs', 'sweeps', 'openServers', 'lostSagas'] as const;
    const unanswered: unknown[] = [];
    for (const question of questions) await this[question]().catch((error: unknown) => unanswered.push(error));
    if (unanswered.length > 0) throw unanswered[0];
  }

  private async health(): Promise<void> {
    const { reachable, answerSeconds, restored } = await healthOf(this.saga.journal);
    this.set(metrics.journalReachable, reachable ? 1 : 0);
    this.set(metrics.journalAnswer, answerSeconds);
    if (reachable) this.set(metrics.journalRestored, restored ? 1 : 0);
  }

  private async waits(): Promise<void> {
    for (const kind of waitKinds) {
      const { count, oldest } = await this.inState(kind, sagaAttributes.waitingSince.name);
      this.set(metrics.waiting, count, { kind });
      this.set(metrics.oldestWait, ageOf(oldest), { kind });
    }
  }

  private async holds(): Promise<void> {
    const hold = await lookAtHold(this.saga.temporal);
    this.set(metrics.hold, hold ? 1 : 0);
    // They wait since their start, and for no person: no search attribute says since when.
    this.set(metrics.oldestHeld, ageOf((await this.inState('held', 'StartTime')).oldest));
    const queued = await this.inState('queued', 'StartTime');
    this.set(metrics.queued, queued.count);
    this.set(metrics.oldestQueued, ageOf(queued.oldest));
  }

  private async backlog(): Promise<void> {
    for (const [taskType, type] of Object.entries(taskTypes)) {
      const { stats } = await this.saga.temporal.workflowService.describeTaskQueue({
        namespace: this.config.namespace,
        taskQueue: { name: this.config.taskQueue },
        taskQueueType: type,
        reportStats: true,
      });
      this.set(metrics.backlog, Number(stats?.approximateBacklogCount ?? 0), { taskType });
      this.set(metrics.backlogAge, secondsOf(stats?.approximateBacklogAge), { taskType });
    }
  }

  private async runs(): Promise<void> {
    const lateSince = new Date(Date.now() - lateMs).toISOString();
    for (const route of this.config.routes) {
      const query = `ExecutionStatus = 'Running' AND WorkflowType = '${notifyWorkflow}' AND WorkflowId STARTS_WITH '${notifyWorkflow}/${route}/'`;
      this.set(metrics.notificationsLate, await this.count(`${query} AND StartTime < '${lateSince}'`), { route });
    }
    this.set(metrics.unserved, await countUnserved(this.saga.temporal, this.config));
    this.set(metrics.paused, await this.count(pausedQuery));
  }

  private async openServers(): Promise<void> {
    const open = await openServers(this.saga.journal);
    for (const saga of ['open', 'ended'] as const) {
      this.set(metrics.openServers, open.filter((server) => server.saga === saga).length, { saga });
    }
  }

  private async lostSagas(): Promise<void> {
    for (const [how, lost] of Object.entries(await this.lost.look())) this.set(metrics.lost, lost, { how });
  }

  /** Since when no sweep has ended a round of all servers, or none has ended: since the last one, or the schedule's begin. */
  private async sweeps(): Promise<void> {
    const { temporal } = this.saga;
    const asked = { namespace: this.config.namespace, scheduleId: reconcileWorkflow };
    const found = await temporal.workflowService.describeSchedule(asked).catch(noneIfNotFound);
    const sinceMs = async (which: string) => {
      if (found === undefined) return undefined;
      const query = `WorkflowType = '${reconcileWorkflow}' AND ExecutionStatus = 'Completed'${which}`;
      // The newest first.
      for await (const { closeTime } of listRuns(temporal, query, 1)) if (closeTime) return closeTime.getTime();
      return found.info?.createTime ? secondsOf(found.info.createTime) * 1000 : undefined;
    };
    const every = found?.schedule?.spec?.interval?.[0]?.interval;
    // A schedule with other times than ours says nothing: then a day counts.
    this.set(metrics.sweepEvery, found === undefined ? 0 : secondsOf(every) || dayMs / 1000);
    // Only a sweep that has not ended a round has a state.
    this.set(metrics.sweepAge, ageOf(await sinceMs(` AND ${state} IS NULL`)));
    this.set(metrics.sweepEndedAge, ageOf(await sinceMs('')));
  }

  private async inState(name: string, since: string): Promise<{ count: number; oldest: number | undefined }> {
    const nowMs = Date.now();
    const query = `ExecutionStatus = 'Running' AND ${state} = '${name}'`;
    const count = await this.count(query);
    if (count === 0) return { count, oldest: undefined };
    const before = (ms: number) => `${query} AND ${since} < '${new Date(ms).toISOString()}'`;
    // Visibility on SQL does not sort: a time with few before it is found by counting. The number of calls grows with how
    // exact a time can be, not with how many there are; of more than are read in one second, it is that second's end.
    let [from, to] = [nowMs - openMsMax, nowMs];
    for (let few = count; few > readMax && to - from > 1_000;) {
      const middle = from + (to - from) / 2;
      const older = await this.count(before(middle));
      if (older < 1) from = middle;
      else [to, few] = [middle, older];
    }
    const times: number[] = [];
    for await (const { startTime, typedSearchAttributes } of listRuns(this.saga.temporal, before(to), readMax)) {
      const time = since === 'StartTime' ? startTime : typedSearchAttributes.get(sagaAttributes.waitingSince);
      times.push(time?.getTime() ?? nowMs);
      if (times.length === readMax) break;
    }
    return { count, oldest: times.length === 0 ? undefined : Math.min(...times) };
  }

  private async count(query: string): Promise<number> {
    return (await this.saga.temporal.workflow.count(query)).count;
  }

  private set({ name, help }: Metric, value: number, labels: Record<string, string> = {}): void {
    this.saga.meter.createGauge(name, 'float', '', help).set(value, labels);
  }
}

/** In seconds. */
function ageOf(oldestMs: number | undefined): number {
  return oldestMs === undefined ? 0 : Math.max(0, Date.now() - oldestMs) / 1000;
}

/** @returns the seconds of a duration, or of a time since 1970 */
function secondsOf(proto: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(proto?.seconds ?? 0) + (proto?.nanos ?? 0) / 1e9;
}

/**
 * Counts sagas that are pinned to a version that no worker polls for: they stand still until one does, or they are moved.
 * Temporal forgets a poller some minutes after its last poll.
 *
 * @returns 0 where workers have no versions
 */
export async function countUnserved(
  { workflowService }: Pick<Connection, 'workflowService'>,
  { namespace, taskQueue, version }: Pick<WorkerConfig, 'namespace' | 'taskQueue' | 'version'>,
): Promise<number> {
  if (version === undefined) return 0;
  const { deploymentName } = version;
  // Before its first poll there is none.
  const described = await workflowService.describeWorkerDeployment({ namespace, deploymentName }).catch(noneIfNotFound);
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
    reportPollers: true,
  });
  const served = new Set(
    pollers.flatMap(({ deploymentOptions: options }) =>
      options?.deploymentName === deploymentName ? [options.buildId] : [],
    ),
  );
  let unserved = 0;
  for (const { deploymentVersion } of described?.workerDeploymentInfo?.versionSummaries ?? []) {
    const buildId = deploymentVersion?.buildId ?? '';
    if (served.has(buildId)) continue;
    const query =
      `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}' AND TemporalWorkflowVersioningBehavior = 'Pinned' ` +
      `AND TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}'`;
    const { count } = await workflowService.countWorkflowExecutions({ namespace, query });
    unserved += Number(count);
  }
  return unserved;
}
