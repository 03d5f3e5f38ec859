/**
 * The request that a reference belongs to: the input in the first event of its run. A run that came from a reset
 * carries the same first event.
 */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { SagaFailureName } from '../domain/failures';
import { workflowIdOf, workflowNames, type WorkflowName } from '../domain/identity';
import { beyondLimits } from '../domain/limits';
import { ignoreErrors } from '../domain/ignore-errors';
import type { RequestOf, RequestSchemas } from '../domain/requests';
import { check } from '../domain/validation';
import { differences } from '../domain/differences';
import { ReferenceTakenError } from './errors';
import { toRow } from './saga-list';
import { decode, describeRun, latestEvents, noneIfNotFound } from '../temporal/service';

/**
 * Compares a request with the one that its reference belongs to.
 *
 * @throws ReferenceTakenError when they differ, or the first one cannot be read
 */
export async function requireSameRequest<W extends WorkflowName>(
  temporal: Client,
  workflow: W,
  request: RequestOf[W],
  schemas: RequestSchemas,
): Promise<void> {
  const workflowId = workflowIdOf(workflow, request.reference);
  const first = await readFirstRequest(temporal, workflowId, workflow);
  if (beyondLimits(first).length > 0) throw new ReferenceTakenError(workflowId, [], 'its request exceeds the limits');
  // Another client may have started the run, with `1` where this one sends `"1"`, or with an input that fits no schema.
  const checked = check(schemas[workflow](), first);
  const fields = differences(asJson(checked.ok ? checked.value : first), asJson(request));
  if (fields.length > 0) throw new ReferenceTakenError(workflowId, fields);
}

/** The failures of a saga that has done nothing, and has not taken its reference. */
const failuresOfNothing: readonly string[] = ['InvalidRequest', 'ReferenceTaken'] satisfies SagaFailureName[];

/**
 * Tells whether the last run under this id has ended without taking the reference, so that another one may ask the journal
 * for it: its request was invalid, another request had the reference, it was cancelled before it had it, or it was not
 * a saga at all.
 */
export async function tookNoReference(temporal: Client, workflowId: string): Promise<boolean> {
  const last = await describeRun(temporal, workflowId).catch(ignoreErrors(WorkflowNotFoundError));
  if (last === undefined) return true;
  const { type, closeTime, runId } = last;
  if (closeTime === undefined) return false;
  if (!workflowNames.some((name) => name === type) || toRow(last)?.state === 'untouched') return true;
  const [end] = await latestEvents(temporal, { workflowId, runId }, 1);
  const { failure } = end?.workflowExecutionFailedEventAttributes ?? {};
  return failuresOfNothing.includes(failure?.applicationFailureInfo?.type ?? '');
}

/** @throws ReferenceTakenError where it cannot be read */
async function readFirstRequest(temporal: Client, workflowId: string, workflow: WorkflowName): Promise<unknown> {
  const unreadable = (why: string) => new ReferenceTakenError(workflowId, [], why);
  const asked = { namespace: temporal.options.namespace, execution: { workflowId }, maximumPageSize: 1 };
  const found = await temporal.workflowService.getWorkflowExecutionHistory(asked).catch(noneIfNotFound);
  if (found === undefined) throw unreadable('its history is gone. See the journal: order-saga record');
  const started = found.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started?.workflowType?.name !== workflow) throw unreadable('its run is of another workflow type');
  return decode(temporal, started.input?.payloads?.[0] ?? undefined).catch(() => {
    // The cause may quote what it could not decode.
    throw unreadable('its request cannot be decoded here (is a key missing?)');
  });
}

/** As it is sent: without the fields that are undefined. */
const asJson = (value: unknown = null): unknown => JSON.parse(JSON.stringify(value));
