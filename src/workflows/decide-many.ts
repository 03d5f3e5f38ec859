/**
 * One decision over many sagas.
 *
 * ```text
 *   check the request ── list a page ── some decisions ── a moment ── some decisions ── … ── the next page, in a new run ── report
 *                                            ▲
 *                  pause · resume · stop ────┘ between any two
 * ```
 *
 * With a probe, the first page is the few sagas of it, and the second one waits until these have done their step.
 *
 * A job is no saga: it calls no provider and no journal, and nothing of it has to be undone. Each decision is an update
 * that names the question which was listed, so a saga that has moved on refuses it. Stopped or cancelled, a job ends
 * with its report.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { CancellationScope, condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index';
import {
  bulkDecisions,
  describeJob,
  isJobId,
  readJobRequest,
  type BulkDecision,
  type JobRequest,
} from '../domain/decide-many';
import type { DecisionName } from '../domain/decisions';
import { definedOnly } from '../domain/defined-only';
import type { EvidenceLine } from '../domain/evidence';
import { wavesOf } from '../domain/hold';
import type { JobReport } from '../domain/job-report';
import { describeProblems, type Problem } from '../domain/problems';
import { Job, type Carried } from './job';

type Calls = Pick<Activities, 'listWaitingSagas' | 'findSagasOf' | 'sendDecision' | 'lookAtProbe'>;

/**
 * Temporal repeats them: they change nothing, or are the same decision each time.
 *
 * - A minute from start to close: ten thousand rows are read within seconds, and a saga is waited for half a minute.
 * - A decision is given up after ten tries, some four minutes, so that one saga does not stop the job.
 */
function activities(summary: string, maximumAttempts?: number): Calls {
  const retry = {
    initialInterval: '1 second',
    maximumInterval: '30 seconds',
    ...definedOnly({ maximumAttempts }),
  } as const;
  return proxyActivities<Calls>({ startToCloseTimeout: '1 minute', retry, summary });
}
const decisionTriesMax = 10;

/** A saga that does not answer holds up the next ones for no longer than this. */
const slowMs = 2_000;
/** So many sagas may be without an answer at a time. */
const slowMax = 20;

/** One saga, and what it is told. */
interface Target {
  workflowId: string;
  question: string;
  /** The step that waits, where the list says it. */
  step?: string;
  decision: DecisionName;
  body: Record<string, unknown>;
}

/** @param carried what the job's earlier runs have done: it continues as new after each page */
export function decideMany(given?: unknown, carried?: Carried): Promise<JobReport> {
  const job = new Job(carried ?? begin(checkRequest(given)));
  CancellationScope.current().cancelRequested.catch(() => {
    job.stop({ why: 'it was cancelled' });
  });
  return CancellationScope.nonCancellable(() => run(job));
}

async function run(job: Job): Promise<JobReport> {
  while ((await job.mayGoOn()) && (await isProbed(job))) {
    const page = await nextPage(job);
    await decideAll(job, page);
    job.probe(page);
    if (job.isStopped || job.isAtEnd) break;
    await continueAsNew<typeof decideMany>(undefined, job.carry());
  }
  return job.end();
}

/** @throws ApplicationFailure `InvalidRequest`: nothing was sent */
function checkRequest(given: unknown): JobRequest {
  const { workflowId } = workflowInfo();
  const read = readJobRequest(given);
  const misnamed = `the workflow id must be decide-many/ and a name, and it is ${workflowId}`;
  const problems = [
    ...(isJobId(workflowId) ? [] : [{ field: '', message: misnamed }]),
    ...(read.ok ? [] : read.problems),
  ];
  if (read.ok && problems.length === 0) return read.job;
  throw invalid(problems);
}

function begin(request: JobRequest): Carried {
  const { firstExecutionRunId, startTime } = workflowInfo();
  const asked = describeJob(request);
  return { request, asked, firstRunId: firstExecutionRunId, startedAt: startTime.toISOString() };
}

async function nextPage(job: Job): Promise<Target[]> {
  const { request } = job;
  return 'evidence' in request ? nextLines(job, request.evidence) : nextSagas(job, request.decision, request.where);
}

/** Those that have waited longest come first. Who begins to wait after the job was started is not of it. */
async function nextSagas(job: Job, decision: BulkDecision, where: string | undefined): Promise<Target[]> {
  const { sends, reaches } = bulkDecisions[decision];
  const filter = { kinds: reaches, asOf: job.startedAt, ...definedOnly({ where }) };
  const after = definedOnly({ after: job.cursor });
  const { sagas, more } = await checked(() =>
    activities('list the sagas that wait').listWaitingSagas({ filter, size: job.pageSize, ...after }),
  );
  job.listed(sagas.length, more, sagas.at(-1));
  return sagas.map(({ workflowId, question, step }) => ({
    workflowId,
    question,
    step,
    decision: sends,
    body: { question, ...job.words() },
  }));
}

/** The first time, each line's saga is looked for: if one is not known, nothing is sent. */
async function nextLines(job: Job, evidence: readonly EvidenceLine[]): Promise<Target[]> {
  if (job.lines === undefined) {
    const lines = evidence.map(({ reference, question }) => ({ reference, question }));
    const ids = await checked(() => activities('find the sagas of the evidence').findSagasOf({ lines }));
    job.lines = evidence.map((line, index) => ({ ...line, reference: ids[index] ?? line.reference }));
  }
  const page = job.lines.splice(0, job.pageSize);
  job.listed(page.length, job.lines.length);
  return page.map(({ reference: workflowId, question, placed, note, ...seen }) => ({
    workflowId,
    question,
    decision: placed ? 'confirmPlaced' : 'confirmNotPlaced',
    body: { question, ...job.words(note), ...(placed ? seen : {}) },
  }));
}

/** Some at once, then a pause: at most as many as the rate allows begin in any second. */
async function decideAll(job: Job, page: readonly Target[]): Promise<void> {
  for (const { wave, pauseMs } of wavesOf(page, job.request.perSecond)) {
    if (!(await job.mayGoOn())) break;
    let open = wave.length;
    for (const target of wave) {
      void decide(job, target).then(() => {
        open -= 1;
      });
    }
    await condition(() => open === 0, slowMs);
    if (job.hasMore) await condition(() => job.isStopped, pauseMs);
    await condition(() => job.underWay < slowMax);
  }
  await condition(() => job.underWay === 0);
}

async function decide(job: Job, { workflowId, question, decision, body }: Target): Promise<void> {
  const updateId = `${job.firstRunId}/${workflowId}/${question}`;
  const send = () =>
    activities(`${decision} ${workflowId}`, decisionTriesMax).sendDecision({ workflowId, decision, body, updateId });
  await job.deciding(workflowId, async () => {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return { outcome: 'unanswered' };
    }
  });
}

/**
 * Waits until the first sagas have done the step that they had waited at. Where one asks again, the job pauses itself:
 * a person sees why, and lets it go on or stops it.
 *
 * @returns false when the job was stopped
 */
async function isProbed(job: Job): Promise<boolean> {
  for (let pauseMs = 500; job.probing.length > 0; pauseMs = Math.min(2 * pauseMs, probeLookMaxMs)) {
    const { underWay, asksAgain } = await activities('look how the first ones do').lookAtProbe({ sagas: job.probing });
    job.sawProbe(underWay, asksAgain);
    if (job.probing.length === 0 || job.isStopped) break;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof decideMany>(undefined, job.carry());
    await condition(() => job.isStopped, pauseMs);
  }
  return job.mayGoOn();
}
const probeLookMaxMs = 16_000;

/** @throws ApplicationFailure `InvalidRequest` where the activity says so: it comes before anything is sent */
async function checked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure) || cause.type !== 'InvalidRequest') throw error;
    throw invalid((cause.details?.[0] ?? [{ field: '', message: cause.message }]) as Problem[]);
  }
}

function invalid(problems: Problem[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`nothing was sent: ${describeProblems(problems)}`, 'InvalidRequest', problems);
}
