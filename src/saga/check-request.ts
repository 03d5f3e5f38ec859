/**
 * Checks whether a run was started with a request, for this workflow and this workflow id. It may come from the Web UI
 * or another language.
 */
import { ApplicationFailure, CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { z } from 'zod';
import { workflowIdOf, type WorkflowName } from '../domain/identity';
import { documentedPlanTypes, type PlanTypes } from '../domain/plan-types';
import { describeProblems, type Problem } from '../domain/problems';
import { requestSchemas, type RequestOf } from '../domain/requests';
import { isUnsealed } from '../domain/unsealed';
import { check } from '../domain/validation';
import { activities } from './activities';

/** Earlier runs may have done much, so a cancelled run has to know what was asked for as well. */
export async function checkRequest<W extends WorkflowName>(
  workflow: W,
  input: unknown,
): Promise<{ ok: true; request: RequestOf[W]; planTypes: PlanTypes } | { ok: false; problems: Problem[] }> {
  // A setting of the worker: asked of an activity, the answer is in the history, and a changed setting leaves old runs
  // alone. Awaited only where there is something to wait for: each promise costs, see docs/internals/performance.md.
  const planTypes = namesDocumentedPlans(input)
    ? {}
    : await CancellationScope.nonCancellable(() => activities('look up further plan types').supportedPlanTypes());
  const checked = check(requestSchemas(planTypes)[workflow](), input);
  const problems = [
    ...(isUnsealed(input) ? await CancellationScope.nonCancellable(plaintextRefused) : []),
    ...(checked.ok ? wrongWorkflowId(workflow, checked.value.reference) : checked.problems),
  ];
  return checked.ok && problems.length === 0
    ? { ok: true, request: checked.value, planTypes }
    : { ok: false, problems };
}

/** For what is no saga, and calls nothing before it. @throws ApplicationFailure `InvalidRequest` */
export function readRequest<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = check(schema, input);
  if (checked.ok) return checked.value;
  const message = `the request is wrong: ${describeProblems(checked.problems)}`;
  throw ApplicationFailure.nonRetryable(message, 'InvalidRequest');
}

/** A run under another id would stand beside the first one unnoticed, and order again. */
function wrongWorkflowId(workflow: WorkflowName, reference: string): Problem[] {
  const expected = workflowIdOf(workflow, reference);
  const { workflowId } = workflowInfo();
  if (workflowId === expected) return [];
  return [{ field: 'reference', message: `belongs to the workflow id ${expected}, but this run is ${workflowId}` }];
}

/**
 * A request in the clear where requests are encrypted: its sender does not know the keys, and what it holds stands in
 * the history for all to read. A setting allows it; asked of an activity for the same reason as the plan types.
 */
export async function plaintextRefused(): Promise<Problem[]> {
  if (await activities('look up whether requests in the clear are taken').takesClearRequests()) return [];
  const message =
    'the request came unencrypted; start it with the client or through the codec server. ' +
    'A password in it can be read in this history: choose another password';
  return [{ field: '', message }];
}

function namesDocumentedPlans(input: unknown): boolean {
  type Given = { items?: unknown; alternatives?: unknown } | null | undefined;
  const items = (input as Given)?.items;
  const documented = (item: unknown) => {
    const planType = stringField(item, 'plan_type');
    return planType === undefined || (documentedPlanTypes as readonly string[]).includes(planType);
  };
  const plans = Array.isArray(items) ? items.flatMap((item: Given) => [item, item?.alternatives].flat()) : [];
  return plans.every(documented);
}

export function stringField(input: unknown, field: string): string | undefined {
  const value = (input as Record<string, unknown> | null | undefined)?.[field];
  return typeof value === 'string' ? value : undefined;
}
