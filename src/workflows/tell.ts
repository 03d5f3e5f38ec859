/**
 * From a request to an outcome: what all stories have in common.
 *
 * ```text
 *   check the request ──wrong──▶ Failed InvalidRequest (no call was made)
 *          │
 *        story ──returns────────────────────────▶ Completed, result
 *          ├──SagaFailed──▶ undo ────────────────▶ Failed, details[0] = report
 *          └──cancelled───▶ undo ────────────────▶ Cancelled, memo.report
 * ```
 *
 * Any other error is a mistake in our code. It fails the workflow task, not the saga: the run stands still, loses nothing,
 * and goes on when a mended worker comes.
 */
import { ApplicationFailure, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  patched,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { searchAttributeNames, workflowIdOf, type WorkflowName } from '../domain/identity';
import { beyondLimits } from '../domain/limits';
import { documentedPlanTypes, requestSchemas, type RequestOf } from '../domain/requests';
import type { Report, ResultOf } from '../domain/results';
import { check, describeProblems, type Problem } from '../domain/validation';
import { throwIfCancelled } from './attempts';
import { cameInClear } from './clear-input';
import { Desk } from './desk';
import { lookAtEarlierRuns, tellOfEarlierRuns } from './earlier-runs';
import { countEnd, type Outcome } from './metrics';
import { Progress } from './progress';
import { Saga, SagaFailed } from './saga';
import { once } from './temperaments';

export async function tell<W extends WorkflowName>(
  workflow: W,
  input: unknown,
  story: (saga: Saga, request: RequestOf[W]) => Promise<ResultOf[W]>,
): Promise<ResultOf[W]> {
  const progress = new Progress(workflow, (stringField(input, 'reference') ?? '').slice(0, 128));
  const saga = new Saga(progress, new Desk(progress));
  const cancelled = () => root.consideredCancelled;
  const root = CancellationScope.current();
  try {
    const request = await readRequest(workflow, input, progress);
    nameForSearch(request);
    throwIfCancelled();
    const result = await story(saga, request);
    // A call in flight is awaited; where it was the last one, the story does not notice.
    throwIfCancelled();
    progress.enter('done');
    ended(progress, 'done');
    return result;
  } catch (error) {
    if (!(error instanceof SagaFailed) && !isCancellation(error)) throw error;
    return await CancellationScope.nonCancellable(() => giveUp(saga, error, cancelled));
  }
}

async function giveUp(saga: Saga, error: unknown, cancelled: () => boolean): Promise<never> {
  const { progress } = saga;
  const earlier = await lookAtEarlierRuns(saga);
  if (saga.undoable.length > 0) progress.enter('undoing');
  await saga.undoAll();
  if (earlier) tellOfEarlierRuns(saga, earlier);
  // Whoever pressed Cancel while a refused order was being undone gets what they pressed; the report says the rest.
  if (cancelled()) {
    progress.enter('cancelled');
    const why = error instanceof SagaFailed ? `cancelled; before that, ${error.type}: ${error.message}` : 'cancelled';
    upsertMemo({ report: reportOf(progress, why) });
    ended(progress, 'cancelled');
    throw new CancelledFailure(why);
  }
  progress.enter('failed');
  if (!(error instanceof SagaFailed)) throw error;
  ended(progress, error.type);
  throw ApplicationFailure.nonRetryable(error.message, error.type, reportOf(progress, error.message));
}

function ended(progress: Progress, outcome: Outcome): void {
  log.info('the saga has ended', { outcome, leftovers: progress.leftovers.length });
  countEnd(progress, outcome);
}

function reportOf(progress: Progress, why: string): Report {
  const { reference, workflow, state, steps, leftovers, ignored, decisions } = progress.view();
  return { reference, workflow, state, why, steps, known: progress.known, leftovers, ignored, decisions };
}

/** @throws ApplicationFailure `InvalidRequest`, with every field that is wrong; nothing was done yet */
async function readRequest<W extends WorkflowName>(
  workflow: W,
  input: unknown,
  progress: Progress,
): Promise<RequestOf[W]> {
  // Awaited only where there is something to wait for: each promise costs, see docs/performance.md. `patched`, because a run
  // that began before its worker had keys was never asked.
  const checked =
    beyond(input) ?? check(requestSchemas(namesDocumentedPlans(input) ? [] : await planTypesMore())[workflow](), input);
  const problems = [
    ...(cameInClear(input) && patched('refuse-clear-requests') ? await readable() : []),
    ...(checked.ok ? misnamed(workflow, checked.value.reference) : checked.problems),
  ];
  if (checked.ok && problems.length === 0) return checked.value;
  progress.state = 'failed';
  ended(progress, 'InvalidRequest');
  const message = `the request is wrong: ${describeProblems(problems)}`;
  const report: Report = { ...reportOf(progress, message), problems };
  throw ApplicationFailure.nonRetryable(message, 'InvalidRequest', report);
}

/** `patched`, because a run that began before there were limits goes on. */
function beyond(input: unknown): { ok: false; problems: Problem[] } | undefined {
  const problems = beyondLimits(input);
  return problems.length > 0 && patched('refuse-beyond-limits') ? { ok: false, problems } : undefined;
}

/**
 * One reference, one workflow id: a run under another id would stand beside the first one unnoticed, and order again.
 */
function misnamed(workflow: WorkflowName, reference: string): Problem[] {
  const expected = workflowIdOf(workflow, reference);
  const { workflowId } = workflowInfo();
  if (workflowId === expected) return [];
  return [{ field: 'reference', message: `belongs to the workflow id ${expected}, but this run is ${workflowId}` }];
}

/**
 * A request in the clear where requests are encrypted: whoever sent it does not know the keys, and what it holds stands in
 * the history for all to read. A setting allows it; asked of an activity for the same reason as the plan types.
 */
async function readable(): Promise<Problem[]> {
  if (await once('look up whether requests in the clear are taken').takesClearRequests()) return [];
  const message =
    'the request came unencrypted; start it with the client or through the codec server. ' +
    'A password in it can be read in this history: delete the run, and choose another password';
  return [{ field: '', message }];
}

/**
 * The plan types beyond the document's four, asked for only when the request names one. They are a setting of the worker:
 * asked of an activity, the answer is in the history, and a changed setting leaves old runs alone.
 */
function planTypesMore(): Promise<string[]> {
  return once('look up further plan types').supportedPlanTypes();
}

function namesDocumentedPlans(input: unknown): boolean {
  const items = (input as { items?: unknown } | null | undefined)?.items;
  const documented = (item: unknown) => {
    const planType = stringField(item, 'plan_type');
    return planType === undefined || (documentedPlanTypes as readonly string[]).includes(planType);
  };
  return !Array.isArray(items) || items.every(documented);
}

const referenceKey = defineSearchAttributeKey(searchAttributeNames.reference, SearchAttributeType.KEYWORD);
const accountKey = defineSearchAttributeKey(searchAttributeNames.account, SearchAttributeType.KEYWORD);
const subscriptionKey = defineSearchAttributeKey(searchAttributeNames.subscription, SearchAttributeType.KEYWORD);

/** The client sets these at the start, for nothing; a run that was started otherwise names itself. */
function nameForSearch(request: { reference: string; account?: string | undefined; subscription_id?: number }): void {
  if (workflowInfo().typedSearchAttributes.get(referenceKey) !== undefined) return;
  upsertSearchAttributes([
    { key: referenceKey, value: request.reference },
    ...(request.account === undefined ? [] : [{ key: accountKey, value: request.account }]),
    ...(request.subscription_id === undefined
      ? []
      : [{ key: subscriptionKey, value: String(request.subscription_id) }]),
  ]);
}

function stringField(input: unknown, field: string): string | undefined {
  const value = (input as Record<string, unknown> | null | undefined)?.[field];
  return typeof value === 'string' ? value : undefined;
}
