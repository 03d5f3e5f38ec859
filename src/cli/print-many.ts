/** A dry list and a job's report, as lines for a person. */
import type { ManyPreview } from '../client/jobs';
import type { Count } from '../domain/dry-list';
import { describeCounts, inThousands, type JobReport } from '../domain/job-report';

const shownMax = 8;
const nameWidth = 10;

export function describeDryList(preview: ManyPreview, perSecond: number): string[] {
  if (preview.by === 'evidence') {
    const { asked, lines, placed, notPlaced } = preview;
    return [`${asked}: ${inThousands(placed)} placed, ${inThousands(notPlaced)} not placed`, lasts(lines, perSecond)];
  }
  const { asked, list } = preview;
  if (list.total === 0) return [`${asked}: no saga that waits fits; there is nothing to decide`];
  return [
    `${asked}: ${inThousands(list.total)} ${list.total === 1 ? 'saga' : 'sagas'}`,
    row('state', list.kinds),
    row('step', list.steps),
    row('account', list.accounts),
    row('waiting', list.ages),
    row('failure', list.failures),
    ...list.first.map(
      ({ workflowId, kind, step, since }) =>
        `  ${''.padEnd(nameWidth)}${workflowId}  ${kind} at ${step} since ${since}`,
    ),
    ...(list.total > list.first.length
      ? [`  ${''.padEnd(nameWidth)}and ${inThousands(list.total - list.first.length)} more`]
      : []),
    ...(list.beyond > 0 ? [`${inThousands(list.beyond)} more wait, beyond the limit: another job takes them`] : []),
    lasts(list.total, perSecond),
  ];
}

/** @param each whether each saga is listed, and not only counted */
export function describeReport(report: JobReport, { each }: { each: boolean }): string[] {
  const { job, asked, outcome, stopped, counts, notReached, refused, unanswered } = report;
  const by = stopped?.by === undefined ? '' : ` by ${stopped.by}`;
  const why = stopped?.why === undefined ? '' : ` (${stopped.why})`;
  const list = (word: string, sagas: readonly string[]) =>
    sagas.map((workflowId) => `  ${word.padEnd(12)}${workflowId}`);
  return [
    `${job} is ${outcome}${by}${why}: ${asked}`,
    `  ${describeCounts(counts)}${notReached > 0 ? `, ${inThousands(notReached)} not reached` : ''}`,
    ...refused.flatMap(({ why: reason, sagas }) => [
      `  ${inThousands(sagas.length)} refused: ${reason}`,
      ...(each ? list('refused', sagas) : []),
    ]),
    ...(unanswered.length > 0
      ? [`  ${inThousands(unanswered.length)} unanswered: their worker did not answer, and they may have taken it`]
      : []),
    ...(each
      ? [
          ...list('unanswered', unanswered),
          ...list('moved on', report.movedOn),
          ...list('ended', report.gone),
          ...list('taken', report.taken),
        ]
      : []),
  ];
}

function row(name: string, counts: readonly Count[]): string {
  const shown = counts.slice(0, shownMax).map(({ name: what, count }) => `${what} ${inThousands(count)}`);
  const more = counts.length - shown.length;
  return `  ${name.padEnd(nameWidth)}${shown.join(', ')}${more > 0 ? ` and ${more} others` : ''}`;
}

function lasts(count: number, perSecond: number): string {
  const seconds = Math.ceil(count / perSecond);
  const time = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `at ${perSecond} per second it takes about ${time}`;
}
