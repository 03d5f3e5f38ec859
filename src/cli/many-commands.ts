/** The commands about many sagas at once: the dry list, the job, and what is said to it. */
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { checkJob, type JobHandle, type ManyPreview } from '../client/jobs';
import { InvalidRequestError } from '../client/errors';
import { readClientConfig } from '../config';
import { jobControls } from '../domain/decide-many';
import { definedOnly } from '../domain/defined-only';
import { evidenceBytesMax, parseEvidence } from '../domain/evidence';
import { bar, describeCounts, inThousands, sumOf, type JobProgress, type JobReport } from '../domain/job-report';
import type { CommandContext } from './command-context';
import { withSagas } from './connect';
import { exitStatus, UsageError } from './exit-status';
import { describeDryList, describeReport } from './print-many';
import { readText } from './read-request';

export interface ManyOptions {
  where?: string;
  all?: boolean;
  evidence?: string;
  note: string;
  by?: string;
  rate?: number;
  limit?: number;
  probe?: number;
  name?: string;
  dryRun?: boolean;
  yes?: boolean;
  detach?: boolean;
}

/** First a dry list, then a question, then the job. */
export async function decideMany(
  context: CommandContext,
  decision: string | undefined,
  options: ManyOptions,
): Promise<number> {
  const { printer, stdin } = context;
  const request = await requestOf(decision, options, stdin);
  // Before any connection: a wrong line is reported even where there is no Temporal.
  const { perSecond } = checkJob(request);
  return withSagas(readClientConfig(), async (sagas) => {
    const preview = await sagas.previewMany(request);
    const count = preview.by === 'query' ? preview.list.total : preview.lines;
    for (const line of describeDryList(preview, perSecond)) printer.line(line);
    if (options.dryRun) return end(context, { preview }, exitStatus.done);
    if (count === 0) return end(context, { preview }, exitStatus.notDone);
    if (!options.yes && !(await isConfirmed(context, preview, count, options.evidence === '-'))) {
      return end(context, { preview }, exitStatus.refused);
    }
    const job = await sagas.decideMany(request, definedOnly({ name: options.name }));
    printer.line(`${job.workflowId} started; it goes on without this terminal`);
    printer.line(`  order-saga job ${job.workflowId} pause   # or resume, stop, report`);
    if (options.detach) return end(context, { preview, job: job.workflowId }, exitStatus.done);
    return followJob(context, job, { preview });
  });
}

/** JSON lines to fill in: whether each was placed. */
export function evidence({ printer }: CommandContext, where: string | undefined): Promise<number> {
  return withSagas(readClientConfig(), async (sagas) => {
    const { lines, more } = await sagas.openEvidence(where);
    for (const line of lines) printer.line(JSON.stringify(line));
    if (lines.length === 0) printer.toStderr('no saga that fits asks whether something was placed');
    if (more > 0) printer.toStderr(`${more} more ask: settle these first, and run it again`);
    printer.document(lines);
    return more > 0 ? exitStatus.partly : exitStatus.done;
  });
}

/** Shows a job until it ends; or says something to it. */
export async function job(
  context: CommandContext,
  id: string,
  action: string | undefined,
  words: { by?: string; note?: string },
): Promise<number> {
  const { printer } = context;
  const control = jobControls.find((known) => known === action);
  if (action !== undefined && control === undefined && action !== 'report') {
    throw new UsageError(`there is no ${action}; there are ${jobControls.join(', ')} and report`);
  }
  return withSagas(readClientConfig(), async (sagas) => {
    const found = await sagas.job(id);
    if (control !== undefined) {
      const state = await found[control](words);
      printer.line(`${found.workflowId} is ${state}`);
      return end(context, { job: found.workflowId, state }, exitStatus.done);
    }
    if (action === undefined) return followJob(context, found);
    const progress = await found.progress();
    if (progress.state !== 'done' && progress.state !== 'stopped') {
      printer.line(lineOf(progress));
      return end(context, { job: found.workflowId, progress }, exitStatus.waits);
    }
    const report = await found.report();
    for (const line of describeReport(report, { each: true })) printer.line(line);
    return end(context, report, statusOf(report));
  });
}

async function followJob({ printer }: CommandContext, found: JobHandle, document: object = {}): Promise<number> {
  let said = '';
  const report = await found.follow((progress) => {
    printer.overwrite(lineOf(progress));
    const { state, paused } = progress;
    const now = state === 'paused' ? `${found.workflowId} is paused: ${paused?.why ?? 'no reason given'}` : state;
    if (state === 'paused' && now !== said) {
      printer.toStderr(`${now}. To go on: order-saga job ${found.workflowId} resume`);
    }
    said = now;
  });
  printer.overwrite('');
  for (const line of describeReport(report, { each: false })) printer.line(line);
  printer.document({ ...document, report });
  return statusOf(report);
}

/** "█████░░░░░ 52 %  1,530 of 2,913: 1,520 taken, 10 refused" */
function lineOf({ counts, total, state }: JobProgress): string {
  const reached = sumOf(counts);
  const how = state === 'running' ? '' : ` (${state})`;
  return `${bar(reached, total)}  ${inThousands(reached)} of ${inThousands(total)}: ${describeCounts(counts)}${how}`;
}

/** What moved on or has ended needed no decision any more. */
function statusOf({ counts, notReached }: JobReport): number {
  return counts.refused + counts.unanswered + notReached > 0 ? exitStatus.partly : exitStatus.done;
}

function end({ printer }: CommandContext, document: unknown, status: number): number {
  printer.document(document);
  return status;
}

async function requestOf(decision: string | undefined, options: ManyOptions, stdin: Readable): Promise<unknown> {
  const { where, all, evidence: file, note, by, rate: perSecond, limit, probe } = options;
  const evidence = file === undefined ? undefined : await readLines(file, stdin);
  return definedOnly({
    decision,
    where,
    all,
    evidence,
    note,
    by,
    perSecond,
    limit,
    probe: probe === undefined ? undefined : { first: probe },
  });
}

/** @throws InvalidRequestError with each line that is no JSON, UsageError */
async function readLines(file: string, stdin: Readable): Promise<unknown[]> {
  const parsed = parseEvidence(await readText(file, stdin, evidenceBytesMax, 'evidence'));
  if (parsed.ok) return parsed.entries;
  throw new InvalidRequestError(parsed.problems);
}

async function isConfirmed(
  { printer, stdin }: CommandContext,
  { asked }: ManyPreview,
  count: number,
  stdinIsRead: boolean,
): Promise<boolean> {
  if (stdinIsRead || !(stdin as Readable & { isTTY?: boolean }).isTTY) {
    printer.toStderr('nothing was started: add --yes to start it');
    return false;
  }
  printer.toStderr(`${asked}: ${inThousands(count)} sagas. Start? Type yes:`);
  const lines = createInterface({ input: stdin });
  try {
    const said = await lines.question('');
    if (said.trim().toLowerCase() === 'yes') return true;
  } finally {
    lines.close();
  }
  printer.toStderr('nothing was started');
  return false;
}
