/**
 * Writes what a command has to say. For a person: lines, as things happen. For a program (`--json`): one JSON document at
 * the end, or a line of JSON for each of many. Neither ever holds a secret field.
 */
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WriteStream } from 'node:tty';
import { readTerminal } from '../config';
import { redact } from '../domain/secrets';

export interface Streams {
  /** https://no-color.org is Node's own `hasColors`. */
  out: { write: (text: string) => unknown } & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows' | 'hasColors'>>;
  err: { write: (text: string) => unknown };
}

export class Printer {
  private readonly terminal = readTerminal();

  constructor(
    private readonly streams: Streams,
    private readonly json: boolean,
  ) {}

  /** The terminal that a person watches, if lines can be written over there. */
  get screen(): Streams['out'] | undefined {
    return !this.json && this.streams.out.isTTY && this.terminal.draws ? this.streams.out : undefined;
  }

  line(text: string): void {
    if (!this.json) this.streams.out.write(`${this.asPrinted(text)}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  asPrinted(text: string): string {
    return this.asPasted(printable(text));
  }

  /** Commands in it can be pasted here: where it runs from a checkout there may be no `order-saga`. */
  asPasted(text: string): string {
    return text.replaceAll(/\border-saga (?=[a-z])/g, `${this.terminal.self} `);
  }

  /** A message for a person who waits; it is not part of the result. */
  toStderr(text: string): void {
    for (const line of text.split('\n')) this.streams.err.write(`${this.asPrinted(line)}\n`);
  }

  /** A line that the next one is written over: where a person watches a terminal, and nowhere else. */
  overwrite(text: string): void {
    this.screen?.write(`\r\u001b[K${printable(text)}`);
  }

  /** A result that may be long: no more of it is made than its reader takes, and none once the reader is gone (`| head`). */
  async flow(texts: AsyncIterable<string>): Promise<void> {
    const { out } = this.streams;
    if (out instanceof Writable) await pipeline(texts, out, { end: false }).catch(noneIfGone);
    else for await (const text of texts) out.write(text);
  }

  document(value: unknown): void {
    if (this.json) this.streams.out.write(`${asJson(value, 2)}\n`);
  }

  /** One of several documents: a line of its own. */
  documentLine(value: unknown): void {
    if (this.json) this.streams.out.write(`${asJson(value)}\n`);
  }

  table(table: readonly (readonly string[])[]): void {
    const widths = table[0]?.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0))) ?? [];
    this.lines(table.map((cells) => inColumns(cells, widths)));
  }
}

function noneIfGone(error: NodeJS.ErrnoException): void {
  if (!['EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes(error.code ?? '')) throw error;
}

export function inColumns(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) => printable(cell).padEnd(widths[column] ?? 0));
  return padded.join('  ').trimEnd();
}

/** Controls, line breaks among them, and what turns the direction of writing. */
// eslint-disable-next-line no-control-regex
const steering = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A provider's words and a person's notes must not steer the terminal, and none of their lines look like one of ours. */
export function printable(text: string): string {
  return text.replace(steering, ' ');
}

/** The same value, without a secret field; JSON itself escapes only some of what steers a terminal. */
export function asJson(value: unknown, indent = 0): string {
  const escaped = (control: string) =>
    // Within a text it is escaped already.
    control === '\n' ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // As JSON has it: a time is a text.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return JSON.stringify(redact(plain), null, indent).replace(steering, escaped);
}
