/** Sends again what runs of `notify` have given up: a receiver was away for long, or said that it is gone. */
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ignoreErrors } from '../domain/ignore-errors';
import { deliverSignal, noticesSchema, notifyWorkflow, type Notice } from '../domain/notifications';
import { check } from '../domain/validation';
import { listRuns, listWaiting } from '../temporal/service';
import { withTemporalErrors } from './temporal-errors';

export interface SentAgain {
  route: string;
  /** The saga's. */
  workflowId: string;
  types: string[];
}

/**
 * One run for each that has failed, of an id of its own, so that nothing is sent again twice. A question that is answered
 * is not asked again: nothing would end it at the receiver.
 *
 * @param only `saga`: its reference or its workflow id
 * @throws PayloadUnreadableError, SearchAttributesMissingError, NoConnectionError
 */
export function notifyAgain(
  temporal: Client,
  taskQueue: string,
  only: { route?: string | undefined; saga?: string | undefined },
): Promise<SentAgain[]> {
  return withTemporalErrors(temporal, async () => {
    const sent: SentAgain[] = [];
    const query = `WorkflowType = '${notifyWorkflow}' AND ExecutionStatus = 'Failed'`;
    for await (const { workflowId: id, runId } of listRuns(temporal, query)) {
      const [, route = '', ...of] = id.split('/');
      const workflowId = of.slice(0, 2).join('/');
      if ((only.route ?? route) !== route || ![undefined, ...of, workflowId].includes(only.saga)) continue;
      const notices = await stillTrue(temporal, workflowId, await givenUp(temporal, id, runId));
      if (notices.length === 0) continue;
      const started = await temporal.workflow
        .signalWithStart(notifyWorkflow, {
          workflowId: `${notifyWorkflow}/${route}/${workflowId}/again/${runId}`,
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          taskQueue,
          signal: deliverSignal,
          signalArgs: [notices],
          staticSummary: `tells ${route} of ${workflowId} again`,
        })
        .catch(ignoreErrors(WorkflowExecutionAlreadyStartedError));
      if (started) sent.push({ route, workflowId, types: notices.map(({ message }) => message.type) });
    }
    return sent;
  });
}

async function givenUp({ workflow }: Client, workflowId: string, runId: string): Promise<Notice[]> {
  const error: unknown = await workflow
    .getHandle(workflowId, runId)
    .result()
    .catch((reason: unknown) => reason);
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  const said = check(noticesSchema(), cause instanceof ApplicationFailure ? cause.details?.[0] : undefined);
  return said.ok ? said.value : [];
}

async function stillTrue(temporal: Client, workflowId: string, notices: readonly Notice[]): Promise<Notice[]> {
  const { sagas } = await listWaiting(temporal, { where: `WorkflowId = '${workflowId}'` }, 1);
  return notices.filter(({ message: { type, data } }) => {
    return !['saga.waiting', 'saga.reminder'].includes(type) || data.question === sagas[0]?.question;
  });
}
