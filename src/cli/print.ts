/**
 * What the command line writes. For a person: lines, as things happen. For a program (`--json`): one JSON document at
 * the end, or a line of JSON for each of many. Neither ever holds a secret field.
 */
import { Writable } from 'node:stream';
import type { Leftover } from '../domain/leftovers';
import { decisionHints, exampleFor } from '../domain/decisions';
import type { SagaOutcome } from '../domain/outcomes';
import type { Waiting } from '../domain/progress';
import { redact } from '../domain/secrets';
import type { SagaRow } from '../client/saga-list';
import type { Report } from '../domain/results';
import { readTerminal, type Terminal } from '../config';
import type { Ending } from './follow';
import { printable } from './printable';
import { withAge } from './times';

export interface Streams {
  out: { write: (text: string) => unknown; isTTY?: boolean; columns?: number; rows?: number };
  err: { write: (text: string) => unknown };
}

const valueMax = 500;

export class Printer {
  constructor(
    private readonly streams: Streams,
    private readonly json: boolean,
    private readonly terminal: Terminal = readTerminal(),
  ) {}

  /** Where a person watches, and lines can be written over. */
  get screen(): Streams['out'] | undefined {
    return !this.json && this.streams.out.isTTY && this.terminal.draws ? this.streams.out : undefined;
  }

  get hasColors(): boolean {
    return this.terminal.hasColors;
  }

  line(text: string): void {
    if (!this.json) this.streams.out.write(`${this.asPrinted(text)}\n`);
  }

  /** Commands in it can be pasted here: in a checkout there is no `order-saga`. */
  asPrinted(text: string): string {
    return printable(text).replaceAll(/\border-saga (?=[a-z])/g, `${this.terminal.self} `);
  }

  /** A message for a person who waits; it is not part of the result. */
  toStderr(text: string): void {
    this.streams.err.write(`${this.asPrinted(text)}\n`);
  }

  /** A line that the next one is written over: where a person watches a terminal, and nowhere else. */
  overwrite(text: string): void {
    this.screen?.write(`\r\u001b[K${printable(text)}`);
  }

  /**
   * Part of a result that may be long: waits until the reader has taken it.
   *
   * @returns false where the reader is gone (`| head`)
   */
  async flow(text: string): Promise<boolean> {
    const { out } = this.streams;
    if (!(out instanceof Writable)) {
      out.write(text);
      return true;
    }
    // A stream that has failed calls back no more.
    if (out.errored || out.destroyed) return false;
    return new Promise((settle) => {
      out.write(text, (error) => {
        settle(!error);
      });
    });
  }

  document(value: unknown): void {
    if (this.json) this.streams.out.write(`${JSON.stringify(redact(value), null, 2)}\n`);
  }

  /** One of several documents: a line of its own. */
  documentLine(value: unknown): void {
    if (this.json) this.streams.out.write(`${JSON.stringify(redact(value))}\n`);
  }

  rows(rows: readonly SagaRow[]): void {
    this.table([
      ['saga', 'state', 'step', 'waiting since', 'started', 'account'],
      ...rows.map(({ workflowId, state, step, waitingSince, startTime, account }) => [
        workflowId,
        state,
        step ?? '',
        waitingSince === undefined ? '' : withAge(waitingSince),
        withAge(startTime),
        account ?? '',
      ]),
    ]);
  }

  table(table: readonly (readonly string[])[]): void {
    const widths = table[0]?.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0))) ?? [];
    for (const cells of table) {
      this.line(
        cells
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      );
    }
  }
}

export function describeWait(
  { id, kind, step, steps, question, choices, since }: Waiting,
  workflowId: string,
): string[] {
  return [
    `${workflowId} waits for a decision (${kind}) at ${step} since ${withAge(since)}, question ${id}:`,
    `  ${question}`,
    ...choices.map(
      (name) =>
        `  order-saga decide ${workflowId} ${name} '${exampleFor(name, id, steps)}'   # ${decisionHints[name].does}`,
    ),
    `  order-saga cancel ${workflowId} --by you --note 'why'`,
  ];
}

export function describeEnding(ending: Ending, workflowId: string): string[] {
  switch (ending.state) {
    case 'done':
      return [
        ending.result.outcome === 'partly'
          ? `${workflowId} is done in part: something was skipped or is left over`
          : `${workflowId} is done`,
        ...describeFields(ending.result),
      ];
    case 'failed': {
      const { type, message, report } = ending.failure;
      return [`${workflowId} failed: ${type}: ${message}`, ...describeReport(report)];
    }
    case 'cancelled':
      return [`${workflowId} was ${ending.report.why}`, ...describeReport(ending.report, ending.report.known)];
    case 'lost':
      return [ending.lost.message];
    case 'waits':
      // Printed with the progress, together with what can be decided.
      return [];
  }
}

const outcomeSentences: Record<SagaOutcome, string> = {
  done: 'all that was asked for is there',
  partly: 'it was placed and stays; not all that was asked for is there',
  reversed: 'nothing of it is there',
  'reversed-with-leftovers': 'something of it is there, or may be',
  untouched: 'this run did nothing. order-saga record shows what other runs of the reference did',
};

/** Describes a saga that failed or was cancelled. */
function describeReport({ outcome, leftovers }: Report, known: unknown = {}): string[] {
  return [`  ${outcome}: ${outcomeSentences[outcome]}`, ...describeFields(known), ...describeLeftovers(leftovers)];
}

/** A result's fields, each on a line; empty ones are left out. */
function describeFields(result: unknown): string[] {
  return Object.entries(redact(result ?? {}) as object).flatMap(([name, value]) => {
    if (name === 'reference' || name === 'outcome' || value === null || value === undefined) return [];
    if (Array.isArray(value) && value.length === 0) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`  ${name}: ${text.length > valueMax ? `${text.slice(0, valueMax)}… (--json shows all)` : text}`];
  });
}

export function describeLeftovers(leftovers: readonly Leftover[]): string[] {
  return leftovers.map((leftover) => `  left over: ${describeLeftover(leftover)}: ${leftover.why}`);
}

function describeLeftover(leftover: Leftover): string {
  switch (leftover.kind) {
    case 'cart-item':
      return `cart item ${leftover.cartItemId}`;
    case 'cart-item-unknown':
      return `perhaps a cart item of unknown id${leftover.item === undefined ? '' : ` (item ${leftover.item} of the request)`}`;
    case 'firewalls':
      return `firewalls ${leftover.firewalls.join(', ')} of server ${leftover.vmObjectId}`;
    case 'server-unprotected': {
      const { vmObjectId, firewalls } = leftover;
      const which = vmObjectId === undefined ? 'the servers, whose ids are not known,' : `server ${vmObjectId}`;
      return `${which} without firewalls ${firewalls.join(', ')}`;
    }
    case 'server-unverified':
      return `server ${leftover.vmObjectId}, perhaps without firewalls ${leftover.firewalls.join(', ')}`;
    case 'servers-miscounted':
      return `${leftover.ordered} servers, of which ${leftover.named.join(', ')} are named`;
    case 'placement-unknown':
      return `nobody knows whether ${leftover.step} took effect`;
  }
}
