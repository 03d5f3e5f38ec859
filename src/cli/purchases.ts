/** Prints the journal's purchases as a table, JSON or CSV: they flow, however many there are. And compares them with theirs. */
import { accountName } from '../domain/identity';
import type { Fate } from '../domain/spending';
import { bought, type Bought } from '../journal/purchases';
import { compareWith, noRow, rowOf, type Compared } from './compare-export';
import type { CommandResult, CommandContext } from './define';
import { exitStatus } from './exit-status';
import { withJournal } from './journal-commands';
import { asJson, inColumns, printable } from './print';

interface Asked {
  account?: string;
  since?: number;
  until?: number;
  outcome?: Fate;
  server?: number;
  export?: string;
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

export function purchases(context: CommandContext, asked: Asked): Promise<CommandResult> {
  const { account, since: sinceMs, until: untilMs, outcome: fate, server: vmObjectId, json, export: file } = asked;
  if (file !== undefined) return compareOrders(context, asked, file);
  const { printer } = context;
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

/** Our orders that were placed, or may have been, against the provider's rows that stand: a line for each difference. */
async function compareOrders(context: CommandContext, asked: Asked, file: string): Promise<CommandResult> {
  const { printer } = context;
  const { account: only, since = 0, until = Infinity } = asked;
  let status: number = exitStatus.done;
  const tell = (is: string, about: Record<string, string | number | undefined>) => {
    const told = Object.entries(about).filter(([, value]) => value !== undefined);
    printer.line(`${is}: ${told.map(([name, value]) => `${name} ${value}`).join(', ')}`);
    printer.documentLine({ is, ...about });
    status = exitStatus.waits;
  };
  const isAsked = ({ account }: { account?: string }, ms: number) =>
    since <= ms && ms < until && (only === undefined || account === accountName(only));
  const counts = ({ fate }: Compared) => fate === 'placed' || fate === 'unknown';
  const sums = new Map<string, { ours: number; unpriced: number; theirs: number }>();
  const sumIn = (currency = 'no currency') => {
    const sum = sums.get(currency) ?? { ours: 0, unpriced: 0, theirs: 0 };
    sums.set(currency, sum);
    return sum;
  };
  const compared = await compareWith(file, context, ({ row, orderId: order, account, label, ms, ...one }, those) => {
    if (!one.stands || !isAsked({ account }, ms)) return;
    sumIn(one.currency).theirs += one.total ?? 0;
    if (those.some(counts)) return;
    const known = those.map(({ reference, fate }) => `${reference} (${fate})`).join(', ') || undefined;
    tell('theirs without ours', { row, order, account, at: new Date(ms).toISOString(), label, known });
  });
  for (const one of compared.filter((one) => counts(one) && isAsked(one, Date.parse(one.at)))) {
    const { reference, fate, orderId: order, account, at, label, total, currency } = one;
    sumIn(currency).ours += total ?? 0;
    if (total === undefined) sumIn(currency).unpriced += 1;
    const row = rowOf(one);
    if (row === noRow) tell('ours without theirs', { reference, fate, order, account, at, label });
    else if (typeof row === 'string') tell('not told apart', { reference, fate, why: row });
  }
  // Sums of fractions are not exact in their last digits.
  const exact = (sum: number) => Number(sum.toFixed(4));
  for (const [currency, { ours, unpriced, theirs }] of sums) {
    if (unpriced === 0 && exact(ours) !== exact(theirs)) status = exitStatus.waits;
    printer.line(`${currency}: ours ${exact(ours)} (without a price: ${unpriced}), theirs ${exact(theirs)}`);
    printer.documentLine({ is: 'sum', currency, ours: exact(ours), unpriced, theirs: exact(theirs) });
  }
  return { status };
}

/** As RFC 4180 has it. A text that a spreadsheet would take for a formula begins with an apostrophe. */
function inCsv(cells: readonly (string | number)[]): string {
  const text = (cell: string | number) => (typeof cell === 'string' && /^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell);
  return cells.map((cell) => `"${printable(String(text(cell))).replaceAll('"', '""')}"`).join(',');
}
