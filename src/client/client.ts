/**
 * The typed client that a backend imports: starts sagas, finds them, watches them and decides for them.
 *
 * ```ts
 * const sagas = new OrderSagaClient(new Client({ connection, namespace }));
 * const saga = await sagas.provision({ reference: 'PO-2026-0042', account: 'AB-12345678', items: [ … ] });
 * const { servers } = await saga.result();
 * ```
 *
 * Starting is idempotent: the same reference with the same request gives the saga that there is, running or ended. So a
 * caller that does not know whether its start arrived sends it again.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { WorkflowFailedError, type Client, type WorkflowStartOptions } from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import { checkWorkflow, workflowTaking, type CheckReport } from '../domain/checking';
import {
  accountName,
  attributesGivenMemo,
  defaultTaskQueue,
  workflowIdOf,
  workflowNames,
  type WorkflowName,
} from '../domain/identity';
import { holdWorkflow, type Hold, type HoldWords } from '../domain/hold';
import { ignoreErrors } from '../domain/ignore-errors';
import type { PlanTypes } from '../domain/plan-types';
import { isRepair } from '../domain/reconcile';
import { requestSchemas, type RequestOf, type RequestSchemas } from '../domain/requests';
import { isRecord } from '../domain/values';
import { checkReference, checkRequest } from './checked';
import {
  AmbiguousReferenceError,
  InvalidRequestError,
  NotCheckedError,
  ReferenceTakenError,
  SearchAttributesMissingError,
  UnknownReferenceError,
} from './errors';
import { requireSameRequest, tookNoReference } from './first-request';
import { Sweeps } from './reconcile';
import { summarize } from './summaries';
import { withTemporalErrors } from './temporal-errors';
import { SagaHandle } from './handle';
import { notifyAgain } from './notify-again';
import { readInbox, type Inbox, type InboxOptions } from './inbox';
import { listRows, type SagaFilter, type SagaRow } from './saga-list';
import { declareSender, startUnlessThere } from './workers';
import { webUiAt } from '../domain/web-ui';
import { describeRun, listWaiting, lookAtHold, type WaitingFilter, type WaitingSaga } from '../temporal/service';
import { attributesOf, sagaAttributes } from '../temporal/search-attributes';

export interface OrderSagaClientOptions {
  /** @default 'order-saga' */
  taskQueue?: string;
  /**
   * Values of `plan_type` that the installation's provider offers beyond the document's four, as `planTypes` of its
   * profile has them.
   */
  planTypes?: PlanTypes | undefined;
  /** Temporal's Web UI, for links into it: `http://localhost:8233`. */
  webUiUrl?: string | undefined;
  /** Without keys it sends all the same where workers have keys, or the server is on another machine. @default false */
  allowClear?: boolean;
}

export class OrderSagaClient {
  /** Compares the journal with Temporal and the provider, by a schedule or at once. */
  readonly sweeps: Sweeps;
  private readonly taskQueue: string;
  private readonly schemas: RequestSchemas;

  /** @param temporal where payloads are encrypted: with the same data converter as the worker's */
  constructor(
    readonly temporal: Client,
    private readonly options: OrderSagaClientOptions = {},
  ) {
    this.taskQueue = options.taskQueue ?? defaultTaskQueue;
    declareSender(temporal, { taskQueue: this.taskQueue, allowClear: options.allowClear ?? false });
    this.sweeps = new Sweeps(temporal, this.taskQueue);
    this.schemas = requestSchemas(options.planTypes);
  }

  /** Buys cloud servers and assigns firewalls to them; as {@link start}. */
  provision(request: RequestOf['provisionServers']): Promise<SagaHandle<'provisionServers'>> {
    return this.start('provisionServers', request);
  }

  /** Adds resources to a subscription, or only quotes that; as {@link start}. */
  change(request: RequestOf['changeOrder']): Promise<SagaHandle<'changeOrder'>> {
    return this.start('changeOrder', request);
  }

  /** Moves a subscription to another plan, or only quotes that; as {@link start}. */
  switch(request: RequestOf['switchPlan']): Promise<SagaHandle<'switchPlan'>> {
    return this.start('switchPlan', request);
  }

  /** Changes which firewalls protect a server; as {@link start}. */
  firewalls(request: RequestOf['setFirewalls']): Promise<SagaHandle<'setFirewalls'>> {
    return this.start('setFirewalls', request);
  }

  /**
   * Deletes what a terminated or timed-out provisioning of this reference left in the cart, as the journal has it. Each
   * call starts a new run, unless one is still running.
   *
   * @throws InvalidRequestError, NoConnectionError
   */
  async clean(reference: string): Promise<SagaHandle<'cleanCart'>> {
    const request = checkRequest('cleanCart', { reference }, this.schemas);
    return (await this.startRun('cleanCart', request, againAfterItsEnd)) ?? this.existing('cleanCart', reference);
  }

  /**
   * Starts a saga, or finds the one that the same reference and request started before (then `existing` is true). Two
   * requests are the same when they are equal field by field after parsing; an optional field that is left out is not
   * its default.
   *
   * @param request may come from anywhere: it is checked before anything is started
   * @throws InvalidRequestError with every wrong field; ReferenceTakenError with the fields that differ from the
   * request that the reference belongs to; KeysDifferError, PayloadUnreadableError; NoConnectionError, after which the
   * same call may be repeated
   */
  async start<W extends WorkflowName>(workflow: W, request: unknown): Promise<SagaHandle<W>> {
    const parsed = checkRequest(workflow, request, this.schemas);
    const { reference } = parsed;
    mustNotBeRepair(workflow, reference);
    const workflowId = workflowIdOf(workflow, reference);
    let policies = startOnce;
    for (let again = 1; ; again += 1) {
      const started = await this.startRun(workflow, parsed, policies);
      if (started !== undefined) return started;
      try {
        await withTemporalErrors(this.temporal, () =>
          requireSameRequest(this.temporal, workflow, parsed, this.schemas),
        );
        return await this.existing(workflow, reference);
      } catch (error) {
        if (again >= startsMax) throw error;
        if (error instanceof ReferenceTakenError) {
          if (!(await withTemporalErrors(this.temporal, () => tookNoReference(this.temporal, workflowId)))) throw error;
          policies = overNothing;
        } else if (!(error instanceof UnknownReferenceError)) throw error;
        // Else its run was deleted, or expired, between the two looks: the reference is free for Temporal, and the
        // journal has it.
        await pause((again - 1) * startPauseMs);
      }
    }
  }

  /**
   * Says what a request would meet if its saga began now: what is wrong with it, who would be asked, what it costs, which
   * limits count it, and the same of each alternative. Nothing is bought, and no reference is taken; the saga asks all of it
   * again.
   *
   * @param request may have no `reference`
   * @throws InvalidRequestError where no workflow takes such a request; NotCheckedError where no answer comes in time;
   * KeysDifferError, PayloadUnreadableError, NoConnectionError
   */
  async check(request: unknown, { withinMs = 60_000 }: { withinMs?: number } = {}): Promise<CheckReport> {
    const workflow = isRecord(request) ? workflowTaking(request) : undefined;
    if (workflow === undefined)
      throw new InvalidRequestError([
        { field: '', message: 'is of no workflow: it needs one of items, resources, plan_id, vmObjectId' },
      ]);
    mustNotBeRepair(workflow, (request as { reference?: unknown }).reference);
    const workflowId = `${checkWorkflow}/${randomUUID()}`;
    const { taskQueue } = this;
    const args = [{ workflow, request }];
    const options = { workflowId, taskQueue, args, workflowExecutionTimeout: withinMs };
    const runId = await startUnlessThere(this.temporal, checkWorkflow, options);
    const handle = this.temporal.workflow.getHandle<() => Promise<CheckReport>>(workflowId, runId);
    return withTemporalErrors(this.temporal, () => handle.result()).catch((cause: unknown) => {
      if (!(cause instanceof WorkflowFailedError)) throw cause;
      const isLate = cause.cause instanceof TimeoutFailure;
      const why = isLate
        ? 'no answer came in time: does a worker run, and does the provider answer?'
        : String(cause.cause);
      throw new NotCheckedError(workflowId, why, { cause });
    });
  }

  /**
   * The saga of a reference. References are per workflow: where several workflows use the same one, say which is meant.
   *
   * @throws UnknownReferenceError, AmbiguousReferenceError, InvalidRequestError for an invalid reference,
   * NoConnectionError
   */
  async get<W extends WorkflowName = WorkflowName>(reference: string, workflow?: W): Promise<SagaHandle<W>> {
    if (workflow !== undefined) return this.existing(workflow, checkReference(reference));
    const all = await this.find(reference);
    // A clean-up is about a saga of its reference; a caller that names the reference means that saga.
    const sagas = all.filter((handle) => handle.workflow !== 'cleanCart');
    const meant = sagas.length > 0 ? sagas : all;
    const [found] = meant;
    if (found === undefined) throw new UnknownReferenceError(reference);
    const workflows = meant.map((handle) => handle.workflow);
    if (workflows.length > 1) throw new AmbiguousReferenceError(reference, workflows);
    return found as SagaHandle<W>;
  }

  /** The sagas of a reference: up to one of each workflow. @throws InvalidRequestError, NoConnectionError */
  async find(reference: string): Promise<SagaHandle[]> {
    checkReference(reference);
    const handles = await Promise.all(
      workflowNames.map((workflow) => this.existing(workflow, reference).catch(ignoreErrors(UnknownReferenceError))),
    );
    return handles.filter((handle) => handle !== undefined);
  }

  /**
   * Tells receivers again what they were not told for 30 days, or before they said 410.
   *
   * @throws KeysDifferError, SearchAttributesMissingError, NoConnectionError
   */
  notifyAgain(only: Parameters<typeof notifyAgain>[2] = {}): ReturnType<typeof notifyAgain> {
    return notifyAgain(this.temporal, this.taskQueue, only);
  }

  /**
   * Shows what waits for people, counted by kind, step, account or failure, and the sagas that have waited longest.
   *
   * @throws SearchAttributesMissingError, NoConnectionError
   */
  inbox(options: InboxOptions = {}): Promise<Inbox> {
    return readInbox(this.temporal, options, webUiAt(this.options.webUiUrl, this.temporal.options.namespace));
  }

  /**
   * All sagas that fit the filter, the running ones first, then the newest; page by page as they are iterated over. A
   * change may take a moment to show.
   *
   * @throws SearchAttributesMissingError, NoConnectionError
   */
  list(filter: SagaFilter = {}): AsyncIterable<SagaRow> {
    return listRows(this.temporal, filter);
  }

  /**
   * Holds new sagas of the whole namespace: they wait before their first call, those under way go on. A hold that is
   * on is not changed (then `existing` is true).
   *
   * @throws NoConnectionError
   */
  async hold(words: HoldWords): Promise<{ existing: boolean }> {
    const { taskQueue } = this;
    const start = { workflowId: holdWorkflow, taskQueue, args: [words], memo: { ...words } };
    return { existing: (await startUnlessThere(this.temporal, holdWorkflow, start)) === undefined };
  }

  /** Ends the hold: each held saga begins within five minutes. @returns whether one was on. @throws NoConnectionError */
  async release({ by, note }: HoldWords = {}): Promise<{ was: boolean }> {
    const said = `released${by === undefined ? '' : ` by ${by}`}${note === undefined ? '' : `: ${note}`}`;
    const terminated = await withTemporalErrors(this.temporal, () =>
      this.temporal.workflow.getHandle(holdWorkflow).terminate(said),
    ).catch(ignoreErrors(UnknownReferenceError));
    return { was: terminated !== undefined };
  }

  /** The hold, where one is on. @throws NoConnectionError */
  holding(): Promise<Hold | undefined> {
    return withTemporalErrors(this.temporal, () => lookAtHold(this.temporal));
  }

  /** How many sagas are held. A change may take a moment to show. @throws NoConnectionError */
  async countHeld(): Promise<number> {
    const query = `ExecutionStatus = 'Running' AND ${sagaAttributes.state.name} = 'held'`;
    const counting = withTemporalErrors(this.temporal, () => this.temporal.workflow.count(query));
    return (await counting.catch(ignoreErrors(SearchAttributesMissingError)))?.count ?? 0;
  }

  /**
   * The sagas that wait for a person, the longest waiting first, and how many more do. A change may take a moment to show.
   *
   * @throws InvalidRequestError for a filter that Temporal does not understand; SearchAttributesMissingError,
   * NoConnectionError
   */
  waiting(filter: WaitingFilter = {}, limit = 10_000): Promise<{ sagas: WaitingSaga[]; more: number }> {
    return withTemporalErrors(this.temporal, () => listWaiting(this.temporal, filter, limit));
  }

  /** @throws UnknownReferenceError, also where the run of this id is not a saga */
  private async existing<W extends WorkflowName>(workflow: W, reference: string): Promise<SagaHandle<W>> {
    const workflowId = workflowIdOf(workflow, reference);
    const info = await withTemporalErrors(this.temporal, () => describeRun(this.temporal, workflowId));
    if (info.type !== workflow) throw new UnknownReferenceError(workflowId);
    return new SagaHandle(this.temporal, workflow, reference, info.runId, true);
  }

  /** @returns undefined where one of its id is there, by these policies */
  private async startRun<W extends WorkflowName>(workflow: W, request: RequestOf[W], policies: Policies) {
    const options = {
      workflowId: workflowIdOf(workflow, request.reference),
      taskQueue: this.taskQueue,
      args: [request],
      ...policies,
      staticSummary: summarize(workflow, request, this.options.planTypes),
      priority: fairnessOf(request),
    } as const;
    const attributes = { typedSearchAttributes: attributesOf(request), memo: { [attributesGivenMemo]: true } };
    const runId = await startUnlessThere(this.temporal, workflow, { ...options, ...attributes }).catch(
      (error: unknown) => {
        // No worker has been here yet. The order is accepted anyway: the first worker prepares the namespace, and a
        // saga without search attributes sets them itself.
        if (!(error instanceof SearchAttributesMissingError)) throw error;
        return startUnlessThere(this.temporal, workflow, options);
      },
    );
    return runId === undefined ? undefined : new SagaHandle(this.temporal, workflow, request.reference, runId, false);
  }
}

/**
 * Lets accounts take turns on a server with `matching.enableFairness`: a thousand orders of one do not come before the
 * first of another. Elsewhere the key has no effect. Its length is Temporal's limit.
 */
function fairnessOf({ account }: { reference: string; account?: string }) {
  return account === undefined ? undefined : { fairnessKey: accountName(account).slice(0, 64) };
}

type Policies = Pick<WorkflowStartOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy'>;

/** No number of tries helps against somebody who deletes or replaces the runs as fast as they are started. */
const startsMax = 10;
const startPauseMs = 100;

/** A reference is used once, whatever the outcome of its run. Temporal may forget the run; the journal does not. */
const startOnce: Policies = { workflowIdReusePolicy: 'REJECT_DUPLICATE', workflowIdConflictPolicy: 'FAIL' };

/**
 * After a run that took no reference: otherwise one invalid start would block it for ever. The new run asks the
 * journal.
 */
const overNothing: Policies = { ...startOnce, workflowIdReusePolicy: 'ALLOW_DUPLICATE' };

/** For a workflow that does no harm twice. */
const againAfterItsEnd: Policies = { ...overNothing, workflowIdConflictPolicy: 'USE_EXISTING' };

/** @throws InvalidRequestError */
function mustNotBeRepair(workflow: WorkflowName, reference: unknown): void {
  if (isRepair({ workflow, reference: String(reference) }))
    throw new InvalidRequestError([{ field: 'reference', message: 'is how a sweep names its own changes' }]);
}
