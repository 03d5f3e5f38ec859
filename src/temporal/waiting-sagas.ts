/** Which sagas wait for a person, as visibility shows them, a second late. Everybody looks through here. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { definedOnly } from '../domain/defined-only';
import { readWorkflowId, searchAttributeNames, workflowNames, type WorkflowName } from '../domain/identity';
import { waitKinds, type WaitKind } from '../domain/progress';
import { quoted, rowsAtOnce, runsThatFit } from './list-filter';
import { sagaAttributes } from './search-attributes';

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
  /** ISO time. */
  since: string;
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
 * Those that have waited longest, in this order, and how many fit beside them. All are read, because SQL visibility does
 * not sort, and the others are not kept.
 *
 * @param hear gets each one, in no order
 * @throws WrongFilter
 */
export async function listWaiting(
  client: Client,
  filter: WaitingFilter,
  limit: number,
  hear: (saga: WaitingSaga) => void = () => undefined,
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
    hear(saga);
    // Sorted rarely.
    if (sagas.push(saga) >= 2 * limit + rowsAtOnce) keepOldest();
  }
  keepOldest();
  return { sagas, more: count - sagas.length };
}

/** @returns undefined for a run that is no saga, or does not wait */
function readWaiting(run: Omit<WorkflowExecutionInfo, 'raw'>): WaitingSaga | undefined {
  const { workflowId, runId, type, status, typedSearchAttributes: attributes } = run;
  const known = readWorkflowId(workflowId);
  // One that is paused in Temporal waits all the same.
  if (!['RUNNING', 'PAUSED'].includes(status.name) || known?.workflow !== type) return undefined;
  const kind = waitKinds.find((one) => one === attributes.get(sagaAttributes.state));
  const since = attributes.get(sagaAttributes.waitingSince);
  const question = attributes.get(sagaAttributes.question);
  const step = attributes.get(sagaAttributes.step);
  if (kind === undefined || since === undefined || question === undefined || step === undefined) return undefined;
  const [account, failure] = [attributes.get(sagaAttributes.account), attributes.get(sagaAttributes.failure)];
  return {
    ...{ workflowId, runId, ...known, kind, step, question, since: since.toISOString() },
    ...definedOnly({ account, failure }),
  };
}

function bySince(a: WaitingSaga, b: WaitingSaga): number {
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  return a.workflowId < b.workflowId ? -1 : 1;
}

/** The condition of a filter that names since when they have waited. */
export function waitingSinceIs(comparison: '<=' | '>', time: Date): string {
  return `${waitingSince} ${comparison} '${time.toISOString()}'`;
}
