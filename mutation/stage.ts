/**
 * A rig without a server, put in the place of `test/support/rig.ts`: workflows run in the SDK's own sandbox, activities in its
 * own test environment, against the same provider's sandbox; between them stands this file and nothing else. A saga takes
 * milliseconds here, which is what makes a thousand mutants affordable.
 *
 *   client ── job ──▶ workflow sandbox ── command ──▶ timer, activity, end
 *                          ▲                              │
 *                          └───────────── job ────────────┘
 *
 * A reset gives a new run what the old one was told up to then, and goes on from there. There are no replays and no list of sagas;
 * the tests that need them are named in rooms.ts and jest-environment.js.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowExecutionStatusName,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  CancelledFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  defineSearchAttributeKey,
  ensureApplicationFailure,
  SearchAttributeType,
  TerminatedFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Payload,
  type TypedSearchAttributes,
} from '@temporalio/common';
import {
  decodeTypedSearchAttributes,
  encodeUnifiedSearchAttributes,
} from '@temporalio/common/lib/converter/payload-search-attributes';
import { msToTs, tsToMs } from '@temporalio/common/lib/time';
import { coresdk, type temporal } from '@temporalio/proto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../src/activities/index';
import { rigSettings } from '../test/support/activity-settings';
import { OrderSagaClient } from '../src/client/client';
import { searchAttributeNames } from '../src/domain/identity';
import { ProviderClient } from '../src/provider/client';
import { createSecretResolver } from '../src/security/secret-resolver';
import { Sandbox } from '../sandbox/server';
import type { RigOptions } from '../test/support/rig';

interface ResetRequest {
  workflowExecution: { workflowId: string; runId: string | null };
  /** Event id. */
  workflowTaskFinishEventId: number;
}

type Job = coresdk.workflow_activation.IWorkflowActivationJob;
type Completion = coresdk.workflow_completion.IWorkflowActivationCompletion;
type Command = coresdk.workflow_commands.IWorkflowCommand;
type Event = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;

interface SandboxedWorkflow {
  activate: (activation: coresdk.workflow_activation.WorkflowActivation) => Promise<Completion>;
  dispose: () => Promise<void>;
}

/** Of jest-environment.js. */
declare const orderSagaMutation: {
  raise: (reason: Error) => void;
  createWorkflow: (options: object) => Promise<SandboxedWorkflow>;
};

const stateKey = defineSearchAttributeKey(searchAttributeNames.state, SearchAttributeType.KEYWORD);

const toLong = (id = 0) => id as unknown as NonNullable<Event['eventId']>;

const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const toPayloads = (values: readonly unknown[]) => values.map(toPayload);
const fromPayload = (payload: Payload | null | undefined): unknown =>
  payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
const toError = (failure: Failure | null | undefined) =>
  defaultFailureConverter.failureToError(failure ?? {}, defaultPayloadConverter);

/** What it throws comes as a rejection, as from a server. */
function settled<T>(answer: () => T): Promise<T> {
  return Promise.resolve().then(answer);
}

type Activity = (...args: unknown[]) => Promise<unknown>;

/** Calls are made to fail here. */
const logger = new DefaultLogger('ERROR');

export class Rig {
  readonly temporal = new Stage(this) as unknown as Client;
  readonly sagas = new OrderSagaClient(this.temporal);

  private constructor(
    readonly sandbox: Sandbox,
    private readonly provider: ProviderClient,
    readonly activities: Record<string, Activity>,
  ) {}

  static async start(options: RigOptions = {}): Promise<Rig> {
    const sandbox = await Sandbox.start({ orderResponse: 'ids', anyServer: true, ...options.sandbox });
    const provider = new ProviderClient({
      baseUrl: sandbox.url,
      connectTimeoutMs: 2_000,
      totalTimeoutMs: 10_000,
      pauseMaxMs: 0,
    });
    const activities = createActivities({
      provider,
      secrets: createSecretResolver({ variable: () => undefined, ...options.secrets }),
      settings: { ...rigSettings, ...options.activities },
    });
    return new Rig(sandbox, provider, activities as unknown as Record<string, Activity>);
  }

  async close(): Promise<void> {
    await (this.temporal as unknown as Stage).close();
    await this.provider.close();
    await this.sandbox.close();
  }
}

export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(5);
  }
}

/** As much of the SDK's client as sagas and their tests use. */
class Stage {
  readonly options = {
    namespace: 'stage',
    loadedDataConverter: {
      payloadConverter: defaultPayloadConverter,
      failureConverter: defaultFailureConverter,
      payloadCodecs: [],
    },
  };
  readonly workflow = {
    start: async (type: string, options: WorkflowStartOptions) => {
      const run = await this.startRun(type, options);
      return { ...this.handleOf(() => run), firstExecutionRunId: run.runId };
    },
    getHandle: (workflowId: string, runId?: string) => ({
      workflowId,
      ...this.handleOf(() => this.find(workflowId, runId)),
    }),
    result: (workflowId: string, runId: string) => this.find(workflowId, runId).ended,
    /** Of a query only the workflow ids are read, or what state it asks for. */
    list: ({ query }: { query: string }) => this.list(query),
  };
  readonly workflowService = {
    resetWorkflowExecution: async ({ workflowExecution, workflowTaskFinishEventId }: ResetRequest) => {
      const { workflowId, runId } = workflowExecution;
      return { runId: (await this.reset(this.find(workflowId, runId ?? undefined), workflowTaskFinishEventId)).runId };
    },
  };
  /** The newest first. */
  private readonly runs: Run[] = [];

  constructor(private readonly rig: Rig) {}

  withDeadline<T>(_deadline: number, call: () => Promise<T>): Promise<T> {
    return call();
  }

  withAbortSignal<T>(_signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    return call();
  }

  async close(): Promise<void> {
    for (const run of this.runs) await run.drop();
  }

  private async startRun(type: string, options: WorkflowStartOptions): Promise<Run> {
    const { workflowId } = options;
    const known = this.runs.find((run) => run.workflowId === workflowId);
    if (known?.status === 'RUNNING' && options.workflowIdConflictPolicy === 'USE_EXISTING') return known;
    if (known?.status === 'RUNNING' || (known && options.workflowIdReusePolicy === 'REJECT_DUPLICATE')) {
      throw new WorkflowExecutionAlreadyStartedError('it is there already', workflowId, type);
    }
    const run = new Run(type, workflowId, this.rig);
    this.runs.unshift(run);
    await run.begin(options);
    return run;
  }

  private async reset(from: Run, task: number): Promise<Run> {
    const latest = this.find(from.workflowId);
    const run = new Run(from.type, from.workflowId, this.rig, from.firstRunId);
    this.runs.unshift(run);
    if (latest.status === 'RUNNING') latest.terminate('it was reset');
    await run.goOn(from, task);
    return run;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the client's list is asynchronous
  private async *list(query: string): AsyncGenerator<ReturnType<Run['describe']>> {
    const names = [...query.matchAll(/'([^']*)'/g)].map(([, name]) => name);
    const state = (run: Run) => names.at(-1) === run.searchAttributes.get(stateKey);
    const matches = (run: Run) => (query.includes('State') ? state(run) : names.includes(run.workflowId));
    for (const run of this.runs) if (matches(run)) yield run.describe();
  }

  private find(workflowId: string, runId?: string): Run {
    const run = this.runs.find((one) => one.workflowId === workflowId && (runId ?? one.runId) === one.runId);
    if (!run) throw new WorkflowNotFoundError('there is no such run', workflowId, runId);
    return run;
  }

  private handleOf(find: () => Run) {
    const running = () => {
      const run = find();
      if (run.status === 'RUNNING') return run;
      throw new WorkflowNotFoundError('workflow execution already completed', run.workflowId, run.runId);
    };
    return {
      result: async () => find().ended,
      describe: () => settled(() => find().describe()),
      fetchHistory: () => settled(() => ({ events: find().events })),
      query: async (name: string) => find().query(name),
      signal: async (name: string, ...args: unknown[]) => running().signal(name, args),
      executeUpdate: async (name: string, { args }: { args: unknown[] }) => running().update(name, args),
      cancel: async () => running().cancel(),
      terminate: (reason = '') =>
        settled(() => {
          running().terminate(reason);
        }),
    };
  }
}

interface Task {
  jobs: Job[];
  /** Event id of its completion: a point to reset to. */
  finished: number;
}

/** Neither a query nor an update that its validator refused stands in a history. */
function leavesATrace(jobs: readonly Job[], commands: readonly Command[]): boolean {
  const accepted = commands.some(({ updateResponse }) => updateResponse?.accepted);
  return !jobs.every(({ queryWorkflow, doUpdate }) => queryWorkflow ?? (doUpdate && !accepted));
}

/** Whether nothing is to come of a command any more: of what a reset finds on its way, the rest is. */
function isAnswered(
  { startTimer, scheduleActivity }: Command,
  told: readonly Job[],
  asked: readonly Command[],
): boolean {
  if (scheduleActivity) return told.some(({ resolveActivity }) => resolveActivity?.seq === scheduleActivity.seq);
  if (!startTimer) return true;
  const cancelled = asked.some(({ cancelTimer }) => cancelTimer?.seq === startTimer.seq);
  return cancelled || told.some(({ fireTimer }) => fireTimer?.seq === startTimer.seq);
}

class Run {
  readonly runId: string = randomUUID();
  readonly startTime = new Date();
  readonly firstRunId: string;
  readonly events: Event[] = [];
  readonly ended: Promise<unknown>;
  status: WorkflowExecutionStatusName = 'RUNNING';
  /** What the workflow was told, task by task. */
  private readonly tasks: Task[] = [];
  private readonly memo: Record<string, unknown> = {};
  private readonly attributes: Record<string, Payload> = {};
  private readonly timers = new Map<number, NodeJS.Timeout>();
  private readonly updates = new Map<string, { take: (value: unknown) => void; refuse: (why: Error) => void }>();
  private settle!: { complete: (result: unknown) => void; fail: (cause: Error) => void };
  private workflow!: SandboxedWorkflow;
  /** Activations come one after another. */
  private last: Promise<unknown> = Promise.resolve();

  /** @param firstRunId of a run that comes from a reset */
  constructor(
    readonly type: string,
    readonly workflowId: string,
    private readonly rig: Rig,
    firstRunId?: string,
  ) {
    this.firstRunId = firstRunId ?? this.runId;
    this.ended = new Promise((complete, reject) => {
      this.settle = {
        complete,
        fail: (cause) => {
          reject(new WorkflowFailedError('the workflow failed', cause, 'NON_RETRYABLE_FAILURE'));
        },
      };
    });
    this.ended.catch(() => undefined);
  }

  async begin({ args = [], typedSearchAttributes }: WorkflowStartOptions): Promise<void> {
    const { workflowId, type } = this;
    Object.assign(this.attributes, encodeUnifiedSearchAttributes(undefined, typedSearchAttributes));
    await this.create();
    await this.activate({
      initializeWorkflow: {
        workflowId,
        workflowType: type,
        arguments: toPayloads(args as unknown[]),
        searchAttributes: { indexedFields: { ...this.attributes } },
      },
    });
  }

  /** As after a reset: what the other run was told before that task is told again, and what was on its way then is done here. */
  async goOn({ tasks, events, attributes }: Run, finished: number): Promise<void> {
    const at = tasks.findIndex((task) => task.finished === finished);
    const [task, ...later] = tasks.slice(at);
    if (task === undefined) throw new Error(`no task was finished at ${String(finished)}`);
    Object.assign(this.attributes, attributes);
    this.tasks.push(...tasks.slice(0, at));
    this.events.push(...events.slice(0, finished - 1));
    const again = later.flatMap(({ jobs }) =>
      jobs.filter(({ doUpdate, signalWorkflow }) => doUpdate ?? signalWorkflow),
    );
    const told = [...this.tasks.flatMap(({ jobs }) => jobs), ...task.jobs];
    await this.inTurn(async () => {
      await this.create();
      const asked: Command[] = [];
      for (const { jobs } of this.tasks) asked.push(...(await this.tell(jobs)));
      await this.work([...task.jobs, ...again]);
      for (const command of asked) if (!isAnswered(command, told, asked)) this.obey(command);
    });
  }

  private async create(): Promise<void> {
    const { runId, workflowId, type, firstRunId, rig } = this;
    const activities = Object.keys(rig.activities);
    this.workflow = await orderSagaMutation.createWorkflow({ runId, firstRunId, workflowId, type, activities });
  }

  get searchAttributes(): TypedSearchAttributes {
    return decodeTypedSearchAttributes(this.attributes);
  }

  describe() {
    const { type, workflowId, runId, startTime, status, memo, searchAttributes } = this;
    return {
      type,
      workflowId,
      runId,
      startTime,
      memo,
      typedSearchAttributes: searchAttributes,
      status: { name: status },
    };
  }

  async query(name: string): Promise<unknown> {
    const queryId = randomUUID();
    const commands = await this.activate({ queryWorkflow: { queryId, queryType: name, arguments: [] } });
    const answer = commands.find(({ respondToQuery }) => respondToQuery?.queryId === queryId)?.respondToQuery;
    if (answer?.succeeded) return fromPayload(answer.succeeded.response);
    throw toError(answer?.failed);
  }

  async signal(signalName: string, args: unknown[]): Promise<void> {
    await this.activate({ signalWorkflow: { signalName, input: toPayloads(args) } });
  }

  update(name: string, args: unknown[]): Promise<unknown> {
    const id = randomUUID();
    return new Promise((take, refuse) => {
      this.updates.set(id, { take, refuse });
      this.activate({
        doUpdate: { id, protocolInstanceId: id, name, input: toPayloads(args), runValidator: true },
      }).catch(refuse);
    });
  }

  async cancel(): Promise<void> {
    await this.activate({ cancelWorkflow: { reason: '' } });
  }

  terminate(reason: string): void {
    this.end('TERMINATED');
    this.settle.fail(new TerminatedFailure(reason));
  }

  async drop(): Promise<void> {
    this.end(this.status);
    await this.last;
    await this.workflow.dispose();
  }

  private activate(job: Job): Promise<Command[]> {
    return this.inTurn(() => this.work([job]));
  }

  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const acted = this.last.then(act);
    this.last = acted.catch(() => undefined);
    return acted;
  }

  private async work(jobs: Job[]): Promise<Command[]> {
    const commands = await this.tell(jobs);
    if (leavesATrace(jobs, commands)) {
      this.record({ workflowTaskCompletedEventAttributes: {} });
      this.tasks.push({ jobs, finished: this.events.length });
    }
    for (const command of commands) this.obey(command);
    return commands;
  }

  private async tell(jobs: Job[]): Promise<Command[]> {
    const completion = await this.workflow.activate(
      coresdk.workflow_activation.WorkflowActivation.fromObject({
        runId: this.runId,
        timestamp: msToTs(Date.now()),
        historyLength: this.events.length,
        jobs,
      }),
    );
    // A server would have it tried again and again, and the test would wait until its time is up.
    const failure = completion.failed?.failure?.message;
    if (failure) orderSagaMutation.raise(new Error(`a workflow task failed: ${failure}`));
    return completion.successful?.commands ?? [];
  }

  /** What happens outside of a run that has ended is no news to it. */
  private resume(job: Job): void {
    if (this.status === 'RUNNING') void this.activate(job);
  }

  private obey(command: Command): void {
    const { startTimer, cancelTimer, scheduleActivity, updateResponse, modifyWorkflowProperties } = command;
    if (startTimer) this.startTimer(startTimer);
    if (cancelTimer) clearTimeout(this.timers.get(cancelTimer.seq ?? 0));
    if (scheduleActivity) void this.runActivity(scheduleActivity, command.userMetadata);
    if (updateResponse?.accepted) this.record({ workflowExecutionUpdateAcceptedEventAttributes: {} });
    if (updateResponse) this.answerUpdate(updateResponse);
    for (const [name, payload] of Object.entries(modifyWorkflowProperties?.upsertedMemo?.fields ?? {})) {
      this.memo[name] = fromPayload(payload);
    }
    const { searchAttributes } = command.upsertWorkflowSearchAttributes ?? {};
    if (searchAttributes) {
      Object.assign(this.attributes, searchAttributes.indexedFields);
      this.record({ upsertWorkflowSearchAttributesEventAttributes: { searchAttributes } });
    }
    if (command.completeWorkflowExecution) {
      this.end('COMPLETED');
      this.settle.complete(fromPayload(command.completeWorkflowExecution.result));
    }
    if (command.failWorkflowExecution) {
      this.end('FAILED');
      this.settle.fail(toError(command.failWorkflowExecution.failure));
    }
    if (command.cancelWorkflowExecution) {
      this.end('CANCELLED');
      this.settle.fail(new CancelledFailure('it was cancelled'));
    }
  }

  private end(status: WorkflowExecutionStatusName): void {
    this.status = status;
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private startTimer({ seq, startToFireTimeout }: coresdk.workflow_commands.IStartTimer): void {
    const delayMs = Math.min(tsToMs(startToFireTimeout), 2 ** 31 - 1);
    const fire = () => {
      this.resume({ fireTimer: { seq: seq ?? 0 } });
    };
    this.timers.set(seq ?? 0, setTimeout(fire, delayMs));
  }

  private async runActivity(
    command: coresdk.workflow_commands.IScheduleActivity,
    userMetadata: Command['userMetadata'],
  ): Promise<void> {
    const name = command.activityType ?? '';
    const payloads = command.arguments ?? [];
    const activityId = String(command.seq);
    // A reset copies it, and has it sent again.
    const copied = this.events.find((event) => event.activityTaskScheduledEventAttributes?.activityId === activityId);
    const scheduledEventId =
      copied?.eventId ??
      this.record({
        activityTaskScheduledEventAttributes: {
          activityId,
          activityType: { name },
          input: { payloads },
          workflowTaskCompletedEventId: toLong(this.tasks.at(-1)?.finished),
        },
        ...(userMetadata ? { userMetadata } : {}),
      });
    const { workflowId, runId } = this;
    const environment = new MockActivityEnvironment(
      { attempt: 1, workflowExecution: { workflowId, runId } },
      { client: this.rig.temporal, logger },
    );
    const result: coresdk.activity_result.IActivityResolution = {};
    try {
      const activity = this.rig.activities[name];
      if (!activity) throw new Error(`there is no activity ${name}`);
      const value = toPayload(await environment.run(activity, ...payloads.map(fromPayload)));
      this.record({ activityTaskCompletedEventAttributes: { scheduledEventId, result: { payloads: [value] } } });
      result.completed = { result: value };
    } catch (error) {
      const cause = defaultFailureConverter.errorToFailure(ensureApplicationFailure(error), defaultPayloadConverter);
      this.record({ activityTaskFailedEventAttributes: { scheduledEventId, failure: cause } });
      const activityFailureInfo = { activityType: { name }, activityId };
      result.failed = { failure: { message: 'Activity task failed', cause, activityFailureInfo } };
    }
    this.resume({ resolveActivity: { seq: command.seq ?? 0, result } });
  }

  /** @returns the event's id. A run that has ended learns nothing more. */
  private record(event: Event): NonNullable<Event['eventId']> {
    const eventId = toLong(this.events.length + 1);
    if (this.status === 'RUNNING') this.events.push({ ...event, eventId, eventTime: msToTs(Date.now()) });
    return eventId;
  }

  private answerUpdate(response: coresdk.workflow_commands.IUpdateResponse): void {
    const update = this.updates.get(response.protocolInstanceId ?? '');
    if (response.completed) update?.take(fromPayload(response.completed));
    if (response.rejected) {
      update?.refuse(new WorkflowUpdateFailedError('the update was refused', toError(response.rejected)));
    }
  }
}
