/** The questions of client, worker and activities to Temporal's service, and the meaning of its answers and errors. */
import {
  Client,
  isGrpcServiceError,
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  WorkflowNotFoundError,
  type Payload,
  type WorkflowExecution,
} from '@temporalio/common';
import { holdOf, holdWorkflow, type Hold } from '../domain/hold';
import { readWorkflowId, workflowNames, type WorkflowName } from '../domain/identity';
import { ignoreErrors } from '../domain/ignore-errors';
import type { Notice } from '../domain/notifications';
import { waitKinds, type WaitKind } from '../domain/progress';
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

/** As the client's own data converter reads it: the last codec first. */
export async function decode({ options }: Client, payload: Payload | undefined): Promise<unknown> {
  const { payloadConverter, payloadCodecs } = options.loadedDataConverter;
  let payloads = payload === undefined ? [] : [payload];
  for (const codec of [...payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  const [open] = payloads;
  return open && payloadConverter.fromPayload(open);
}

/** In the place of a memo's value that cannot be read with the keys that are here: why. */
interface UnreadableMemo {
  unreadable: string;
}

const readers = new WeakMap<Client, Client['workflow']>();

/**
 * For lists and descriptions, which decrypt memos: one that cannot be read here (its key is missing, or anybody has
 * written it) says so, and no more. Nothing else is to be read by it.
 */
function readerOf(client: Client): Client['workflow'] {
  const known = readers.get(client);
  if (known) return known;
  const { connection, options } = client;
  const decodeOne = async (payload: Payload): Promise<Payload> => {
    try {
      return defaultPayloadConverter.toPayload(await decode(client, payload));
    } catch (error) {
      const unreadable = error instanceof Error ? error.message : String(error);
      return defaultPayloadConverter.toPayload({ unreadable } satisfies UnreadableMemo);
    }
  };
  const codec = {
    encode: (payloads: Payload[]) => Promise.resolve(payloads),
    decode: (payloads: Payload[]) => Promise.all(payloads.map(decodeOne)),
  };
  const dataConverter = { payloadCodecs: [codec] };
  const { workflow } = new Client({ connection, namespace: options.namespace, dataConverter });
  readers.set(client, workflow);
  return workflow;
}

/** @throws WorkflowNotFoundError, and what Temporal's client throws */
export function describeRun(client: Client, workflowId: string): Promise<WorkflowExecutionDescription> {
  return readerOf(client).getHandle(workflowId).describe();
}

export function listRuns(client: Client, query: string, pageSize?: number): AsyncIterable<WorkflowExecutionInfo> {
  return readerOf(client).list({ query, pageSize });
}

/** @returns why a part of the memo cannot be read, where one cannot */
export function whyUnreadable({ memo }: { memo?: Record<string, unknown> }): string | undefined {
  const values = Object.values(memo ?? {}) as (Partial<UnreadableMemo> | null)[];
  return values.map((value) => value?.unreadable).find((why) => typeof why === 'string');
}

/** @returns the events of a run, the last one first */
export async function latestEvents(client: Client, execution: WorkflowExecution, maximumPageSize: number) {
  const asked = { namespace: client.options.namespace, execution, maximumPageSize };
  return (await client.workflowService.getWorkflowExecutionHistoryReverse(asked)).history?.events ?? [];
}

/** More than come between two looks of a run's worker. */
const eventsLookedAt = 20;

/** @returns why the worker cannot take up the run's next task (the key of a payload is missing there), where it cannot */
export async function whyItStands(client: Client, workflowId: string): Promise<string | undefined> {
  const { raw, runId } = await describeRun(client, workflowId);
  if ((raw.pendingWorkflowTask?.attempt ?? 0) < 2) return undefined;
  const events = await latestEvents(client, { workflowId, runId }, eventsLookedAt);
  const failed = events.find(({ workflowTaskFailedEventAttributes: task }) => task?.failure);
  const { message, encodedAttributes } = failed?.workflowTaskFailedEventAttributes?.failure ?? {};
  if (!encodedAttributes) return message ?? undefined;
  const said = await decode(client, encodedAttributes).catch((error: unknown) => error);
  return (said as Partial<Error> | undefined)?.message;
}

/** @returns undefined where new sagas may begin */
export async function lookAtHold(client: Client): Promise<Hold | undefined> {
  const last = await describeRun(client, holdWorkflow).catch(ignoreErrors(WorkflowNotFoundError));
  if (!last || !isOpen(last)) return undefined;
  const unreadable = whyUnreadable(last);
  return { ...holdOf(last), ...(unreadable === undefined ? {} : { note: `who and why: ${unreadable}` }) };
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

/** @param value of anybody's; undefined or empty: that it has none */
export function is(name: 'state' | 'step' | 'account' | 'failure' | 'metadata', value: string | undefined): string {
  const attribute = sagaAttributes[name].name;
  return value === undefined || value === '' ? `${attribute} IS NULL` : `${attribute} = ${text(value)}`;
}

/** @param step with `*` at its end: each that begins so */
export function isStep(step: string): string {
  return step.endsWith('*') ? `${sagaAttributes.step.name} STARTS_WITH ${text(step.slice(0, -1))}` : is('step', step);
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** Temporal does not understand the filter: why. */
export class WrongFilter extends Error {}

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
    yield* listRuns(client, query, pageSize);
  } catch (error) {
    if (where === undefined || grpcCodeOf(error) !== grpcCodes.invalidArgument) throw error;
    throw new WrongFilter(`Temporal does not understand it: ${grpcDetailsOf(error).replace(/\.$/, '')}`);
  }
}

/** What each list of sagas may be narrowed by. */
export interface RunFilter {
  workflow?: WorkflowName;
  account?: string;
  /** The step that waits; with `*` at its end, each that begins so. */
  step?: string;
  /** A list filter of Temporal's, for all else. */
  where?: string;
}

/** @param more conditions; those that are undefined do not count. @returns a list filter of Temporal's */
export function queryOf({ workflow, account, step, where }: RunFilter, more: readonly (string | undefined)[]): string {
  const conditions = [
    `WorkflowType IN (${quoted(workflow === undefined ? workflowNames : [workflow])})`,
    ...more,
    account === undefined ? undefined : is('account', account),
    step === undefined ? undefined : isStep(step),
    where === undefined ? undefined : `(${where})`,
  ];
  return conditions.filter((one) => one !== undefined).join(' AND ');
}

export interface WaitingFilter extends RunFilter {
  kinds?: readonly WaitKind[];
  /** Only what has waited since then, or longer. */
  since?: Date;
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

/** @returns a list filter of Temporal's, also for its Web UI */
export function waitingQuery({ kinds = waitKinds, since, ...filter }: WaitingFilter): string {
  const longer = since && `${sagaAttributes.waitingSince.name} <= '${since.toISOString()}'`;
  return queryOf(filter, [`ExecutionStatus = 'Running'`, `${sagaAttributes.state.name} IN (${quoted(kinds)})`, longer]);
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
  return { workflowId, runId, ...known, kind, step, question, waitingSince, account, failure };
}

/** True for a question that its saga does not ask any more: nothing might end it at a receiver. */
export async function asksInVain(client: Client, { message: { type, data } }: Notice): Promise<boolean> {
  if (!['saga.waiting', 'saga.reminder'].includes(type)) return false;
  // Described, because lists are late.
  const run = await describeRun(client, data.workflowId).catch(ignoreErrors(WorkflowNotFoundError));
  return (run && readWaiting(run))?.question !== data.question;
}

function bySince(a: WaitingSaga, b: WaitingSaga): number {
  return a.waitingSince.getTime() - b.waitingSince.getTime() || (a.workflowId < b.workflowId ? -1 : 1);
}

/** As the SDK's `cancel`, which knows no reason. @throws WorkflowNotFoundError */
export async function requestCancel(client: Client, workflowId: string, reason = ''): Promise<void> {
  const { namespace, identity } = client.options;
  const asked = { namespace, identity, requestId: crypto.randomUUID(), workflowExecution: { workflowId }, reason };
  try {
    await client.workflowService.requestCancelWorkflowExecution(asked);
  } catch (error) {
    if (grpcCodeOf(error) !== grpcCodes.notFound) throw error;
    throw new WorkflowNotFoundError(grpcDetailsOf(error), workflowId, undefined);
  }
}
