/** Sagas as Temporal's visibility shows them: without a worker, and without reading a history. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { readWorkflowId, type WorkflowName } from '../domain/identity';
import { waysLost, type RunStatus } from '../domain/lost';
import { ignoreErrors } from '../domain/ignore-errors';
import { isOutcome, sagaOutcomes } from '../domain/outcomes';
import { sagaStates, waitKinds, type ListedState, type SagaState } from '../domain/progress';
import {
  describeRun,
  is,
  listRuns,
  queryOf,
  quoted,
  rowsAtOnce,
  runsThatFit,
  whyItStands,
  whyUnreadable,
  type RunFilter,
} from '../temporal/service';
import { sagaAttributes } from '../temporal/search-attributes';
import { UnknownReferenceError } from './errors';
import { named, withTemporalErrors } from './temporal-errors';

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
  /** What of it cannot be read with the keys that are here, or stops it because its worker lacks the key. */
  unreadable: string | undefined;
}

export interface SagaFilter extends RunFilter {
  /** `waiting`: any kind of wait for a person. `failed`, `cancelled`: with any outcome. */
  state?: ListedState | 'waiting' | 'failed' | 'cancelled';
  /** The object id of a server: sagas that bought it, or change its firewalls. */
  server?: number;
  /** `name=value` of a request's `metadata`. */
  metadata?: string;
  /** Rows at most. */
  limit?: number;
}

/** Temporal's own. */
const pauses = defineSearchAttributeKey('TemporalPauseInfo', SearchAttributeType.KEYWORD_LIST);

/** @returns undefined for a run that is not a saga: its id or its type is not ours */
export function toRow(info: Omit<WorkflowExecutionInfo, 'raw'>): SagaRow | undefined {
  const { workflowId, runId, type, status, startTime, closeTime, typedSearchAttributes: attributes } = info;
  const known = readWorkflowId(workflowId);
  if (known?.workflow !== type) return undefined;
  const written = attributes.get(sagaAttributes.state);
  // A saga that never had a problem has written none.
  const state = sagaStates.find((one) => one === written);
  const isPaused = (attributes.get(pauses) ?? []).length > 0;
  return {
    ...{ workflowId, runId, ...known, status: status.name, state: stateOf(status.name, state, isPaused) },
    step: attributes.get(sagaAttributes.step),
    waitingSince: attributes.get(sagaAttributes.waitingSince),
    ...{ startTime, closeTime },
    account: attributes.get(sagaAttributes.account),
    unreadable: whyUnreadable(info),
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
  if (status === 'PAUSED' || (status === 'RUNNING' && isPaused)) return 'paused';
  if (status === 'RUNNING') return state ?? 'running';
  if (status === 'COMPLETED') return state === 'partly' ? state : 'done';
  return (status === 'FAILED' || status === 'CANCELLED') && isOutcome(state) ? state : 'lost';
}

const stateAttribute = sagaAttributes.state.name;

/** The names of those that the namespace does not know yet. */
export async function missingAttributes(temporal: Client): Promise<string[]> {
  const { namespace } = temporal.options;
  const { customAttributes } = await temporal.connection.operatorService.listSearchAttributes({ namespace });
  return Object.values(sagaAttributes).flatMap(({ name }) => (customAttributes[name] === undefined ? [name] : []));
}

/** A saga that undoes and has never waited has written no state: it counts as running. */
function queryFor({ state, server, metadata, ...filter }: SagaFilter): string {
  return queryOf(filter, [
    state && condition(state),
    server === undefined ? undefined : `${sagaAttributes.servers.name} = '${server}'`,
    metadata === undefined ? undefined : is('metadata', metadata),
  ]);
}

function condition(state: NonNullable<SagaFilter['state']>): string {
  const running = `ExecutionStatus = 'Running'`;
  const ended = `ExecutionStatus IN ('Completed', 'Failed', 'Canceled')`;
  const withoutOutcome = `(${stateAttribute} IS NULL OR ${stateAttribute} NOT IN (${quoted(sagaOutcomes)}))`;
  const ofWords: Partial<Record<typeof state, string>> = {
    done: `(${ended} AND ${stateAttribute} = 'done' OR ExecutionStatus = 'Completed' AND ${stateAttribute} IS NULL)`,
    failed: `ExecutionStatus = 'Failed'`,
    cancelled: `ExecutionStatus = 'Canceled'`,
    lost: `(ExecutionStatus IN ('Terminated', 'TimedOut') OR ExecutionStatus IN ('Failed', 'Canceled') AND ${withoutOutcome})`,
    paused: `CloseTime IS NULL AND TemporalPauseInfo IS NOT NULL`,
    running: `${running} AND (${stateAttribute} IS NULL OR ${stateAttribute} = 'running')`,
    waiting: `${running} AND ${stateAttribute} IN (${quoted(waitKinds)})`,
  };
  return ofWords[state] ?? `${isOutcome(state) ? ended : running} AND ${stateAttribute} = '${state}'`;
}

export async function* listRows(temporal: Client, filter: SagaFilter): AsyncGenerator<SagaRow> {
  const { limit = Infinity, where } = filter;
  if (limit <= 0) return;
  let count = 0;
  try {
    for await (const run of runsThatFit(temporal, queryFor(filter), where, Math.min(limit, rowsAtOnce))) {
      const row = toRow(run);
      // A reset leaves a terminated run behind; the saga goes on in another one.
      const last = row?.state === 'lost' ? await latestOf(temporal, row.workflowId) : undefined;
      if (row === undefined || (last && last.runId !== row.runId)) continue;
      yield row;
      count += 1;
      if (count >= limit) return;
    }
  } catch (error) {
    throw named(temporal, error);
  }
}

/** For a list that a person reads: each running one is looked at, and says in `unreadable` what its worker cannot read. */
export async function lookIfTheyGoOn(temporal: Client, rows: readonly SagaRow[]): Promise<void> {
  const running = rows.filter(({ status, unreadable }) => status === 'RUNNING' && unreadable === undefined);
  await Promise.all(
    running.map(async (row) => {
      row.unreadable = await withTemporalErrors(temporal, () => whyItStands(temporal, row.workflowId));
    }),
  );
}

/**
 * The last run of a saga that did anything, if visibility still has it: a run that was refused at once, or is of another
 * type, says nothing about the saga.
 *
 * @throws NoConnectionError
 */
async function latestOf(temporal: Client, workflowId: string): Promise<SagaRow | undefined> {
  return withTemporalErrors(temporal, async () => {
    const latest = toRow(await describeRun(temporal, workflowId));
    if (latest !== undefined && latest.state !== 'untouched') return latest;
    const query = `WorkflowId = '${workflowId}' AND (${stateAttribute} IS NULL OR ${stateAttribute} != 'untouched')`;
    for await (const run of listRuns(temporal, query, 10)) {
      const row = toRow(run);
      if (row !== undefined) return row;
    }
    return undefined;
  }).catch(ignoreErrors(UnknownReferenceError));
}

/**
 * How sagas stand that have no ending in the journal. Visibility is asked once for all of them. It lags, so each saga
 * that it does not show as running is described.
 *
 * @param workflowIds a hundred at most: they stand in the query
 * @throws NoConnectionError
 */
export async function runStatusOf(temporal: Client, workflowIds: readonly string[]): Promise<Map<string, RunStatus>> {
  const standing = new Map<string, RunStatus>();
  if (workflowIds.length === 0) return standing;
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${quoted(workflowIds)})`;
  await withTemporalErrors(temporal, async () => {
    for await (const run of listRuns(temporal, query)) if (toRow(run)) standing.set(run.workflowId, 'open');
  });
  for (const workflowId of workflowIds) {
    if (!standing.has(workflowId)) standing.set(workflowId, await describe(temporal, workflowId));
  }
  return standing;
}

async function describe(temporal: Client, workflowId: string): Promise<RunStatus> {
  const run = await latestOf(temporal, workflowId);
  if (run === undefined) return 'gone';
  if (run.state !== 'lost') return isOutcome(run.state) ? 'ended' : 'open';
  const status = run.status.toLowerCase().replace('_', '-');
  return waysLost.find((way) => way === status) ?? 'failed';
}
