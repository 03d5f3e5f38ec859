/** One run on the stage: what a server does for it, from its first workflow task to its end. */
import { randomUUID } from 'node:crypto';
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
  ensureApplicationFailure,
  TerminatedFailure,
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

const toLong = (id = 0) => id as unknown as NonNullable<Event['eventId']>;

const toPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const toPayloads = (values: readonly unknown[]) => values.map(toPayload);
const fromPayload = (payload: Payload | null | undefined): unknown =>
  payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
const toError = (failure: Failure | null | undefined) =>
  defaultFailureConverter.failureToError(failure ?? {}, defaultPayloadConverter);

export type Activity = (...args: unknown[]) => Promise<unknown>;

/** What a run is done with. */
export interface Hands {
  temporal: Client;
  activities: Record<string, Activity>;
}

/** Calls are made to fail here. */
const logger = new DefaultLogger('ERROR');

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

export class Run {
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
    private readonly hands: Hands,
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

  async begin({ args = [], typedSearchAttributes, memo = {} }: WorkflowStartOptions): Promise<void> {
    const { workflowId, type } = this;
    Object.assign(this.memo, memo);
    Object.assign(this.attributes, encodeUnifiedSearchAttributes(undefined, typedSearchAttributes));
    const started = {
      workflowType: { name: type },
      input: { payloads: toPayloads(args as unknown[]) },
      searchAttributes: { indexedFields: { ...this.attributes } },
      memo: { fields: Object.fromEntries(Object.entries(memo).map(([name, value]) => [name, toPayload(value)])) },
    };
    this.record({ workflowExecutionStartedEventAttributes: started });
    await this.create();
    await this.activate({
      initializeWorkflow: {
        workflowId,
        workflowType: type,
        arguments: started.input.payloads,
        searchAttributes: started.searchAttributes,
        memo: started.memo,
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
    const { runId, workflowId, type, firstRunId, hands } = this;
    const activities = Object.keys(hands.activities);
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
      { client: this.hands.temporal, logger },
    );
    const result: coresdk.activity_result.IActivityResolution = {};
    try {
      const activity = this.hands.activities[name];
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
