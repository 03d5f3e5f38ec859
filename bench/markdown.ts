/** Figures as Markdown: tables in which every column says its unit, and their place in a document. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

export type Cell = string | number | undefined;

export function markdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const numeric = head.map((_title, column) => rows.some((row) => typeof row[column] === 'number'));
  const lines = [
    head,
    numeric.map((right) => (right ? '---:' : '---')),
    ...rows.map((row) => head.map((_title, column) => shown(row[column]))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Three digits say all that a measurement knows; a whole number is counted and stays what it is. */
function shown(cell: Cell): string {
  if (cell === undefined) return '–';
  if (typeof cell === 'string') return cell;
  if (Number.isInteger(cell) || Math.abs(cell) >= 100) return String(Math.round(cell));
  return cell.toPrecision(3);
}

/** Puts a report into `docs/internals/performance.md`, between the marks of this name. */
export async function writeReport(name: string, report: string): Promise<void> {
  const path = join(__dirname, '..', 'docs', 'internals', 'performance.md');
  const text = readFileSync(path, 'utf8');
  const [from, to] = [`<!-- bench: ${name} -->`, `<!-- end of ${name} -->`];
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start === -1 || end < start) throw new Error(`there are no marks ${from} … ${to}`);
  const whole = `${text.slice(0, start + from.length)}\n\n${report}\n\n${text.slice(end)}`;
  writeFileSync(path, await format(whole, { ...(await resolveConfig(path)), filepath: path }));
}
