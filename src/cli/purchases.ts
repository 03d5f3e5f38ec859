/** Prints the journal's purchases as a table, JSON or CSV: they flow, however many there are. */
import type { Fate } from '../domain/spending';
import { bought, type Bought } from '../journal/purchases';
import type { CommandResult, CommandContext } from './define';
import { withJournal } from './journal-commands';
import { asJson, inColumns, printable } from './print';

interface Asked {
  account?: string;
  since?: number;
  until?: number;
  outcome?: Fate;
  server?: number;
  format: 'table' | 'json' | 'csv';
  json?: boolean;
}

const columns: readonly [name: string, of: (row: Bought) => string | number | undefined, width: number][] = [
  ['sent', ({ at }) => at, 24],
  ['workflow', ({ workflow }) => workflow, 16],
  ['reference', ({ reference }) => reference, 24],
  ['account', ({ account }) => account, 16],
  ['outcome', ({ fate }) => fate, 10],
  ['servers', ({ servers }) => servers, 7],
  ['items', ({ items }) => items, 5],
  ['total', ({ total }) => total, 10],
  ['currency', ({ currency }) => currency, 8],
  ['estimate', ({ isEstimate }) => isEstimate && 'yes', 8],
  ['asked by', ({ metadata }) => metadata['requester'], 16],
  ['by', ({ by }) => by.join(', '), 16],
  ['ended', ({ ended }) => ended, 14],
  ['object ids', ({ vmObjectIds }) => vmObjectIds.join(' '), 16],
  ['metadata', ({ metadata }) => Array.from(Object.entries(metadata), (entry) => entry.join('=')).join('; '), 0],
];

const names = columns.map(([name]) => name);
const widths = columns.map(([, , width]) => width);

/** A row begins with what separates it from what came before; the first one has the index 0. */
const formats: Record<Asked['format'], { head: string; row: (row: Bought, index: number) => string; tail: string }> = {
  table: {
    head: inColumns(names, widths),
    row: (row) => `\n${inColumns(cellsOf(row).map(String), widths)}`,
    tail: '\n',
  },
  json: { head: '[', row: (row, index) => `${index > 0 ? ',' : ''}\n${asJson(row)}`, tail: '\n]\n' },
  csv: { head: inCsv(names), row: (row) => `\r\n${inCsv(cellsOf(row))}`, tail: '\r\n' },
};

function cellsOf(row: Bought) {
  return columns.map(([, of]) => of(row) ?? '');
}

export function purchases({ printer }: CommandContext, asked: Asked): Promise<CommandResult> {
  const { account, since: sinceMs, until: untilMs, outcome: fate, server: vmObjectId, json } = asked;
  const { head, row, tail } = formats[json ? 'json' : asked.format];
  return withJournal({ writes: false }, async (journal) => {
    async function* texts() {
      yield head;
      let index = 0;
      for await (const one of bought(journal, { account, sinceMs, untilMs, fate, vmObjectId })) yield row(one, index++);
      yield tail;
    }
    await printer.flow(texts());
    return {};
  });
}

/** As RFC 4180 has it. A text that a spreadsheet would take for a formula begins with an apostrophe. */
function inCsv(cells: readonly (string | number)[]): string {
  const text = (cell: string | number) => (typeof cell === 'string' && /^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell);
  return cells.map((cell) => `"${printable(String(text(cell))).replaceAll('"', '""')}"`).join(',');
}
