/**
 * From a request to an outcome: what all sagas have in common.
 *
 * ```text
 *   check the request ──wrong──▶ Failed InvalidRequest (no call was made)
 *          │
 *        begin ──┬─ ended ─────────▶ the recorded ending; nothing is sent
 *          ▲     ├─ placed ──────────────────────────────────────────────▶ finish
 *          │     ├─ unknown ───────▶ settle: look, wait, look, ask ──placed──▶ finish
 *          │     │                              └─ not placed: begin again
 *          │     └─ none ───────────────────────────────────────▶ prepare ─▶ pivot ─▶ finish ─▶ write the ending ─▶ Completed
 *          │                                                          │
 *          └── StateChanged, from any call ───────────────────────────┤
 *                                                                     └─ SagaFailed, cancelled
 *   look ── undo what stands ── write the ending ──▶ Failed, details[0] = report; Cancelled, memo.report
 * ```
 *
 * The look is into the journal: what was placed, by whichever run, is not undone.
 *
 * Any other error is a mistake in our code. It fails the workflow task, not the saga: the run stands still, loses
 * nothing, and goes on when a fixed worker comes.
 */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
  type WorkflowInfo,
} from '@temporalio/workflow';
import type { ReferenceState, ReferenceTaken } from '../activities/journal';
import type { SagaFailureName } from '../domain/failures';
import { attributesGivenMemo, type WorkflowName } from '../domain/identity';
import { outcomeOfEnd, type SagaOutcome } from '../domain/outcomes';
import type { ProvisionServersRequest, RequestOf } from '../domain/requests';
import type { Report, ResultOf, SagaResult } from '../domain/results';
import { resourceOf } from '../domain/turns';
import { describeProblems, type Problem } from '../domain/problems';
import { inWords } from '../domain/times';
import { attributesOf } from '../temporal/search-attributes';
import { throwIfCancelled } from './attempts';
import { begin } from './begin';
import { checkRequest, stringField } from './check-request';
import { HumanDecisions } from './people/human-decisions';
import { knowsNothingPlaced, readFinally, reportPlacement } from './final-read';
import { countEnd } from './shown/metrics';
import { Notices, type Ended } from './shown/notices';
import { place, resolvePivot } from './pivot';
import { Progress } from './shown/progress';
import { stuckQuestion } from './people/questions';
import { EndedBefore, ReadAgain, SagaFailed, StateChanged } from './control-flow';
import { Saga } from './saga';
import type { SagaDefinition, DefineSaga, Parts } from './definition';
import { activities, viaLocalActivity, isReset } from './activities';

interface Run {
  readonly saga: Saga;
  readonly isCancelled: () => boolean;
  /** Undefined until the request is known. */
  definition?: Parts;
  isFinished?: boolean;
  /** The look before the end has shown this, and the saga did not go on after it. */
  looked?: { standing: ReferenceState | undefined };
  wentOn?: boolean;
}

export async function runSaga<W extends WorkflowName, P = never>(
  workflow: W,
  input: unknown,
  define: DefineSaga<W, P>,
): Promise<ResultOf[W]> {
  const progress = new Progress(workflow, (stringField(input, 'reference') ?? '').slice(0, 128));
  const notices = new Notices(progress);
  const saga = new Saga(progress, new HumanDecisions(progress, notices), notices);
  const root = CancellationScope.current();
  const run: Run = { saga, isCancelled: () => root.consideredCancelled };
  try {
    const read = await checkRequest(workflow, input);
    const repeats = repeatedBy(workflowInfo());
    if (!read.ok || repeats.length > 0) {
      const problems = [...repeats, ...(read.ok ? [] : read.problems)];
      return await fail(saga, 'InvalidRequest', `the request is wrong: ${describeProblems(problems)}`, problems);
    }
    const { request, planTypes } = read;
    const definition = define(saga, request, planTypes);
    const { cleansUp, pivot, finish } = definition;
    run.definition = definition;
    saga.pivot = pivot;
    const undone = () => definition.describeUndo?.() ?? 'Nothing has to be undone by this run.';
    saga.humanDecisions.describeUndo = () => (saga.isPlaced ? 'What was placed stays, and is paid for.' : undone());
    if (!cleansUp) saga.journal.request = request;
    saga.journal.resource = resourceOf(workflow, request);
    const { account, metadata } = request as Partial<ProvisionServersRequest>;
    notices.about = { account, metadata };
    // The client sets these at the start, for nothing; a run that was started otherwise names itself.
    if (workflowInfo().memo?.[attributesGivenMemo] === undefined) upsertSearchAttributes(attributesOf(request));
    throwIfCancelled();
    const notAfter = 'notAfter' in request ? request.notAfter : undefined;
    saga.onRefusal = 'onRefusal' in request ? request.onRefusal : undefined;
    const returned = await saga.deadline.bound(
      notAfter,
      () => knowsNothingPlaced(saga),
      () => (cleansUp && pivot === undefined ? finish() : untilThrough(run, request, definition)),
    );
    run.isFinished = true;
    progress.isEnding = true;
    // A call in flight is awaited; where it was the last one, the saga does not notice.
    throwIfCancelled();
    const { skipped, leftovers } = progress;
    const through = { stands: true, isFinished: true, skipped, leftovers };
    const result = () => ({ ...returned, outcome: outcomeOfEnd(through) }) as ResultOf[W];
    const { outcome } = result();
    const ending = { ended: 'done' as const, report: reportOf(progress, outcome, 'done'), result: result() };
    await CancellationScope.nonCancellable(() => writeEnding(run, ending));
    // Once more: a person may have left out the writing.
    const last = result();
    await end(saga, last.outcome, 'done');
    return last;
  } catch (thrown) {
    if (thrown instanceof EndedBefore) return await endAsBefore(run, thrown);
    if (!(thrown instanceof SagaFailed) && !isCancellation(thrown)) throw thrown;
    const { ended } = saga.deadline;
    const why = ended && isCancellation(thrown) ? new SagaFailed('DeadlinePassed', ended.why) : thrown;
    try {
      return await CancellationScope.nonCancellable(() => giveUp(run, why));
    } catch (givingUp) {
      if (givingUp instanceof EndedBefore) return await endAsBefore(run, givingUp);
      throw givingUp;
    }
  }
}

/** A saga begins again this often by itself before a person is asked. */
const begunAgainMax = 3;

async function untilThrough<W extends WorkflowName, P>(
  run: Run,
  request: RequestOf[W],
  definition: SagaDefinition<W, P>,
): Promise<SagaResult<W>> {
  const { saga } = run;
  for (let begunAgain = 0; ;) {
    try {
      const found = await begin(saga, request);
      if (found.how === 'taken') return await referenceTaken(saga, found);
      definition.begin?.();
      if (definition.pivot === undefined) return await definition.finish();
      const settled = await resolvePivot(saga, definition.pivot, found);
      if (settled !== 'again')
        return await definition.finish(settled ?? (await place(saga, definition.pivot, definition.prepare)));
    } catch (error) {
      if (error instanceof StateChanged) {
        log.warn('begins again', { why: error.message });
        begunAgain += 1;
        if (begunAgain % begunAgainMax === 0) {
          const { step, failure } = error;
          step.end('stuck', failure.message);
          await saga.humanDecisions.ask(stuckQuestion([{ spec: { step }, failure }]));
        }
      } else if (!(await isPlacedAllTheSame(run, error))) throw error;
      // The journal knows what was done: it is used, or undone in the end.
      saga.journal.mayHaveLeftovers = true;
      saga.journal.mustRenew = false;
    }
  }
}

/** The provider has cancelled it; or nothing more can be waited for. */
const endsWithoutLook: readonly SagaFailureName[] = ['OrderCancelled', 'HistoryFull'];

/** Another run may have placed what this one gives up: then it goes on from there, once. */
async function isPlacedAllTheSame(run: Run, error: unknown): Promise<boolean> {
  const { saga } = run;
  if (!(error instanceof SagaFailed) || endsWithoutLook.includes(error.type)) return false;
  if (!saga.pivot || saga.isPlaced || run.wentOn) return false;
  saga.progress.isEnding = true;
  const standing = await CancellationScope.nonCancellable(() => readFinally(saga, run.definition?.added?.()));
  if (standing === undefined || standing.placement.how === 'none') {
    run.looked = { standing };
    return false;
  }
  run.wentOn = true;
  log.warn('goes on', { why: `placed before, or perhaps: ${error.message}` });
  saga.progress.isEnding = false;
  return true;
}

/** A saga looks this often before its end, where another run begins in between. */
const looksMax = 3;

async function giveUp(run: Run, error: unknown): Promise<never> {
  const { saga } = run;
  const { leftovers } = saga.progress;
  saga.progress.isEnding = true;
  const before = leftovers.length;
  for (let looks = 1; ; looks += 1) {
    saga.journal.readsAgain = saga.pivot !== undefined && looks < looksMax;
    try {
      return await giveUpAsSeen(run, error);
    } catch (thrown) {
      if (!(thrown instanceof ReadAgain)) throw thrown;
      delete run.looked;
      // The next look tells what is left by then.
      leftovers.length = before;
    }
  }
}

async function giveUpAsSeen(run: Run, error: unknown): Promise<never> {
  const { saga, looked, definition = {}, isFinished = false } = run;
  const { progress, pivot } = saga;
  // Whatever a call of the saga has not intended by now it never will: what is undone stays undone.
  const { isReferenceOurs, mayHaveLeftovers } = saga.journal;
  const looks = pivot !== undefined || (definition.undo !== undefined && (isReferenceOurs || mayHaveLeftovers));
  const standing = looks ? (looked ? looked.standing : await readFinally(saga, definition.added?.())) : undefined;
  if (pivot) reportPlacement(saga, pivot, standing);
  await definition.undo?.(standing);
  await definition.reportLeftovers?.(standing);
  // A clean-up undoes nothing.
  const stands = (saga.isPlaced && !saga.isCancelled) || (isFinished && definition.cleansUp === true);
  const outcome = () => {
    if (!saga.journal.isReferenceOurs) return 'untouched';
    const { skipped, leftovers } = progress;
    return outcomeOfEnd({ stands, isFinished, skipped, leftovers });
  };
  const { as, why } = endOf(run, error);
  const report = () => reportOf(progress, outcome(), why);
  const isWritten = await writeEnding(run, { ended: as, report: report() });
  if (!isWritten && pivot && standing?.placement.how === 'none') {
    const unkept = 'a person went on without writing the ending: nothing keeps a later run from placing it';
    progress.addLeftovers({ kind: 'placement-unknown', step: pivot.step().id, why: unkept });
  }
  await end(saga, outcome(), as);
  return throwEnd(as, why, report());
}

/** A person who pressed Cancel while a refused order was being undone gets that; the report says the rest. */
function endOf({ saga, isCancelled }: Run, error: unknown) {
  if (!isCancelled()) {
    if (!(error instanceof SagaFailed)) throw error;
    return { as: error.type, why: error.message };
  }
  const said = saga.humanDecisions.describeCancellation();
  const before = error instanceof SagaFailed ? `; before that, ${error.type}: ${error.message}` : '';
  return { as: 'cancelled' as const, why: said + before };
}

/** An end that the saga knows, and no failure to Temporal's own metrics and logs. */
function throwEnd(as: Exclude<Ended, 'done'>, why: string, report: Report): never {
  if (as === 'cancelled') {
    upsertMemo({ report });
    throw new CancelledFailure(why);
  }
  const category = ApplicationFailureCategory.BENIGN;
  throw ApplicationFailure.create({ type: as, message: why, nonRetryable: true, details: [report], category });
}

/**
 * A run of the reference has ended, and told that: this one tells the same. Nothing is written, nor undone. Temporal
 * takes no cancelled end of a run that nobody has cancelled: that one fails.
 */
async function endAsBefore<W extends WorkflowName>(
  { saga, isCancelled }: Run,
  { past }: EndedBefore,
): Promise<ResultOf[W]> {
  const { progress, notices } = saga;
  const { at, run, isOwn, ending } = past;
  const { report, result } = ending;
  const as = ending.ended === 'cancelled' && !isCancelled() ? 'CancelledBefore' : ending.ended;
  const { outcome } = report;
  log.info('the reference has ended before', { at, run, ended: as });
  progress.adoptReport(report);
  for (const step of progress.steps) if (step.isUnderWay) step.end('skipped', 'the reference has ended');
  const step = saga.step('take-reference', 'Write the request into the journal');
  step.end('done', `ended on ${inWords(at)}, in run ${run}: nothing is done any more`);
  await notices.close(outcome, as, isOwn);
  progress.enter(outcome, true);
  if (as === 'done') return result as ResultOf[W];
  return throwEnd(as, report.why, report);
}

function referenceTaken(saga: Saga, { at, run, fields }: Extract<ReferenceTaken, { how: 'taken' }>): Promise<never> {
  const named = fields.slice(0, 20);
  const message =
    `the reference is taken: it was first seen on ${inWords(at)}, in run ${run}, with another request. ` +
    `It differs in ${named.map((field) => field || 'the request as a whole').join(', ')}`;
  const problems = named.map((field) => ({ field, message: 'differs from the first request' }));
  return fail(saga, 'ReferenceTaken', message, problems);
}

/**
 * A person who skips it leaves the record without an end; what was sent stands in it all the same. If a run has neither
 * taken its reference, nor read in the journal that it belongs to its request, the reference may be another request's:
 * whatever was done under it is not this run's to end.
 *
 * @returns false where a person went on without it
 */
async function writeEnding(run: Run, ending: { ended: Ended; report: Report; result?: unknown }): Promise<boolean> {
  const { saga, definition, isFinished = false } = run;
  if (!saga.journal.isReferenceOurs) return true;
  const { notices } = saga;
  const { resource, readsAgain } = saga.journal;
  const { outcome } = ending.report;
  const step = saga.unlistedStep('write-ending', 'Write the ending into the journal');
  const written = await saga.one({
    step,
    act: async ({ retry }) => {
      const told = notices.withEnd(outcome, ending.ended);
      // Not all may be in order: of what was placed, nor where the clean-up has not come to its end.
      const keepOpen = definition?.cleansUp && (!isFinished || saga.isPlaced) ? true : undefined;
      const asked = { outcome, report: ending, isReset: isReset(), resource, keepOpen, ...told, retry };
      const title = 'write the ending into the journal';
      const isAlone = retry === undefined && !notices.isTelling && !saga.deadline.isLooking;
      const heard = isAlone ? await viaLocalActivity(title, (journal) => journal.writeEnding(asked)) : undefined;
      const written = heard ?? (await activities(title).writeEnding(asked));
      if (written.how === 'ended') {
        step.end('done');
        throw new EndedBefore(written);
      }
      notices.told({ ...told, events: written.how === 'written' && written.isTold ? told.events : [] });
      if (written.how === 'later' && readsAgain) throw new ReadAgain();
    },
  });
  return !written.skipped;
}

async function end({ progress, notices }: Saga, outcome: SagaOutcome, ended: Ended): Promise<void> {
  const counted = ended === 'done' ? outcome : ended;
  log.info('the saga has ended', { outcome: counted, leftovers: progress.leftovers.length });
  await notices.close(outcome, ended);
  countEnd(progress, counted);
  progress.enter(outcome, outcome !== 'done' || ended !== 'done');
}

function reportOf(progress: Progress, outcome: SagaOutcome, why: string): Report {
  const { reference, workflow, steps, leftovers, decisions } = progress.view();
  return { reference, workflow, outcome, why, steps, known: progress.facts, leftovers, decisions };
}

/** Ends a saga that has done nothing yet, and may not know what other runs of its reference did. */
async function fail(saga: Saga, type: SagaFailureName, message: string, problems: Problem[]): Promise<never> {
  const { progress } = saga;
  await end(saga, 'untouched', type);
  return throwEnd(type, message, { ...reportOf(progress, 'untouched', message), problems });
}

/** The next run would find the reference ended, or begun: whoever wants it once more takes another reference. */
function repeatedBy({ cronSchedule, retryPolicy }: WorkflowInfo): Problem[] {
  const message = 'a saga is never repeated by Temporal: start it without';
  const repeats = { cronSchedule, retryPolicy: retryPolicy?.maximumAttempts === 1 ? undefined : retryPolicy };
  return Object.entries(repeats).flatMap(([field, value]) => (value === undefined ? [] : [{ field, message }]));
}
