/** Reads the provider's own list of its orders, row by row, whatever its size. One row that cannot be read refuses it. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { accountName } from '../domain/identity';
import type { PanelExport } from '../domain/profile';
import { foundServersSchema } from '../domain/requests';
import { UsageError } from './exit-status';
import { nameOf, whyUnreadable } from './read-request';
import { readTime } from './units';

/** A row of the file: the one that names the columns is row 1. What is not declared is absent. */
export type PanelOrder = ReturnType<typeof read> & { row: number };

/** A quote that nobody closes would take the rest of the file for one cell. */
const rowBytesMax = 100_000;

/** @param path `-` means standard input. @throws UsageError, also behind rows that were read */
export async function* panelOrders(path: string, stdin: Readable, declared: PanelExport): AsyncGenerator<PanelOrder> {
  const name = nameOf(path);
  let row = 0;
  const parser = parse({
    ...{ delimiter: declared.separator, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true },
    columns: (head: string[]) => fieldsIn(head, ((row = 1), declared)),
    max_record_size: rowBytesMax,
  });
  // What fails there fails the parser.
  pipeline(decoded(path === '-' ? stdin : createReadStream(path), name), parser).catch(() => undefined);
  try {
    for await (const cells of parser as AsyncIterable<Cells>) yield { ...read(cells, declared), row: (row += 1) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new UsageError(`${name} is not UTF-8 (perhaps Latin-1): save it as UTF-8`);
    const where = error instanceof WrongRow ? `${name}, row ${row + 1}` : name;
    const isWrong = error instanceof WrongRow || error instanceof CsvError;
    throw new UsageError(isWrong ? `${where}: ${error.message}` : whyUnreadable(name, error));
  }
  if (row === 0) throw new UsageError(`${name} is empty: a row that names the columns is expected`);
}

async function* decoded(bytes: Readable, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const read of bytes as AsyncIterable<Buffer>) {
    const chunk = Buffer.from(read);
    if (/^(fffe|feff)/.test(chunk.toString('hex', 0, 2))) throw new UsageError(`${name} is UTF-16: save it as UTF-8`);
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

class WrongRow extends Error {}

type Cells = Record<Exclude<keyof PanelExport, 'separator'> | 'currency', string>;

/** @returns our name for each column; false for one that is not declared. @throws UsageError */
function fieldsIn(head: readonly string[], { time, servers, total, status, ...others }: PanelExport) {
  const { orderId, account, label } = others;
  const ofParts = { time: time.column, servers: servers?.column, total: total?.column, status: status?.column };
  const columns = Object.entries({ orderId, account, label, ...ofParts, currency: total?.currency });
  const fields = head.map((name) => columns.find(([, column]) => column === name)?.[0] ?? false);
  for (const [field, column] of columns)
    if (column !== undefined && fields.filter((one) => one === field).length !== 1)
      throw new UsageError(
        `“${column}” of export.${field} must be one column of the export; it has ${head.join(', ')}`,
      );
  return fields;
}

function read(cells: Cells, { time, servers, total, status }: PanelExport) {
  const { orderId, label, currency } = cells;
  return {
    ...{ orderId, account: accountName(cells.account), label, ms: msOf(cells.time, time.utcOffset) },
    vmObjectIds: servers && idsOf(cells.servers.split(servers.separator)),
    ...(total && { total: amountOf(cells.total, total.decimal), currency: currency.toLowerCase() }),
    stands: status === undefined || status.placed.includes(cells.status),
  };
}

function msOf(cell: string, utcOffset = ''): number {
  const hasOffset = /(Z|[+-]\d\d:\d\d)$/.test(cell);
  const ms = /[T ]/.test(cell) ? readTime(cell.replace(' ', 'T') + (hasOffset ? '' : utcOffset)) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new WrongRow(`a time is like 2026-11-01T09:00Z (or declare export.time.utcOffset), and not ${cell}`);
}

/** @returns undefined for an empty cell */
function amountOf(cell: string, decimal: string): number | undefined {
  const [whole = '', part = '0', ...others] = cell.split(decimal);
  if (cell === '') return undefined;
  if (/^-?\d+$/.test(whole) && /^\d+$/.test(part) && others.length === 0) return Number(`${whole}.${part}`);
  throw new WrongRow(`a total is like 1234${decimal}50 (export.total.decimal of the profile), and not ${cell}`);
}

/** @returns undefined where they are not the ids of servers, each once */
function idsOf(texts: readonly string[]): number[] | undefined {
  const ids = texts.map((text) => (/^ *\d+ *$/.test(text) ? Number(text) : text));
  return foundServersSchema().safeParse(ids).data;
}
