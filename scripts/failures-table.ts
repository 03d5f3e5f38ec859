/** Prints the table of docs/failures.md that says what an answer means, from the rows of src/provider/verdicts.ts. */
import { meaningOf, providerCalls, rows, type Row } from '../src/provider/verdicts';

const inWords = ({ status }: Row) => (typeof status === 'number' ? `${status}` : `${status[0]} to ${status[1]}`);
const first = ({ status }: Row) => (typeof status === 'number' ? status : status[0]);

/** A status of the row that no other row names. */
function sampleOf(row: Row): number {
  if (typeof row.status === 'number') return row.status;
  const named = rows.flatMap(({ status }) => (typeof status === 'number' ? [status] : []));
  let status = row.status[0];
  while (named.includes(status)) status += 1;
  return status;
}

/** A line for each status or range, its reasons joined. */
function failuresTable(): string {
  const named = rows.filter((row, index) => rows.findIndex((one) => inWords(one) === inWords(row)) === index);
  const lines = named
    .sort((one, other) => first(one) - first(other) || inWords(one).length - inWords(other).length)
    .map((row) => {
      const cells = providerCalls.map((call) => {
        const means = meaningOf(sampleOf(row), { call });
        const ofNew = meaningOf(sampleOf(row), { call, serverIsNew: true });
        return means === ofNew ? means : `${means}; new: ${ofNew}`;
      });
      const reasons = rows.filter((one) => inWords(one) === inWords(row)).map(({ because }) => because);
      const status = typeof row.status === 'number' ? inWords(row) : `${inWords(row)}, any other`;
      return [status, ...cells, [...new Set(reasons)].join('; ')];
    });
  const head = ['status', ...providerCalls, 'because'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const printedBetween = ['<!-- printed by `npm run schemas` -->', '<!-- end -->'] as const;

/** @returns the document with the table in it */
export function withFailuresTable(document: string): string {
  const [begin, end] = printedBetween;
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  if (from < begin.length || to < 0) throw new Error('docs/failures.md has no place for its table');
  return `${document.slice(0, from)}\n\n${failuresTable()}\n\n${document.slice(to)}`;
}
