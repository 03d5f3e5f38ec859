/** The questions of client, worker and activities to Temporal's service, and the meaning of its answers and errors. */
import {
  isGrpcServiceError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Decided, OneDecision } from '../domain/decide-many';
import { cancelledBySignal, decisionRefused } from '../domain/decisions';
import { definedOnly } from '../domain/defined-only';
import { holdOf, holdWorkflow, type Hold } from '../domain/hold';
import { readWorkflowId, searchAttributeNames, workflowNames, type WorkflowName } from '../domain/identity';
import { noneIf } from '../domain/none-if';
import { waitKinds, type ProgressView, type WaitKind } from '../domain/progress';
import { couldNotLook, sweepReportSchema } from '../domain/reconcile';
import { sagaAttributes } from './search-attributes';

/** The gRPC codes that make a difference here, by their names in the protocol. */
export const grpcCodes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export function grpcCodeOf(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}

/** For `.catch`: nothing where there is none; any other error is thrown on. */
export function noneIfNotFound(error: unknown): undefined {
  if (grpcCodeOf(error) !== grpcCodes.notFound) throw error;
}

/** The message as the server wrote it. A connection of the worker's kind has it in the error's own message. */
export function grpcDetailsOf(error: unknown): string {
  if (isGrpcServiceError(error)) return error.details === '' ? error.message : error.details;
  return error instanceof Error && error.cause !== undefined ? grpcDetailsOf(error.cause) : '';
}

/** A run that is paused in Temporal is open all the same. */
export function isOpen({ status }: Pick<WorkflowExecutionInfo, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/** The last run, open or closed. @returns undefined where Temporal knows of none */
export function describeLastHold(client: Client): Promise<WorkflowExecutionDescription | undefined> {
  return client.workflow.getHandle(holdWorkflow).describe().catch(noneIf(WorkflowNotFoundError));
}

/** @returns undefined where new sagas may begin */
export async function lookAtHold(client: Client): Promise<Hold | undefined> {
  const last = await describeLastHold(client);
  return last && isOpen(last) ? holdOf(last) : undefined;
}

/** @returns undefined where the sweep was ended from outside, or refused its request */
export async function reportOf({ workflow }: Pick<Client, 'workflow'>, workflowId: string, runId: string) {
  const result: unknown = await workflow.result(workflowId, runId).catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    return cause instanceof ApplicationFailure && cause.type === couldNotLook ? cause.details?.[0] : undefined;
  });
  return sweepReportSchema().safeParse(result).data;
}

/** @param names of ours: none has a quote in it */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

type Attribute = 'state' | 'step' | 'account' | 'failure' | 'metadata';

/** @param value of anybody's; undefined or empty: that it has none */
export function is(name: Attribute, value: string | undefined): string {
  const attribute = searchAttributeNames[name];
  return value === undefined || value === '' ? `${attribute} IS NULL` : `${attribute} = ${text(value)}`;
}

/** @param step with `*` at its end: each that begins so */
export function isStep(step: string): string {
  return step.endsWith('*') ? `${searchAttributeNames.step} STARTS_WITH ${text(step.slice(0, -1))}` : is('step', step);
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** Temporal does not understand the filter: why. */
export class WrongFilter extends Error {
  override readonly name = 'WrongFilter';
}

/** The most that a server takes as it is shipped. */
export const rowsAtOnce = 1_000;

/**
 * The runs that fit, in the order of visibility: a start or a change may take a moment to show.
 *
 * @param where the part of the query that a person has written
 * @throws WrongFilter
 */
export async function* runsThatFit(client: Client, query: string, where: string | undefined, pageSize = rowsAtOnce) {
  try {
    yield* client.workflow.list({ query, pageSize });
  } catch (error) {
    if (where === undefined || grpcCodeOf(error) !== grpcCodes.invalidArgument) throw error;
    throw new WrongFilter(`Temporal does not understand it: ${grpcDetailsOf(error).replace(/\.$/, '')}`);
  }
}

export interface WaitingFilter {
  kinds?: readonly WaitKind[] | undefined;
  workflow?: WorkflowName | undefined;
  /** A list filter of Temporal's. */
  where?: string | undefined;
}

export interface WaitingSaga {
  workflowId: string;
  runId: string;
  reference: string;
  workflow: WorkflowName;
  kind: WaitKind;
  step: string;
  /** The id of the question that it asks. */
  question: string;
  waitingSince: Date;
  account?: string;
  /** The name of the last failure; a wait that no failure led to has none. */
  failure?: string;
}

const { state, waitingSince } = searchAttributeNames;

/** @returns a list filter of Temporal's, also for its Web UI */
export function waitingQuery({ kinds = waitKinds, workflow, where }: WaitingFilter): string {
  return [
    `ExecutionStatus = 'Running'`,
    `${state} IN (${quoted(kinds)})`,
    `WorkflowType IN (${quoted(workflow === undefined ? workflowNames : [workflow])})`,
    ...(where === undefined ? [] : [`(${where})`]),
  ].join(' AND ');
}

/**
 * The one reader of who waits: the sagas that have waited longest, in this order, and how many more fit. Visibility is
 * a second late. All are read, because on SQL it does not sort, and the others are not kept.
 *
 * @param onEach gets each one, in no order
 * @throws WrongFilter
 */
export async function listWaiting(
  client: Client,
  filter: WaitingFilter,
  limit: number,
  onEach: (saga: WaitingSaga) => void = () => undefined,
) {
  const { kinds = waitKinds, where } = filter;
  const sagas: WaitingSaga[] = [];
  let count = 0;
  const keepOldest = () => sagas.sort(bySince).splice(limit);
  for await (const run of runsThatFit(client, waitingQuery(filter), where)) {
    const saga = readWaiting(run);
    // Looked at again: a filter with brackets of its own may have opened ours.
    if (!saga || !kinds.includes(saga.kind)) continue;
    count += 1;
    onEach(saga);
    // Sorted rarely.
    if (sagas.push(saga) >= 2 * limit + rowsAtOnce) keepOldest();
  }
  keepOldest();
  return { sagas, more: count - sagas.length };
}

/** @returns undefined for a run that is no saga, or does not wait */
function readWaiting(run: Omit<WorkflowExecutionInfo, 'raw'>): WaitingSaga | undefined {
  const { workflowId, runId, type, typedSearchAttributes: attributes } = run;
  const known = readWorkflowId(workflowId);
  if (!isOpen(run) || known?.workflow !== type) return undefined;
  const kind = waitKinds.find((one) => one === attributes.get(sagaAttributes.state));
  const waitingSince = attributes.get(sagaAttributes.waitingSince);
  const question = attributes.get(sagaAttributes.question);
  const step = attributes.get(sagaAttributes.step);
  if (kind === undefined || waitingSince === undefined || question === undefined || step === undefined)
    return undefined;
  const [account, failure] = [attributes.get(sagaAttributes.account), attributes.get(sagaAttributes.failure)];
  return {
    ...{ workflowId, runId, ...known, kind, step, question, waitingSince },
    ...definedOnly({ account, failure }),
  };
}

function bySince(a: WaitingSaga, b: WaitingSaga): number {
  return a.waitingSince.getTime() - b.waitingSince.getTime() || (a.workflowId < b.workflowId ? -1 : 1);
}

/** The condition of a filter that names since when they have waited. */
export function waitingSinceIs(comparison: '<=' | '>', time: Date): string {
  return `${waitingSince} ${comparison} '${time.toISOString()}'`;
}

/** A worker answers within milliseconds, and one that was killed is replaced within seconds. */
const answerWithinMs = 30_000;

/**
 * @param updateId the same for each try: Temporal answers a second one with what the first one came to, also after the
 * saga's end
 * @throws where Temporal itself cannot answer: the same may be sent again
 */
export async function sendDecision(client: Client, decision: OneDecision, updateId: string): Promise<Decided> {
  const handle = client.workflow.getHandle(decision.saga);
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, async () => {
      if (decision.decision === 'cancel') return cancel(handle, decision.body);
      await handle.executeUpdate(decision.decision, { args: [decision.body], updateId });
      return { outcome: 'taken' };
    });
  } catch (error) {
    const { outcome, why } = whyNotTaken(error);
    return outcome === 'refused' ? { outcome, why } : { outcome };
  }
}

/**
 * Temporal's cancellation names no question. So the signal names the question that somebody has read: the saga
 * takes no decision there any more; where it is at another one, it is left alone.
 */
async function cancel(handle: WorkflowHandle, { by, note, question }: OneDecision['body']): Promise<Decided> {
  await handle.signal(cancelledBySignal, { by, note, question });
  if (question !== undefined) {
    const { waiting } = await handle.query<ProgressView>('progress');
    if (waiting?.id !== question) {
      const { closeTime } = await handle.describe();
      return { outcome: closeTime === undefined ? 'movedOn' : 'gone' };
    }
  }
  await handle.cancel();
  return { outcome: 'taken' };
}

/** Reads the error of an update. @throws it, where it says nothing about the decision */
export function whyNotTaken(error: unknown): { outcome: Exclude<Decided['outcome'], 'taken'>; why: string } {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { outcome: 'unanswered', why: error.message };
  if (error instanceof WorkflowNotFoundError) return { outcome: 'gone', why: error.message };
  if (!(error instanceof WorkflowUpdateFailedError)) throw error;
  const why = error.cause?.message ?? error.message;
  const { type, details } = error.cause instanceof ApplicationFailure ? error.cause : {};
  // It ended in the moment in which it would have taken it.
  if (type === 'AcceptedUpdateCompletedWorkflow') return { outcome: 'gone', why };
  const { movedOn } = (details?.[0] ?? {}) as { movedOn?: boolean };
  return { outcome: type === decisionRefused && movedOn ? 'movedOn' : 'refused', why };
}
