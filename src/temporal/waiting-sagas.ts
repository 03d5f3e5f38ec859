/**
 * Which sagas wait for a person, as visibility shows them: no saga is asked or described. A change may take a second to
 * show.
 *
 * SQL visibility does not sort. So a page is chosen by reading all rows that fit, of which no more are kept than the
 * page has: those that have waited longest, and of equal times the first by id. Sagas that were decided fit no more, so
 * there are ever fewer rows to read.
 */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Cursor, WaitingSaga } from '../domain/dry-list';
import { definedOnly } from '../domain/defined-only';
import { readWorkflowId, searchAttributeNames, workflowNames } from '../domain/identity';
import type { WaitKind } from '../domain/progress';
import { grpcCodeOf, grpcCodes, grpcDetailsOf } from './grpc';
import { lookAtHold } from './hold';
import { quoted } from './list-filter';
import { sagaAttributes } from './search-attributes';

export interface WaitingFilter {
  kinds: readonly WaitKind[];
  /** A list filter of Temporal's; absent: all of these kinds. */
  where?: string | undefined;
  /** Only sagas that wait since this time or before, as an ISO time. */
  asOf?: string | undefined;
}

export interface WaitingPage {
  sagas: WaitingSaga[];
  /** How many fit behind them. */
  more: number;
}

/** Nothing can be listed: the field of the job's request that says so, and why. */
export class ListRefused extends Error {
  override readonly name = 'ListRefused';

  constructor(
    readonly field: 'where' | 'decision',
    message: string,
  ) {
    super(message);
  }
}

/** The most that a server takes as it is shipped. */
const rowsAtOnce = 1_000;

const names = searchAttributeNames;

/**
 * @throws ListRefused where Temporal does not understand the filter, and where held sagas are asked for while the hold
 * is on
 */
export async function listWaiting(
  client: Client,
  filter: WaitingFilter,
  size: number,
  after?: Cursor,
): Promise<WaitingPage> {
  // Only at the first page: a later one would say of a job that has sent much that it has sent nothing.
  if (after === undefined && filter.kinds.includes('held') && (await lookAtHold(client)) !== undefined)
    throw new ListRefused('decision', 'new sagas are held, so each would be held again: end the hold first');
  return pageOfWaiting(client, filter, size, after);
}

/** Whether or not the hold is on. @throws ListRefused where Temporal does not understand the filter */
export async function pageOfWaiting(
  client: Client,
  filter: WaitingFilter,
  size: number,
  after?: Cursor,
): Promise<WaitingPage> {
  let kept: WaitingSaga[] = [];
  let found = 0;
  for await (const saga of waiting(client, filter, after?.since)) {
    if (after !== undefined && compare(saga, after) <= 0) continue;
    found += 1;
    kept.push(saga);
    // Sorted rarely, and never more than twice a page is kept.
    if (kept.length >= 2 * size + rowsAtOnce) kept = kept.sort(compare).slice(0, size);
  }
  kept = kept.sort(compare).slice(0, size);
  return { sagas: kept, more: found - kept.length };
}

async function* waiting(
  client: Client,
  { kinds, where, asOf }: WaitingFilter,
  from: string | undefined,
): AsyncGenerator<WaitingSaga> {
  const query = [
    `ExecutionStatus = 'Running'`,
    `WorkflowType IN (${quoted(workflowNames)})`,
    `${names.state} IN (${quoted(kinds)})`,
    ...(asOf === undefined ? [] : [`${names.waitingSince} <= '${asOf}'`]),
    ...(from === undefined ? [] : [`${names.waitingSince} >= '${from}'`]),
    ...(where === undefined ? [] : [`(${where})`]),
  ].join(' AND ');
  try {
    for await (const run of client.workflow.list({ query, pageSize: rowsAtOnce })) {
      const saga = readWaiting(run);
      // Looked at again: a filter with brackets of its own may have opened ours.
      if (saga && kinds.includes(saga.kind) && (asOf === undefined || saga.since <= asOf)) yield saga;
    }
  } catch (error) {
    if (where === undefined || grpcCodeOf(error) !== grpcCodes.invalidArgument) throw error;
    throw new ListRefused('where', `Temporal does not understand it: ${grpcDetailsOf(error).replace(/\.$/, '')}`);
  }
}

/** @returns undefined for a run that is no saga, or does not wait */
export function readWaiting(run: Omit<WorkflowExecutionInfo, 'raw'>): WaitingSaga | undefined {
  const { workflowId, type, status, typedSearchAttributes: attributes } = run;
  if (status.name !== 'RUNNING' || readWorkflowId(workflowId)?.workflow !== type) return undefined;
  const since = attributes.get(sagaAttributes.waitingSince);
  const question = attributes.get(sagaAttributes.question);
  const step = attributes.get(sagaAttributes.step);
  if (since === undefined || question === undefined || step === undefined) return undefined;
  return {
    workflowId,
    kind: attributes.get(sagaAttributes.state) as WaitKind,
    step,
    question,
    since: since.toISOString(),
    ...definedOnly({
      account: attributes.get(sagaAttributes.account),
      failure: attributes.get(sagaAttributes.failure),
    }),
  };
}

function compare(a: Cursor, b: Cursor): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  if (a.workflowId === b.workflowId) return 0;
  return a.workflowId < b.workflowId ? -1 : 1;
}
