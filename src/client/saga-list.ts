/** Sagas as Temporal's visibility shows them: without a worker, and without reading a history. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { readWorkflowId, searchAttributeNames, workflowNames, type WorkflowName } from '../domain/identity';
import { isOutcome, sagaOutcomes } from '../domain/outcomes';
import { waitKinds, type SagaState } from '../domain/progress';
import { InvalidRequestError, SearchAttributesMissingError } from './errors';
import { withTemporalErrors } from './temporal-errors';
import { grpcCodeOf, grpcCodes, grpcDetailsOf } from '../temporal/grpc';
import { is, isStep, misunderstood, quoted } from '../temporal/list-filter';
import { readAttributes } from './search-attributes';

/**
 * The state, or the outcome of a saga that has ended. `lost`: ended from outside (terminated, timed out), or broken;
 * see SagaLostError. `paused`: the run, or a call of it, is paused in Temporal.
 */
export type ListedState = SagaState | 'paused' | 'lost';

export const listedStates = [
  'running',
  'held',
  'queued',
  'settling',
  ...waitKinds,
  'undoing',
  'paused',
  ...sagaOutcomes,
  'lost',
] as const satisfies ListedState[];

export interface SagaRow {
  workflowId: string;
  runId: string;
  reference: string;
  workflow: WorkflowName;
  /** Temporal's word: `RUNNING`, `COMPLETED`, `FAILED`, `CANCELLED`, `TERMINATED`, `TIMED_OUT`. */
  status: string;
  state: ListedState;
  /** The step that waits. */
  step: string | undefined;
  waitingSince: Date | undefined;
  startTime: Date;
  closeTime: Date | undefined;
  account: string | undefined;
}

export interface SagaFilter {
  /** `waiting`: any kind of wait for a person. `failed`, `cancelled`: with any outcome. */
  state?: ListedState | 'waiting' | 'failed' | 'cancelled';
  workflow?: WorkflowName;
  /** The object id of a server: sagas that bought it, or change its firewalls. */
  server?: number;
  account?: string;
  /** The step that waits; with `*` at its end, each that begins so. */
  step?: string;
  /** `name=value` of a request's `metadata`. */
  metadata?: string;
  /** A list filter of Temporal's, for all else. */
  where?: string;
  /** Rows at most. */
  limit?: number;
}

/** @returns undefined for a run that is not a saga: its id or its type is not ours */
export function toRow(info: Omit<WorkflowExecutionInfo, 'raw'>): SagaRow | undefined {
  const { workflowId, runId, type, status, startTime, closeTime, typedSearchAttributes } = info;
  const known = readWorkflowId(workflowId);
  if (known?.workflow !== type) return undefined;
  const { state, step, waitingSince, account, isPaused } = readAttributes(typedSearchAttributes);
  return {
    workflowId,
    runId,
    ...known,
    status: status.name,
    state: stateOf(status.name, state, isPaused),
    step,
    waitingSince,
    startTime,
    closeTime,
    account,
  };
}

/**
 * A closed run keeps its last attribute, so its status counts; a running one without the attribute never had a problem.
 */
function stateOf(
  status: WorkflowExecutionInfo['status']['name'],
  state: SagaState | undefined,
  isPaused: boolean,
): ListedState {
  switch (status) {
    case 'RUNNING':
      return isPaused ? 'paused' : (state ?? 'running');
    case 'PAUSED':
      return 'paused';
    case 'COMPLETED':
      return state === 'partly' ? state : 'done';
    case 'FAILED':
    case 'CANCELLED':
      return isOutcome(state) ? state : 'lost';
    default:
      return 'lost';
  }
}

const { state: stateAttribute } = searchAttributeNames;

/** A saga that undoes and has never waited has written no state: it counts as running. */
function queryFor({ state, workflow, server, account, step, metadata, where }: SagaFilter): string {
  return [
    `WorkflowType IN (${quoted(workflow === undefined ? workflowNames : [workflow])})`,
    ...(state === undefined ? [] : [condition(state)]),
    ...(server === undefined ? [] : [`${searchAttributeNames.servers} = '${server}'`]),
    ...(account === undefined ? [] : [is('account', account)]),
    ...(step === undefined ? [] : [isStep(step)]),
    ...(metadata === undefined ? [] : [is('metadata', metadata)]),
    ...(where === undefined ? [] : [`(${where})`]),
  ].join(' AND ');
}

function condition(state: NonNullable<SagaFilter['state']>): string {
  const running = `ExecutionStatus = 'Running'`;
  const ended = `ExecutionStatus IN ('Completed', 'Failed', 'Canceled')`;
  const withoutOutcome = `(${stateAttribute} IS NULL OR ${stateAttribute} NOT IN (${quoted(sagaOutcomes)}))`;
  switch (state) {
    case 'done':
      return `(${ended} AND ${stateAttribute} = 'done' OR ExecutionStatus = 'Completed' AND ${stateAttribute} IS NULL)`;
    case 'partly':
    case 'reversed':
    case 'reversed-with-leftovers':
    case 'untouched':
      return `${ended} AND ${stateAttribute} = '${state}'`;
    case 'failed':
      return `ExecutionStatus = 'Failed'`;
    case 'cancelled':
      return `ExecutionStatus = 'Canceled'`;
    case 'lost':
      return `(ExecutionStatus IN ('Terminated', 'TimedOut') OR ExecutionStatus IN ('Failed', 'Canceled') AND ${withoutOutcome})`;
    case 'paused':
      return `CloseTime IS NULL AND TemporalPauseInfo IS NOT NULL`;
    case 'running':
      return `${running} AND (${stateAttribute} IS NULL OR ${stateAttribute} = 'running')`;
    case 'waiting':
      return `${running} AND ${stateAttribute} IN (${quoted(waitKinds)})`;
    default:
      return `${running} AND ${stateAttribute} = '${state}'`;
  }
}

/** Looks at this many rows together: their ids stand in one query. */
const batchSize = 100;

/** In the order of visibility, the newest first: a start or a change may take a moment to show. */
export async function* listRows(temporal: Client, filter: SagaFilter): AsyncGenerator<SagaRow> {
  const { limit = Infinity } = filter;
  if (limit <= 0) return;
  let count = 0;
  for await (const batch of batches(temporal, filter)) {
    const lost = batch.filter(({ state }) => state === 'lost').map(({ workflowId }) => workflowId);
    const latest = await latestRuns(temporal, lost);
    for (const row of batch) {
      // A reset leaves a terminated run behind; the saga goes on in another one.
      if (row.state === 'lost' && (latest.get(row.workflowId) ?? row.runId) !== row.runId) continue;
      yield row;
      count += 1;
      if (count >= limit) return;
    }
  }
}

async function* batches(temporal: Client, filter: SagaFilter): AsyncGenerator<SagaRow[]> {
  const { limit = Infinity } = filter;
  const size = Math.min(limit, batchSize);
  const listing = temporal.workflow
    .list({ query: queryFor(filter), ...(limit < batchSize ? { pageSize: limit } : {}) })
    [Symbol.asyncIterator]();
  let batch: SagaRow[] = [];
  for (;;) {
    const next = await withTemporalErrors(temporal, () => listing.next()).catch((error: unknown) => {
      const why = filter.where === undefined ? undefined : misunderstood(error);
      if (why !== undefined) throw new InvalidRequestError([{ field: 'where', message: why }]);
      if (!lacksSearchAttributes(error)) throw error;
      throw new SearchAttributesMissingError(temporal.options.namespace);
    });
    const row = next.done ? undefined : toRow(next.value);
    if (row) batch.push(row);
    if (batch.length >= size || (next.done && batch.length > 0)) {
      yield batch;
      batch = [];
    }
    if (next.done) return;
  }
}

/**
 * The last run of each saga, as visibility has it: the open one, or the one that was closed last. One query for all of
 * them; as in {@link latestOf}, a run that was refused before it did anything says nothing about the saga.
 *
 * @param workflowIds a hundred at most: they stand in the query
 */
async function latestRuns(temporal: Client, workflowIds: readonly string[]): Promise<Map<string, string>> {
  const latest = new Map<string, string>();
  if (workflowIds.length === 0) return latest;
  const ids = quoted([...new Set(workflowIds)]);
  const query = `WorkflowId IN (${ids}) AND (${stateAttribute} IS NULL OR ${stateAttribute} != 'untouched')`;
  const closedMs = new Map<string, number>();
  await withTemporalErrors(temporal, async () => {
    for await (const run of temporal.workflow.list({ query })) {
      const row = toRow(run);
      if (row === undefined) continue;
      const { workflowId, runId, closeTime } = row;
      const ms = closeTime?.getTime() ?? Infinity;
      if (ms < (closedMs.get(workflowId) ?? -Infinity)) continue;
      closedMs.set(workflowId, ms);
      latest.set(workflowId, runId);
    }
  });
  return latest;
}

/**
 * The last run of a saga. A run that was refused before it did anything, or is of another type, says nothing about the
 * saga: then it is the last run before that one, if visibility still has it.
 *
 * @throws UnknownReferenceError, NoConnectionError
 */
export async function latestOf(temporal: Client, workflowId: string): Promise<SagaRow | undefined> {
  const latest = toRow(await withTemporalErrors(temporal, () => temporal.workflow.getHandle(workflowId).describe()));
  if (latest !== undefined && latest.state !== 'untouched') return latest;
  const query = `WorkflowId = '${workflowId}' AND (${stateAttribute} IS NULL OR ${stateAttribute} != 'untouched')`;
  return withTemporalErrors(temporal, async () => {
    for await (const run of temporal.workflow.list({ query, pageSize: 10 })) {
      const row = toRow(run);
      if (row !== undefined) return row;
    }
    return undefined;
  });
}

/** Whether Temporal refused a start or a query because the namespace does not know our search attributes. */
export function lacksSearchAttributes(error: unknown): boolean {
  if (grpcCodeOf(error) !== grpcCodes.invalidArgument) return false;
  const details = grpcDetailsOf(error);
  return Object.values(searchAttributeNames).some((name) => details.includes(name));
}
