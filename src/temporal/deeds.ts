/** Reads from a history who has started, signalled, cancelled, terminated or reset a run, or decided there. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Deed } from '../domain/deeds';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
type Told = Pick<Deed, 'what'> & Partial<Record<'name' | 'identity' | 'reason', string | null>>;

/** @returns those of the latest run, in their order. @throws what Temporal's client throws */
export async function deedsOf(
  { workflow }: Pick<Client, 'workflow'>,
  workflowId: string,
  runId?: string,
): Promise<Deed[]> {
  const { events } = await workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const told = toldIn(event);
    if (told === undefined) return [];
    const { eventTime, principal } = event;
    const at = new Date(Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();
    const { type, name } = principal ?? {};
    const { what, ...said } = told;
    const filled = Object.entries(said).filter(([, text]) => text);
    // The server names the worker as that of an update.
    const known = type && name && what !== 'decided' ? { principal: { type, name } } : {};
    return [{ at, what, ...(Object.fromEntries(filled) as Partial<Deed>), ...known }];
  });
}

function toldIn(event: Event): Told | undefined {
  const started = event.workflowExecutionStartedEventAttributes;
  if (started) return { what: 'started', identity: started.identity };
  const signalled = event.workflowExecutionSignaledEventAttributes;
  if (signalled) return { what: 'signalled', name: signalled.signalName, identity: signalled.identity };
  const updated = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  if (updated) return { what: 'decided', name: updated.input?.name, identity: updated.meta?.identity };
  const cancelled = event.workflowExecutionCancelRequestedEventAttributes;
  if (cancelled) return { what: 'cancelled', identity: cancelled.identity };
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return { what: 'terminated', identity: terminated.identity, reason: terminated.reason };
  const failed = event.workflowTaskFailedEventAttributes;
  // Only a reset has named the run that it makes.
  if (!failed?.newRunId) return undefined;
  return { what: 'reset', identity: failed.identity, reason: failed.failure?.message };
}
