/** Sends again what runs of `notify` have given up: a receiver was away for long, or said that it is gone. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { deliverSignal, noticesSchema, notifyWorkflow, type Notice } from '../domain/notifications';
import { check } from '../domain/validation';
import { DecryptionError } from '../security/payload-codec';
import { asksInVain, decode, listRuns } from '../temporal/service';
import { withTemporalErrors } from './temporal-errors';
import { requireSharedKeys } from './workers';

export interface SentAgain {
  route: string;
  /** The saga's. */
  workflowId: string;
  types: string[];
  /** Why nothing of it is sent: a key is missing here. */
  unreadable?: string;
}

/**
 * All that a saga tells a receiver goes by one id, so that one run orders it, and delivers nothing twice. A question that
 * is answered is not asked again: nothing would end it at the receiver.
 *
 * @param only `saga`: its reference or its workflow id
 * @throws KeysDifferError, SearchAttributesMissingError, NoConnectionError
 */
export function notifyAgain(
  temporal: Client,
  taskQueue: string,
  only: { route?: string | undefined; saga?: string | undefined },
): Promise<SentAgain[]> {
  return withTemporalErrors(temporal, async () => {
    await requireSharedKeys(temporal);
    const failed = new Set<string>();
    const query = `WorkflowType = '${notifyWorkflow}' AND ExecutionStatus = 'Failed'`;
    for await (const { workflowId } of listRuns(temporal, query)) failed.add(workflowId);
    const sent: SentAgain[] = [];
    for (const id of failed) {
      const [, route = '', ...of] = id.split('/');
      const workflowId = of.join('/');
      if ((only.route ?? route) !== route || ![undefined, ...of, workflowId].includes(only.saga)) continue;
      try {
        const notices: Notice[] = [];
        for (const notice of await givenUp(temporal, id))
          if (!(await asksInVain(temporal, notice))) notices.push({ ...notice, again: true });
        if (notices.length === 0) continue;
        await temporal.workflow.signalWithStart(notifyWorkflow, {
          ...{ workflowId: id, taskQueue, signal: deliverSignal, signalArgs: [notices] },
          staticSummary: `tells ${route} of ${workflowId}`,
        });
        sent.push({ route, workflowId, types: notices.map(({ message }) => message.type) });
      } catch (error) {
        if (!(error instanceof DecryptionError)) throw error;
        sent.push({ route, workflowId, types: [], unreadable: error.message });
      }
    }
    return sent;
  });
}

/** @returns in order, without what a later run was given: it has delivered that, or given it up itself, or will */
async function givenUp(temporal: Client, workflowId: string): Promise<Notice[]> {
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of listRuns(temporal, `WorkflowId = '${workflowId}'`)) runs.push(run);
  runs.sort((one, other) => one.startTime.getTime() - other.startTime.getTime());
  const left = new Map<string, Notice>();
  for (const { runId } of runs) {
    const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const {
      workflowExecutionSignaledEventAttributes: signal,
      workflowExecutionFailedEventAttributes: end,
    } of events ?? []) {
      for (const { id } of await read(temporal, signal?.input)) left.delete(id);
      for (const one of await read(temporal, end?.failure?.applicationFailureInfo?.details)) left.set(one.id, one);
    }
  }
  return [...left.values()];
}

async function read(temporal: Client, given: { payloads?: Payload[] | null } | null | undefined): Promise<Notice[]> {
  const said = check(noticesSchema(), await decode(temporal, given?.payloads?.[0]));
  return said.ok ? said.value : [];
}
