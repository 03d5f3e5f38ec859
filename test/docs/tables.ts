/** Tables of the documents, as tests read them. */
import { readDocument } from '../support/project';

/** The rows of the table under a heading; each row by the names of its columns. */
export function tableUnder(document: string, heading: string): Record<string, string>[] {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  if (start === -1) throw new Error(`there is no heading ${heading}`);
  const first = lines.findIndex((line, index) => index > start && line.startsWith('|'));
  const next = lines.findIndex((line, index) => index > start && line.startsWith('#'));
  if (first === -1 || (next !== -1 && next < first)) throw new Error(`there is no table under ${heading}`);
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
  const [head = [], , ...rows] = lines.slice(first, end).map(cellsOf);
  return rows.map((cells) => Object.fromEntries(head.map((name, column) => [name, cells[column] ?? ''])));
}

/** The texts in backticks in a cell. */
export function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim());
}

/** What a text has somebody type, by block. */
export function shellBlocks(text: string): string[] {
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

/** The names of the sandbox's settings, as the top of its file has them. */
export function sandboxSettings(): string[] {
  return [...readDocument('sandbox/main.ts').matchAll(/^ \* {5}(SANDBOX_[A-Z_]+)/gm)].map(([, name = '']) => name);
}

/** The names in the lists of docs/settings.md, under one heading or under all. */
export function settingsUnder(heading?: string): string[] {
  const parts = readDocument('docs/settings.md').split(/^#+ /m);
  const text = parts.filter((part) => heading === undefined || part.startsWith(`${heading}\n`)).join('');
  return [...text.matchAll(/^- (`[A-Z_]+`[^:(]*)/gm)].flatMap(([, names = '']) => codesIn(names));
}

/** The names of every setting that our programs know; tests hold both lists to the code. */
export function knownSettings(): Set<string> {
  return new Set([...settingsUnder(), ...sandboxSettings()]);
}
