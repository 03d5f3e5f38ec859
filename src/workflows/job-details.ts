/** What an operator reads of a job in the Web UI's *User Metadata* tab: how far it is, and what to press. */
import { cutWell, plainMarkdown } from '../domain/markdown';
import { bar, describeCounts, inThousands, sumOf, type JobProgress } from '../domain/job-report';

const excerptCharsMax = 200;

const headings: Record<JobProgress['state'], string> = {
  running: 'Deciding',
  paused: 'Paused',
  stopping: 'Stopping',
  done: 'Done',
  stopped: 'Stopped',
};

export function describeProgress(progress: JobProgress): string {
  const { state, asked, note, by, counts, total, perSecond, paused, probe, refusals } = progress;
  const reached = sumOf(counts);
  const paragraphs = [
    // As code: the page would make a filter's quotes typographic, and nobody could paste it.
    `### ${headings[state]}: \`${cutWell(asked.replace(/\s+/g, ' ').replaceAll('`', "'").trim(), excerptCharsMax)}\``,
    `\`${bar(reached, total)}\` ${inThousands(reached)} of ${inThousands(total)} sagas`,
    `${describeCounts(counts)}.`,
    ...(probe ? [`The first ones go before the others: ${probe.underWay} of them have not done their step yet.`] : []),
    ...(paused
      ? [
          `Paused${paused.by === undefined ? '' : ` by ${inOneLine(paused.by)}`}: ${inOneLine(paused.why ?? 'no reason given')}`,
        ]
      : []),
    ...(refusals.length > 0
      ? [refusals.map(({ why, count }) => `- ${inThousands(count)} refused: ${inOneLine(why)}`).join('\n')]
      : []),
    ...(state === 'running' || state === 'paused'
      ? [
          `Press **More Actions**, then **Send an Update**: ${state === 'paused' ? '**resume**' : '**pause**'} or **stop**, with \`{"by":"you"}\`. **Request Cancellation** stops it, too. What was decided stays decided.`,
        ]
      : []),
    `${by === undefined ? 'Note' : `Note of ${inOneLine(by)}`}: ${inOneLine(note)} (${perSecond} per second)`,
  ];
  // The frame cuts off the last line: this one is empty.
  return `${paragraphs.join('\n\n')}\n\n\u00a0`;
}

/** What people typed does not become markdown of ours. */
const inOneLine = (text: string) => plainMarkdown(text, excerptCharsMax);
