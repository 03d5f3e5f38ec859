/** The commands about many sagas at once: whom a decision reaches, the job, and its end. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { countedBy, inboxGroupings, type InboxGrouping } from '../client/inbox';
import { checkJob, type JobHandle, type ManyPreview } from '../client/jobs';
import {
  countsOf,
  describeCounts,
  everySaga,
  jobBytesMax,
  sumOf,
  type JobPlace,
  type JobReport,
} from '../domain/decide-many';
import { definedOnly } from '../domain/defined-only';
import { namesOfFirst } from '../domain/problems';
import type { Came, CommandContext } from './define';
import { withSagas } from './connect';
import { exitStatus } from './exit-status';
import { printWaiting } from './list-commands';
import type { Printer } from './print';
import { parseJson, readText } from './read-request';
import { inUnits } from './units';

export interface ManyOptions {
  where?: string;
  all?: boolean;
  lines?: string;
  note: string;
  by: string;
  rate?: number;
  limit?: number;
  name?: string;
  dryRun?: boolean;
  yes?: boolean;
  detach?: boolean;
}

/** First whom it reaches, then a question, then the job. */
export async function decideMany(
  context: CommandContext,
  decision: string | undefined,
  options: ManyOptions,
): Promise<Came> {
  const { printer, stdin } = context;
  const request = await requestOf(decision, options, stdin);
  // Before any connection: a wrong line is reported even where there is no Temporal.
  checkJob(request);
  return withSagas(async (sagas) => {
    const preview = await sagas.previewMany(request);
    const shown = { asked: preview.asked, count: preview.count, beyond: preview.beyond };
    printPreview(printer, preview);
    if (options.dryRun) return { document: { preview } };
    const document = { preview: shown };
    if (preview.count === 0) return { document, status: exitStatus.notDone };
    if (!options.yes && !(await isConfirmed(context, preview, options.lines === '-'))) {
      return { document, status: exitStatus.refused };
    }
    const job = await sagas.decideMany(request, definedOnly({ name: options.name }));
    printer.line(`${job.workflowId} started; it goes on without this terminal`);
    printer.line(`  order-saga job ${job.workflowId} stop   # or report`);
    if (options.detach) return { document: { ...document, job: job.workflowId } };
    return followJob(context, job, preview.count, document);
  });
}

/** JSON lines to fill in: a decision for each. */
export function questions(
  { printer }: CommandContext,
  { where, limit }: { where?: string; limit: number },
): Promise<Came> {
  return withSagas(async (sagas) => {
    const { lines, more } = await sagas.questions(where, limit);
    printer.lines(lines.map((line) => JSON.stringify(line)));
    if (lines.length === 0) printer.toStderr('no saga that fits waits for a decision');
    if (more > 0) printer.toStderr(`${more} more ask: settle these first, and run it again`);
    return { document: lines, status: more > 0 ? exitStatus.partly : exitStatus.done };
  });
}

/** Shows a job until it ends; or stops it. */
export function job(context: CommandContext, id: string, action?: 'stop' | 'report'): Promise<Came> {
  const { printer } = context;
  return withSagas(async (sagas) => {
    const found = await sagas.job(id);
    if (action === 'stop') {
      await found.stop();
      printer.line(`${found.workflowId} stops within some seconds`);
      return { document: { job: found.workflowId } };
    }
    const place = await found.progress();
    if (action === undefined || place === undefined) return followJob(context, found, place?.came.length);
    printer.line(lineOf(place));
    return { document: { job: found.workflowId, counts: countsOf(place) }, status: exitStatus.waits };
  });
}

async function followJob(
  { printer }: CommandContext,
  found: JobHandle,
  total: number | undefined,
  document: object = {},
): Promise<Came> {
  const report = await found.follow((place) => {
    printer.overwrite(lineOf(place));
  });
  printer.overwrite('');
  printer.lines(describeReport(report, { each: total === undefined }));
  const { counts, notReached } = report;
  // A saga that no longer waits or has ended needed no decision any more.
  const isPartly = counts.refused + counts.unanswered + notReached > 0;
  return { document: { ...document, report }, status: isPartly ? exitStatus.partly : exitStatus.done };
}

/** "1,530 of 2,913: 1,520 taken, 10 refused" */
function lineOf(place: JobPlace): string {
  const counts = countsOf(place);
  return `${inThousands(sumOf(counts))} of ${inThousands(place.came.length)}: ${describeCounts(counts)}`;
}

const groupsShown = 8;
const rowsShown = 10;

function printPreview(printer: Printer, { asked, count, sagas = [], beyond, perSecond }: ManyPreview): void {
  if (count === 0) {
    printer.line(`${asked}: no saga that waits fits; there is nothing to decide`);
    return;
  }
  printer.line(`${asked}: ${inThousands(count)} ${count === 1 ? 'saga' : 'sagas'}`);
  if (sagas.length > 0) {
    const described = (by: InboxGrouping) =>
      countedBy(sagas, by).map(({ name, count: sagasIn }) => `${name} ${inThousands(sagasIn)}`);
    printer.table(inboxGroupings.map((by) => [by, namesOfFirst(described(by), groupsShown)]));
    printWaiting(printer, sagas.slice(0, rowsShown));
  }
  if (sagas.length > rowsShown) printer.line(`and ${inThousands(sagas.length - rowsShown)} more`);
  if (beyond > 0) printer.line(`${inThousands(beyond)} more wait, beyond the limit: another job takes them`);
  const ms = Math.ceil(count / perSecond) * 1_000;
  printer.line(`at ${perSecond} per second it takes about ${inUnits(ms)}`);
}

/** @param each whether each saga is listed, and not only counted */
function describeReport(report: JobReport, { each }: { each: boolean }): string[] {
  const { job: name, asked, outcome, counts, notReached, refused, unanswered } = report;
  const list = (word: string, sagas: readonly string[]) =>
    each ? sagas.map((workflowId) => `  ${word.padEnd(12)}${workflowId}`) : [];
  return [
    `${name} is ${outcome}: ${asked}`,
    `  ${describeCounts(counts)}${notReached > 0 ? `, ${inThousands(notReached)} not reached` : ''}`,
    ...refused.flatMap(({ why, sagas }) => [
      `  ${inThousands(sagas.length)} refused: ${why}`,
      ...list('refused', sagas),
    ]),
    ...(unanswered.length > 0
      ? [`  ${inThousands(unanswered.length)} unanswered: their worker did not answer, and they may have taken it`]
      : []),
    ...list('unanswered', unanswered),
    ...list('waits no more', report.movedOn),
    ...list('ended', report.gone),
    ...list('taken', report.taken),
  ];
}

const inThousands = (count: number) => count.toLocaleString('en');

async function requestOf(decision: string | undefined, options: ManyOptions, stdin: Readable): Promise<unknown> {
  const { where, all, lines, note, by, rate: perSecond, limit } = options;
  return definedOnly({
    ...{ decision, note, by, perSecond, limit },
    where: all ? everySaga : where,
    decisions: lines === undefined ? undefined : await readLines(lines, stdin),
  });
}

/** JSON lines; the first one is line 1, and an empty last line is none. @throws UsageError */
async function readLines(file: string, stdin: Readable): Promise<unknown[]> {
  const text = await readText(file, stdin, jobBytesMax, 'a list of decisions');
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line, index) => parseJson(line, `line ${index + 1}`));
}

async function isConfirmed({ printer, stdin }: CommandContext, { asked, count }: ManyPreview, stdinIsRead: boolean) {
  if (stdinIsRead || !(stdin as Readable & { isTTY?: boolean }).isTTY) {
    printer.toStderr('nothing was started: add --yes to start it');
    return false;
  }
  printer.toStderr(`${asked}: ${inThousands(count)} sagas. Start? Type yes:`);
  // A person who ends the input (Ctrl-D) has not said yes.
  for await (const said of createInterface({ input: stdin })) {
    if (said.trim().toLowerCase() === 'yes') return true;
    break;
  }
  printer.toStderr('nothing was started');
  return false;
}
