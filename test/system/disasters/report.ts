/** What one rehearsal shows. */
import type { Rehearsed } from './rehearsal';

export function printed({
  name,
  passed,
  seconds,
  phases,
  figures,
  facts,
  said,
  commands,
  mishaps,
  sweep,
  violations,
}: Rehearsed): string {
  return [
    `${passed ? 'passed' : 'FAILED'}  ${name}  ${seconds} s`,
    ...phases.map((phase) => `  ${String(phase.seconds).padStart(6)} s  ${phase.name}`),
    ...Object.entries(figures).map(([of, count]) => `  ${String(count).padStart(6)}    ${of}`),
    ...Object.entries(facts).map(([fact, came]) => `  ${came ? 'seen' : 'NOT SEEN'}: ${fact}`),
    ...said.map(({ state, words, count }) => `  ${count} said, ${state}: ${words.replaceAll('\n', ' ')}`),
    ...commands.map((command) => `  $ ${command}`),
    ...mishaps.map((sentence) => `  a worker: ${sentence.replaceAll('\n', ' ').slice(0, 600)}`),
    `  the sweep: ${JSON.stringify(sweep)}`,
    ...violations.map((sentence) => `  VIOLATION  ${sentence}`),
  ].join('\n');
}
