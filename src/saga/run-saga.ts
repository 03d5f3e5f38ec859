/**
 * From a request to an outcome: what all stories have in common.
 *
 * ```text
 *   check the request ──wrong──▶ Failed InvalidRequest (no call was made)
 *          │
 *   take the reference ──another request has it──▶ Failed ReferenceTaken (no call was made)
 *          │
 *   wait for the turn, where another saga works on the same server or subscription
 *          │
 *        story ──StateChanged─────────────▶ take the reference again, and the story from its beginning
 *          ├──returns──────────────────▶ write the ending ──▶ Completed, result
 *          ├──SagaFailed──▶ look ── undo ──▶ write the ending ──▶ Failed, details[0] = report
 *          └──cancelled───▶ look ── undo ──▶ write the ending ──▶ Cancelled, memo.report
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
} from '@temporalio/workflow';
import type { Standing } from '../activities/journal';
import { definedOnly } from '../domain/defined-only';
import { describeFailure, type SagaFailureName } from '../domain/failures';
import { attributesGivenMemo, type WorkflowName } from '../domain/identity';
import type { Leftover } from '../domain/leftovers';
import { outcomeOfEnd, type SagaOutcome } from '../domain/outcomes';
import type { RecordedEnding } from '../domain/record';
import type { RequestOf } from '../domain/requests';
import type { Report, ResultOf, StoryResult } from '../domain/results';
import { resourceOf } from '../domain/turns';
import { describeProblems, type Problem } from '../domain/problems';
import { attributesOf } from '../temporal/search-attributes';
import { throwIfCancelled } from './attempts';
import { checkRequest, stringField, type CheckedRequest } from './check-request';
import { HumanDecisions } from './human-decisions';
import { HistoryIsFull } from './history-left';
import { knowsNothingPlaced, lookBack, placementOf, type PivotStep } from './look-back';
import { countEnd, type SagaEnd } from './metrics';
import { Notices, type EndSaid } from './notices';
import { inWords, Progress } from './progress';
import { stuckQuestion } from './questions';
import { SagaFailed, StateChanged } from './ends';
import { Saga } from './saga';
import { inPlace } from './activities';
import { waitForTurn } from './turn';

/** What the runner has to know of a story beside the story itself. */
export interface SagaDefinition<W extends WorkflowName = WorkflowName> {
  /** The step that cannot be undone, where there is one. A request that only asks for a quote has none. */
  pivot?: PivotStep;
  /**
   * Runs when everything is undone: what other runs of the reference left, and this one does not know of.
   *
   * @param own what this run has undone, or reported
   */
  cleanUp?: (saga: Saga, standing: Standing, own: readonly Leftover[]) => Promise<unknown>;
  /**
   * Runs when everything is undone, where the saga may have taken its reference: reports what other runs of it have
   * left.
   */
  reportOthers?: (saga: Saga, request: RequestOf[W]) => Promise<unknown>;
  /**
   * Runs last before the report, also where the journal could not be read: says what the saga leaves that no undo knows
   * of.
   *
   * @param standing undefined where there is no pivot, or a person went on without the journal
   * @param checked the request, for a run that never came to its story: an earlier one may have. Undefined where it is
   * none
   */
  reportLeftovers?: (saga: Saga, standing: Standing | undefined, checked: Checked<W> | undefined) => void;
  /**
   * Where it is about another saga's reference, and takes none: what it knows of that saga by now. Of one that goes on,
   * or that it has not looked at, it knows nothing; what is left of another it may not have put in order.
   */
  knowsOfOther?: () => 'nothing' | 'something' | 'all-in-order';
  /** As of when it knows that, by the journal's clock. */
  seenOfOtherMs?: () => number | undefined;
}

type Checked<W extends WorkflowName> = Extract<CheckedRequest<W>, { ok: true }>;

/** What counts for the ending, whatever the story. */
type Knowing = Pick<SagaDefinition, 'pivot' | 'knowsOfOther' | 'seenOfOtherMs'>;

/** What a story gets beside the request. */
export interface StoryContext {
  /** Plan types beyond the document's four, as the setting has them. */
  planTypesMore: readonly string[];
  /** What people corrected of the request, in order: in earlier runs of the reference, and in this one. */
  corrections: unknown[];
}

export async function runSaga<W extends WorkflowName>(
  workflow: W,
  input: unknown,
  story: (saga: Saga, request: RequestOf[W], known: StoryContext) => Promise<StoryResult<W>>,
  ways: SagaDefinition<W> = {},
): Promise<ResultOf[W]> {
  const progress = new Progress(workflow, (stringField(input, 'reference') ?? '').slice(0, 128));
  const notices = new Notices(progress);
  const saga = new Saga(progress, new HumanDecisions(progress, notices), notices);
  const cancelled = () => root.consideredCancelled;
  const root = CancellationScope.current();
  let isThrough = false;
  let checked: Checked<W> | undefined;
  try {
    const read = await checkRequest(workflow, input);
    if (!read.ok) {
      const { problems } = read;
      return await fail(saga, 'InvalidRequest', `the request is wrong: ${describeProblems(problems)}`, problems);
    }
    checked = read;
    saga.journal.request = read.request;
    const { request, planTypesMore } = read;
    notices.account = 'account' in request ? request.account : undefined;
    nameForSearch(request);
    throwIfCancelled();
    const notAfter = 'notAfter' in request ? request.notAfter : undefined;
    saga.onRefusal = 'onRefusal' in request ? request.onRefusal : undefined;
    let begunAgain = false;
    // A run that knows less than the journal wants to send what is not to be sent any more, where another one was in
    // time.
    const mayBePlacedInTime = async (error: unknown) => {
      if (begunAgain || !(error instanceof SagaFailed) || error.type !== 'DeadlinePassed' || !ways.pivot) return false;
      begunAgain = true;
      return (await placementOf(saga)).how !== 'none';
    };
    const returned = await saga.deadline.bound(
      notAfter,
      () => knowsNothingPlaced(saga, pivotOf(saga, ways)),
      async () => {
        const take = () => takeReference(saga, request, resourceOf(workflow, request));
        const known = { planTypesMore, corrections: ways.knowsOfOther ? [] : await take() };
        for (let times = 1; ; times += 1) {
          try {
            return await story(saga, request, known);
          } catch (error) {
            if (!(error instanceof StateChanged) && !(await mayBePlacedInTime(error))) throw error;
            log.warn('begins again', { why: (error as Error).message });
            saga.beginAgain();
            if (error instanceof StateChanged && times % begunAgainMax === 0) await askToBeginAgain(saga, error);
            known.corrections = await take();
          }
        }
      },
    );
    isThrough = true;
    saga.journal.isEnding = true;
    // A call in flight is awaited; where it was the last one, the story does not notice.
    throwIfCancelled();
    const result = () => ({ ...returned, outcome: isWhole(progress) ? 'done' : 'partly' }) as ResultOf[W];
    const { outcome } = result();
    await CancellationScope.nonCancellable(() =>
      writeEnding(saga, { ended: 'done', report: reportOf(progress, outcome, 'done'), result: result() }, ways),
    );
    // Once more: a person may have left out the writing.
    const last = result();
    await ended(saga, last.outcome, { outcome: last.outcome, ended: 'done' });
    progress.enter(last.outcome);
    return last;
  } catch (thrown) {
    const error = thrown instanceof HistoryIsFull ? new SagaFailed('HistoryFull', thrown.message) : thrown;
    if (!(error instanceof SagaFailed) && !isCancellation(error)) throw error;
    const { ended } = saga.deadline;
    const why = ended && isCancellation(error) ? new SagaFailed('DeadlinePassed', ended.why) : error;
    return await CancellationScope.nonCancellable(() => giveUp(saga, why, { cancelled, isThrough, checked }, ways));
  }
}

/** So often a story begins again by itself before a person is asked. */
const begunAgainMax = 3;

async function askToBeginAgain({ humanDecisions }: Saga, { spec, failure }: StateChanged): Promise<void> {
  spec.step.end('stuck', describeFailure(failure));
  const asking = { undoing: false, skippable: false, correction: undefined };
  await humanDecisions.ask(stuckQuestion([{ spec, failure }], asking));
}

async function giveUp<W extends WorkflowName>(
  saga: Saga,
  error: unknown,
  { cancelled, isThrough, checked }: { cancelled: () => boolean; isThrough: boolean; checked: Checked<W> | undefined },
  ways: SagaDefinition<W>,
): Promise<never> {
  const { cleanUp, reportLeftovers, reportOthers, knowsOfOther } = ways;
  const { progress } = saga;
  saga.humanDecisions.isLast = true;
  saga.journal.isEnding = true;
  const pivot = pivotOf(saga, ways);
  // Whatever a call of the story has not meant by now it never means: what is undone stays undone.
  if (pivot) saga.journal.giveUpOwnership();
  else if (saga.undoable.length > 0) saga.journal.ownershipIsInQuestion({ undoes: true });
  const standing = pivot && (await lookBack(saga, pivot));
  const own = saga.undoable;
  if (own.length > 0) progress.enter('undoing');
  await saga.undoAll();
  if (standing) await cleanUp?.(saga, standing, own);
  if (checked && (saga.journal.isOwn || saga.journal.inDoubt)) await reportOthers?.(saga, checked.request);
  reportLeftovers?.(saga, standing, checked);
  const { leftovers, skipped } = progress;
  // A clean-up puts nothing back.
  const stands = (saga.isPlaced && !saga.isCancelled) || (isThrough && knowsOfOther !== undefined);
  const outcome =
    whatIsKnown(saga, ways) === 'nothing' ? 'untouched' : outcomeOfEnd({ stands, isThrough, skipped, leftovers });
  // Whoever pressed Cancel while a refused order was being undone gets what they pressed; the report says the rest.
  if (cancelled()) {
    const said = saga.humanDecisions.describeCancellation();
    const why = error instanceof SagaFailed ? `${said}; before that, ${error.type}: ${error.message}` : said;
    const report = reportOf(progress, outcome, why);
    await writeEnding(saga, { ended: 'cancelled', report }, ways);
    await ended(saga, 'cancelled', { outcome, ended: 'cancelled' });
    progress.enter(outcome, true);
    upsertMemo({ report });
    throw new CancelledFailure(why);
  }
  if (!(error instanceof SagaFailed)) throw error;
  const report = reportOf(progress, outcome, error.message);
  await writeEnding(saga, { ended: error.type, report }, ways);
  await ended(saga, error.type, { outcome, ended: error.type });
  progress.enter(outcome, true);
  throw endedAs(error.type, error.message, report);
}

/**
 * A mere quote places nothing: nothing is looked for, and no row of doubt is written for it after the journal was put
 * back.
 */
function pivotOf({ journal }: Saga, { pivot }: Knowing): PivotStep | undefined {
  const { quoteOnly = false } = (journal.request ?? {}) as { quoteOnly?: boolean };
  return quoteOnly ? undefined : pivot;
}

/**
 * Where a run has neither taken its reference, nor read in the journal that it belongs to its request, the reference
 * may be another request's: whatever was done under it is not this run's to end.
 */
function whatIsKnown({ journal }: Saga, { knowsOfOther }: Knowing): 'nothing' | 'something' | 'all-in-order' {
  return knowsOfOther?.() ?? (journal.isOwn ? 'all-in-order' : 'nothing');
}

/** An end that the saga knows, and no failure to Temporal's own metrics and logs. */
function endedAs(type: SagaFailureName, message: string, report: Report): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [report], category });
}

/**
 * From here on the reference belongs to this request, for ever. Where it did so before, the journal knows what was
 * done: it is used, and not done again.
 *
 * @returns what was corrected of the request in earlier runs
 */
async function takeReference(
  saga: Saga,
  request: RequestOf[WorkflowName],
  resource: string | undefined,
): Promise<unknown[]> {
  const { journal } = saga;
  // Before the call: its place in the queue is given back also where the saga ends before it hears of it.
  if (resource !== undefined) journal.resource = resource;
  const step = saga.quietStep('take-reference', 'Write the request into the journal');
  const account = 'account' in request ? request.account : undefined;
  const taken = await saga.must(
    {
      step,
      act: async ({ retry, knows }) => {
        const answer = await inPlace('write the request into the journal', retry !== undefined, (journal) =>
          journal.takeReference({ request, ...definedOnly({ account, resource, knows }), retry }),
        );
        // Here, because a saga that is cancelled meanwhile hears no more of it.
        if (answer.how !== 'taken') journal.own(answer.knows);
        return answer;
      },
    },
    { refusal: 'ask' },
  );
  if (taken.how === 'taken') {
    const fields = taken.fields.slice(0, 20);
    const message =
      `the reference is taken: it was first seen on ${inWords(taken.at)}, in run ${taken.run}, with another request. ` +
      `It differs in ${fields.map((field) => field || 'the request as a whole').join(', ')}`;
    return fail(
      saga,
      'ReferenceTaken',
      message,
      fields.map((field) => ({ field, message: 'differs from the first request' })),
    );
  }
  if (taken.how === 'known') {
    journal.inDoubt = true;
    step.say(`known since ${inWords(taken.at)}, run ${taken.run}: what was done for it is used, and not done again`);
  }
  if (resource !== undefined) await waitForTurn(saga, resource, taken.turn);
  return taken.how === 'known' ? (taken.corrections ?? []) : [];
}

/**
 * Whoever skips it leaves the record without an end; what was sent stands in it all the same. Where nothing is known of
 * the saga there is nothing to write.
 */
async function writeEnding(
  saga: Saga,
  ending: { ended: NonNullable<RecordedEnding['ended']>; report: Report; result?: unknown },
  ways: Knowing,
): Promise<void> {
  const known = whatIsKnown(saga, ways);
  if (known === 'nothing') return;
  const { notices } = saga;
  const { resource } = saga.journal;
  const { outcome } = ending.report;
  const step = saga.quietStep('write-ending', 'Write the ending into the journal');
  await saga.one(
    {
      step,
      act: async ({ retry }) => {
        const told = notices.withEnd(endSaid(saga, { outcome, ended: ending.ended }));
        await inPlace('write the ending into the journal', retry !== undefined || notices.isWriting, (journal) =>
          journal.writeEnding({
            outcome,
            report: ending,
            ...definedOnly({ resource }),
            ...(known === 'something' ? { leavesOpen: true } : definedOnly({ seenMs: ways.seenOfOtherMs?.() })),
            ...told,
            retry,
          }),
        );
        notices.written(told);
      },
    },
    { refusal: 'ask', skippable: true },
  );
}

async function ended(saga: Saga, end: SagaEnd, said: EndFacts): Promise<void> {
  const { progress, notices } = saga;
  log.info('the saga has ended', { outcome: end, leftovers: progress.leftovers.length });
  await notices.close(endSaid(saga, said));
  countEnd(progress, end);
}

type EndFacts = Pick<EndSaid, 'outcome' | 'ended'>;

function endSaid({ progress }: Saga, said: EndFacts): EndSaid {
  return {
    ...said,
    state: said.outcome,
    leftovers: progress.leftovers.map(({ kind }) => kind).slice(0, leftoversToldMax),
  };
}

/** An outcome may name hundreds; a message is read on a phone. */
const leftoversToldMax = 20;

/** All that was asked for is there, and nothing else. */
function isWhole({ skipped, leftovers }: Progress): boolean {
  return outcomeOfEnd({ stands: true, isThrough: true, skipped, leftovers }) === 'done';
}

function reportOf(progress: Progress, outcome: SagaOutcome, why: string): Report {
  const { reference, workflow, steps, leftovers, ignored, decisions } = progress.view();
  return { reference, workflow, outcome, why, steps, known: progress.known, leftovers, ignored, decisions };
}

/** Ends a saga that has done nothing yet, and may not know what other runs of its reference did. */
async function fail(saga: Saga, type: SagaFailureName, message: string, problems: Problem[]): Promise<never> {
  const { progress } = saga;
  await ended(saga, type, { outcome: 'untouched', ended: type });
  progress.enter('untouched');
  throw endedAs(type, message, { ...reportOf(progress, 'untouched', message), problems });
}

/** The client sets these at the start, for nothing; a run that was started otherwise names itself. */
function nameForSearch(request: RequestOf[WorkflowName]): void {
  if (workflowInfo().memo?.[attributesGivenMemo] !== undefined) return;
  upsertSearchAttributes(attributesOf(request));
}
